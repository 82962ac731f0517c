"""The definition of CONSUME RECENT and CONSUME CHRONOLOGICAL: which pairs are made if each occurrence is used once.

Anicic: Event Processing and Stream Reasoning with ETALIS, 2011, section 7.4. Occurrences of both sides of a pair arrive
in order of their ends; of simultaneous ones, the right side first. An occurrence without a partner is stored, by key. A
stored occurrence is chosen only if the pair passes all tests, and is then used up. Occurrences that are too old for
every window are dropped.
"""

from dataclasses import dataclass, replace

from inkling.logical import plan as p
from inkling.logical.evaluate import Bindings, holds, value_of
from inkling.logical.expr import Expr, slots_of
from inkling.logical.patterns import binary as b
from inkling.logical.patterns.allen import overlaps_strictly, relation_holds
from inkling.meaning.occurrences import Occurrence, Partition
from inkling.meaning.streams import Rank, positions
from inkling.meaning.streams import slots_of as filled_slots
from inkling.model.event import Value
from inkling.model.time import Duration
from inkling.model.types import Type

RIGHT, LEFT = 0, 1
"""The sides, in the order in which simultaneous arrivals are processed."""

Key = tuple[Value, ...]


def consumed(event: p.EventPlan, stage: Partition, at: Bindings) -> list[Occurrence]:
    """The matches of an event with a consumption policy; they have passed WITHIN, HAVING and KEEP FOR."""
    assert event.consumption is not None
    return _Consuming(event.consumption, event.keep, stage, at).found(b.pairs_of(event))


@dataclass(frozen=True, slots=True)
class _Consuming:
    policy: p.Consumption
    keep: Duration | None
    stage: Partition
    at: Bindings

    def found(self, node: b.PairTree) -> list[Occurrence]:
        match node:
            case b.LeafNode(leaf=leaf, frames=frames):
                framed = (self._framed(one, frames) for one in self.stage.occurrences(leaf, self.at))
                return [one for one in framed if one is not None and self.stage.known_in_time(one, self.keep)]
            case b.OrNode(items=items):
                return [one for item in items for one in self.found(item)]
            case b.Pair():
                return self._paired(node)

    def _paired(self, pair: b.Pair) -> list[Occurrence]:
        arrivals = [(LEFT, one) for one in self.found(pair.left)]
        arrivals += [(RIGHT, one) for one in self.found(pair.right)]
        stored: dict[Key, tuple[list[Occurrence], list[Occurrence]]] = {}
        made = []
        for side, one in sorted(arrivals, key=_arrival):
            key = self._key(pair, side, one)
            if None in key:
                continue
            stores = stored.setdefault(key, ([], []))
            matched = None
            if side == RIGHT or not pair.is_sequence:
                matched = self._take_partner(pair, side, one, stores[1 - side])
            if matched is not None:
                made.append(matched)
            elif side == LEFT or not pair.is_sequence:
                self._store(pair, side, one, stores[side])
        return made

    def _key(self, pair: b.Pair, side: int, one: Occurrence) -> Key:
        place = 0 if side == LEFT else 1
        values = (value_of(sides[place], one.bindings, self.stage.context) for sides in pair.keys)
        return tuple(
            float(value) if isinstance(value, int) and Type.DOUBLE in (left.type, right.type) else value
            for value, (left, right) in zip(values, pair.keys, strict=True)
        )

    def _take_partner(self, pair: b.Pair, side: int, one: Occurrence, stored: list[Occurrence]) -> Occurrence | None:
        """The match with the first stored partner that passes, which is then used up."""
        places = range(len(stored))
        for place in reversed(places) if self.policy.selection is p.Selection.RECENT else places:
            left, right = (one, stored[place]) if side == LEFT else (stored[place], one)
            match = self._match(pair, left, right)
            if match is not None:
                del stored[place]
                return match
        return None

    def _store(self, pair: b.Pair, side: int, one: Occurrence, stored: list[Occurrence]) -> None:
        stored[:] = [other for other in stored if self._is_open(pair, other, one)]
        if not self._is_open(pair, one, one):
            return
        rival = self._rival(pair, side, one, stored)
        if rival is not None:
            if self._merit(one) > self._merit(stored[rival]):
                stored[rival] = one
        elif self.policy.keeping:
            stored.append(one)
        elif not stored or self.policy.selection is p.Selection.RECENT:
            stored[:] = [one]

    def _rival(self, pair: b.Pair, side: int, one: Occurrence, stored: list[Occurrence]) -> int | None:
        """The place of the stored occurrence that competes with a new one for being stored."""
        prefer = self.policy.prefer
        bound = (pair.left if side == LEFT else pair.right).bound
        if prefer is None or (not isinstance(prefer, p.Preference) and not slots_of(prefer) <= bound):
            return None
        recent = self.policy.selection is p.Selection.RECENT
        for place, other in enumerate(stored):
            if (other.end == one.end) if recent else (other.start == one.start):
                return place
        return None

    def _merit(self, one: Occurrence) -> tuple[int, Value]:
        """The value that PREFER compares; null is least."""
        length = one.end.time - one.start.time
        match self.policy.prefer:
            case p.Preference.LONGER:
                return (1, length)
            case p.Preference.SHORTER:
                return (1, -length)
            case None:
                raise AssertionError("nothing competes")
            case preferred:
                value = value_of(preferred, one.bindings, self.stage.context)
                return (0, 0) if value is None else (1, value)

    def _is_open(self, pair: b.Pair, stored: Occurrence, now: Occurrence) -> bool:
        """Whether something stored could still be part of a match that ends now."""
        until_now = replace(stored, end=now.end, known_at=now.end.time)
        return self._in_time(pair, until_now)

    def _in_time(self, pair: b.Pair, one: Occurrence) -> bool:
        fits = all(self.stage.lasts_at_most(one, window) for window in pair.windows)
        return fits and self.stage.known_in_time(one, self.keep)

    def _match(self, pair: b.Pair, left: Occurrence, right: Occurrence) -> Occurrence | None:
        """The two together, if they pass every test."""
        if not any(_stand(relation, left, right) for relation in pair.relations):
            return None
        both = Occurrence(
            _united(left.bindings, right.bindings),
            min(left.start, right.start),
            max(left.end, right.end),
            (*left.lineage, *right.lineage),
            max(left.known_at, right.known_at),
        )
        if not self._in_time(pair, both) or not all(self._passes(test, both) for test in pair.tests):
            return None
        for absent in pair.absences:
            between = self.stage.occurrences(absent, both.bindings)
            if any(left.end < one.start and one.end < right.start for one in between):
                return None
        return self._framed(both, pair.frames)

    def _passes(self, test: b.PairTest, both: Occurrence) -> bool:
        is_there = not test.optional or test.owner in both.bindings.events
        return not is_there or self._holds(test.condition, both)

    def _holds(self, condition: Expr, one: Occurrence) -> bool:
        return holds(condition, one.bindings, self.stage.context)

    def _framed(self, one: Occurrence, frames: tuple[b.Frame, ...]) -> Occurrence | None:
        for frame in frames:
            if frame.slot is not None:
                one = replace(one, bindings=one.bindings.with_span(frame.slot, one.start, one.end))
            if not self.stage.lasts_at_most(one, frame.within):
                return None
            if not all(self._holds(condition, one) for condition in frame.having):
                return None
        return one


def _stand(relation: str, left: Occurrence, right: Occurrence) -> bool:
    ends = (left.start, left.end, right.start, right.end)
    match relation:
        case b.SEQUENCE:
            return left.end < right.start
        case b.TOGETHER:
            return True
        case b.OVERLAPPING:
            return overlaps_strictly(*ends)
        case _:
            return relation_holds(relation, *ends)


def _arrival(arrived: tuple[int, Occurrence]) -> Rank:
    side, one = arrived
    return (one.end, side, one.start, positions(one), filled_slots(one))


def _united(left: Bindings, right: Bindings) -> Bindings:
    return replace(
        left,
        events={**left.events, **right.events},
        spans={**left.spans, **right.spans},
        facts={**left.facts, **right.facts},
    )
