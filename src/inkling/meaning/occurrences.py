"""The definition of patterns: where a pattern occurs among the events of one partition, by trying all candidates.

The operators extend those of ETALIS (Anicic 2011, section 6.3, the declarative semantics). Nothing here is optimized.

    SEQ(A a, B b) over A at 1, A at 2, B at 3 under ANY: (1, 3) and (2, 3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from inkling.logical import plan as p
from inkling.logical.evaluate import Bindings, ExpressionContext, Row, agrees, holds, value_of
from inkling.logical.expr import Expr, is_dropped_at_first
from inkling.logical.patterns.allen import BEGINNING, ends_of, overlaps_strictly, relation_holds
from inkling.meaning.quantified import Segment, keys_of, qualifying, quantities
from inkling.model.event import Event
from inkling.model.time import Duration, Instant

Endpoints = Callable[[Instant, Instant, Instant, Instant], bool]


@dataclass(frozen=True, slots=True)
class Member:
    """An event that a match depends on, and the slot it fills."""

    slot: int
    event: Event


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One occurrence of a pattern, given the bindings to its left."""

    bindings: Bindings
    start: Instant
    end: Instant
    lineage: tuple[Member, ...]
    known_at: int  # the time from which no later event can undo it


@dataclass(frozen=True, slots=True)
class _Absence:
    """A pattern that must not occur between `left` and `right`; None is the border of the window."""

    pattern: p.Pattern
    left: Instant | None
    right: Instant | None = None
    back: Duration | None = None  # how far before the end an open left border lies, if not as far as the window


@dataclass(frozen=True, slots=True)
class _PartialMatch:
    """A partial match of a sequence: the hull of the placed parts, and the absences still to be checked.

    `rivals` are occurrences that compete with the next part; the earliest of all is taken.
    """

    bindings: Bindings
    hull: Occurrence | None = None
    last_end: Instant | None = None
    beginning: p.StreamStart | None = None
    absences: tuple[_Absence, ...] = ()
    rivals: tuple[Occurrence, ...] = ()

    def followed_by(self, found: Occurrence) -> _PartialMatch:
        return _PartialMatch(
            found.bindings,
            # a deadline may be due at once, but the sequence starts with its first part
            found if self.hull is None else _hull(self.hull, found, self.hull.start),
            found.end,
            absences=tuple(
                absence if absence.right is not None else replace(absence, right=found.start)
                for absence in self.absences
            ),
        )

    def bound_to(self, bindings: Bindings) -> _PartialMatch:
        return _PartialMatch(bindings, self.hull, self.last_end, self.beginning, self.absences, self.rivals)

    def without(self, pattern: p.Pattern) -> _PartialMatch:
        back = None if self.beginning is None else self.beginning.back
        left = self.last_end if self.beginning is None or back is not None else BEGINNING
        return replace(self, absences=(*self.absences, _Absence(pattern, left, back=back)))


@dataclass(frozen=True, slots=True)
class Partition:
    """The events of one partition in canonical order, with the scope and the context of expressions."""

    events: tuple[Event, ...]
    scope: tuple[Event, ...]
    context: ExpressionContext
    known_at: Mapping[Event, int]  # when derived events were detected, maybe after their end

    def occurrences(self, pattern: p.Pattern, at: Bindings, policy: p.Policy = p.Policy.ANY) -> Iterator[Occurrence]:
        """Every occurrence of `pattern` but the empty one, given the bindings to its left.

        `policy` is that of the enclosing sequence; it governs the successors in a repetition.
        """
        match pattern:
            case p.Leaf():
                yield from self._leaf(pattern, at)
            case p.Sequence():
                yield from self._sequence(pattern, at)
            case p.Repetition():
                yield from self._sequence(p.Sequence(policy, (pattern,)), at)
            case p.Disjunction(items=items):
                for item in items:
                    yield from self.occurrences(item, at, policy)
            case p.Conjunction(items=items):
                yield from self._conjunction(items, at)
            case p.Parallel(items=items):
                yield from self._related(items, at, overlaps_strictly)
            case p.Related(left=left, relations=relations, right=right):
                yield from self._related(
                    (left, right), at, lambda *ends: any(relation_holds(name, *ends) for name in relations)
                )
            case p.Except():
                yield from self._except(pattern, at)
            case p.LeftJoin():
                yield from self._left_join(pattern, at)
            case p.TimePoint(since_zero=since_zero):
                time = self.context.unit(since_zero)
                yield Occurrence(at, *ends_of(time, time), (), time)
            case p.Quantified():
                yield from self._quantified(pattern, at)
            case p.Sliding():
                yield from self._sliding(pattern, at)
            case p.Narrowed(pattern=inner, within=within, having=having, slot=slot):
                for found in self.occurrences(inner, at, policy):
                    named = found if slot is None else _named(found, slot)
                    if self.lasts_at_most(named, within) and self.passes_all(having, named.bindings):
                        yield named
            case p.OtherRun(pattern=inner):
                yield from self._other_runs(inner, at)

    def may_be_empty(self, part: p.Part, at: Bindings) -> bool:
        return p.can_be_empty(part, lambda body: self.passes_all(body.having, at))

    def passes_all(self, conditions: Iterable[Expr], at: Bindings) -> bool:
        return all(holds(condition, at, self.context) for condition in conditions)

    def lasts_at_most(self, found: Occurrence, within: p.Window | None) -> bool:
        match within:
            case None:
                return True
            case p.EventCount(count=count):
                inside = [one for one in self.scope if found.start <= one.start and one.end <= found.end]
                return len(inside) <= count
            case _:
                return found.end.time - found.start.time <= self.length(within)

    def known_in_time(self, found: Occurrence, keep: Duration | None) -> bool:
        return keep is None or found.known_at - found.start.time <= self.context.unit(keep)

    def length(self, within: p.Window | None) -> int:
        assert within is not None, "an absence at the border of a sequence needs a limit"
        assert not isinstance(within, p.EventCount), "events cannot measure an absence"
        return within.count - 1 if isinstance(within, p.Points) else self.context.unit(within)

    def _leaf(self, leaf: p.Leaf, at: Bindings) -> Iterator[Occurrence]:
        for event in self.events if leaf.sources else self.scope:
            if leaf.sources and event.source not in leaf.sources:
                continue
            for bound in self._with_facts(leaf, at.with_event(leaf.slot, event)):
                if all(self._is_candidate(condition, leaf.slot, bound) for condition in leaf.conditions):
                    known_at = max(event.end.time, self.known_at.get(event, event.end.time))
                    yield Occurrence(bound, event.start, event.end, (Member(leaf.slot, event),), known_at)

    def _is_candidate(self, condition: Expr, slot: int, at: Bindings) -> bool:
        """Whether an event passes a condition; the first of a repetition has no previous one to compare with."""
        if holds(condition, at, self.context):
            return True
        is_first = len(at.events[slot]) == 1
        return is_first and is_dropped_at_first(condition)

    def _with_facts(self, leaf: p.Leaf, at: Bindings) -> Iterator[Bindings]:
        """The bindings with each choice of table rows that agree with the leaf's atoms."""
        found = [at]
        for atom in leaf.atoms:
            found = [
                bound.with_fact(atom.number, row)
                for bound in found
                for row in _distinct(self.context.tables[atom.table])
                if self._agrees(row, atom, bound)
            ]
        yield from found

    def _agrees(self, row: Row, atom: p.TableAtom, at: Bindings) -> bool:
        wanted = [None if arg is None else value_of(arg, at, self.context) for arg in atom.args]
        return agrees(row, wanted, [arg is None for arg in atom.args])

    def _conjunction(self, items: tuple[p.Pattern, ...], at: Bindings) -> Iterator[Occurrence]:
        """All items; one that may be empty may be missing, but not all of them."""
        found: list[tuple[Bindings, Occurrence | None]] = [(at, None)]
        for item in items:
            found = [
                longer
                for bound, hull in found
                for longer in (
                    *([(bound, hull)] if self.may_be_empty(item, bound) else []),
                    *(
                        (right.bindings, right if hull is None else _hull(hull, right))
                        for right in self.occurrences(item, bound)
                    ),
                )
            ]
        yield from (hull for _, hull in found if hull is not None)

    def _related(self, items: tuple[p.Pattern, ...], at: Bindings, related: Endpoints) -> Iterator[Occurrence]:
        """All items, each related to the hull of those before it."""
        first, *others = items
        found = list(self.occurrences(first, at))
        for item in others:
            found = [
                _hull(left, right)
                for left in found
                for right in self.occurrences(item, left.bindings)
                if related(left.start, left.end, right.start, right.end)
            ]
        yield from found

    def _except(self, pattern: p.Except, at: Bindings) -> Iterator[Occurrence]:
        """Occurrences without an occurrence of the other pattern on the same interval.

        The other pattern sees their bindings.
        """
        for found in self.occurrences(pattern.pattern, at):
            ends = found.start, found.end
            others = [(one.start, one.end) for one in self.occurrences(pattern.other, found.bindings)]
            if ends not in others and (
                pattern.in_order or not any(relation_holds("EQUALS", *ends, *o) for o in others)
            ):
                yield found

    def _left_join(self, pattern: p.LeftJoin, at: Bindings) -> Iterator[Occurrence]:
        """Each occurrence of the left pattern with all right ones that count, or alone where none does.

        A fact that counts is part of the lineage and leaves the interval as it is.
        """
        for left in self.occurrences(pattern.left, at):
            with_right = [
                _hull(left, right)
                for right in self.occurrences(pattern.right, left.bindings)
                if right.end.time <= left.end.time and _stand_in(pattern.relations, left, right)
            ]
            counted = [one for one in with_right if all(self.lasts_at_most(one, limit) for limit in pattern.limits)]
            match pattern.kind:
                case p.JoinKind.OUTER:
                    yield from counted or [left]
                case p.JoinKind.FACT:
                    yield from (replace(one, start=left.start, end=left.end) for one in counted)
                case p.JoinKind.NO_FACT:
                    yield from [] if counted else [left]

    def _quantified(self, pattern: p.Quantified, at: Bindings) -> Iterator[Occurrence]:
        """Every pair of keys that stands in the relation, once for each number of segments that is asked about.

        It depends on the left segments that qualify.
        """
        x, y = pattern.left.leaf, pattern.right.leaf

        def tested(operand: p.Operand) -> Callable[[Event], bool]:
            return lambda event: self.passes_all(operand.selections, at.with_event(operand.leaf.slot, event))

        def comparable(one: Segment, other: Segment) -> bool:
            both = at.with_event(x.slot, one.events[0]).with_event(y.slot, other.events[0])
            return self.passes_all(pattern.comparisons, both)

        longest = None if pattern.within is None else self.length(pattern.within)
        rights = keys_of(pattern.right, self.events, tested(pattern.right))
        for left in keys_of(pattern.left, self.events, tested(pattern.left)):
            for right in rights:
                if pattern.is_within_one_stream and left.key == right.key:
                    continue
                chosen = qualifying(pattern, left, right, longest, comparable)
                if chosen is None:
                    continue
                start, end = min(left.start, right.start), max(left.end, right.end)
                known_at = max(end, *(self.known_at.get(event, end) for event in (*left.counted, *right.counted)))
                bound = at.with_event(x.slot, left.events[0]).with_event(y.slot, right.events[0])
                lineage = tuple(Member(x.slot, event) for segment in chosen for event in segment.events)
                for quantity in quantities(pattern, len(chosen)):
                    yield Occurrence(replace(bound, quantity=quantity), *ends_of(start, end), lineage, known_at)

    def _sliding(self, pattern: p.Sliding, at: Bindings) -> Iterator[Occurrence]:
        """One per event: the newest ones up to and with it; it depends on the event that moved the window alone."""
        if pattern.since is None:
            yield from self._windows(pattern, list(self._leaf(pattern.leaf, at)))
            return
        for opening in self._leaf(pattern.since, at):
            later = [one for one in self._leaf(pattern.leaf, opening.bindings) if opening.end < one.start]
            for window in self._windows(pattern, later):
                yield _hull(opening, window)

    def _windows(self, pattern: p.Sliding, inputs: list[Occurrence]) -> Iterator[Occurrence]:
        slot = pattern.leaf.slot
        for place, newest in enumerate(inputs):
            members = inputs[: place + 1]
            if isinstance(pattern.last, p.EventCount):
                members = members[-pattern.last.count :]
            else:
                begin = newest.end.time - self.context.unit(pattern.last)
                members = [one for one in members if one.end.time >= begin]
            events = tuple(one.bindings.events[slot][-1] for one in members)
            yield Occurrence(
                replace(newest.bindings, events={**newest.bindings.events, slot: events}),
                min(one.start for one in members),
                newest.end,
                newest.lineage,
                max(one.known_at for one in members),
            )

    def _other_runs(self, pattern: p.Pattern, at: Bindings) -> Iterator[Occurrence]:
        """The runs of consecutive events of the scope that are no word of the pattern."""
        words = {(found.start, found.end) for found in self.occurrences(pattern, at)}
        for first, opening in enumerate(self.scope):
            for closing in self.scope[first:]:
                if (opening.start, closing.end) not in words:
                    yield Occurrence(at, opening.start, closing.end, (), closing.end.time)

    def _sequence(self, sequence: p.Sequence, at: Bindings) -> Iterator[Occurrence]:
        limit = sequence.within
        for partial in self._place(sequence.policy, sequence.parts, _PartialMatch(at)):
            if partial.hull is None:
                continue  # an empty occurrence is none
            hull = partial.hull
            found = Occurrence(partial.bindings, hull.start, hull.end, hull.lineage, hull.known_at)
            if any(self._violated(absence, found, limit) for absence in partial.absences):
                continue
            if any(absence.right is None for absence in partial.absences):
                settled_at = found.start.time + self.length(limit)
                found = replace(found, known_at=max(found.known_at, settled_at))
            yield found

    def _place(self, policy: p.Policy, parts: tuple[p.Part, ...], so_far: _PartialMatch) -> Iterator[_PartialMatch]:
        """Place the remaining parts from left to right in every allowed way."""
        if not parts:
            yield so_far
            return
        part, rest = parts[0], parts[1:]
        match part:
            case p.StreamStart():
                yield from self._place(policy, rest, replace(so_far, beginning=part))
            case p.Absent(pattern=pattern):
                yield from self._place(policy, rest, so_far.without(pattern))
            case p.Deadline(after=after):
                assert so_far.last_end is not None, "a deadline follows something"
                due = so_far.last_end.time + self.context.unit(after)
                reached = Occurrence(so_far.bindings, *ends_of(due, due), (), due)
                yield from self._place(policy, rest, so_far.followed_by(reached))
            case p.Repetition(pattern=pattern, low=low, high=high, eager=eager):
                needed = 0 if self.may_be_empty(pattern, so_far.bindings) else low
                plainly = self._repeated(policy, pattern, high, so_far)
                for count, longer in self._repeated_eagerly(part, rest, so_far) if eager else plainly:
                    if count >= needed:
                        yield from self._place(policy, rest, longer)
            case _:
                if self.may_be_empty(part, so_far.bindings):
                    yield from self._place(policy, rest, so_far)
                for found in self._successors(policy, part, so_far):
                    yield from self._place(policy, rest, so_far.followed_by(found))

    def _repeated(
        self, policy: p.Policy, pattern: p.Pattern, high: int | None, so_far: _PartialMatch
    ) -> Iterator[tuple[int, _PartialMatch]]:
        """Unfold a repetition: every number of times that it can be placed, with each way to do so."""
        outer = so_far.bindings.rounds

        def unfold(count: int, so_far: _PartialMatch) -> Iterator[tuple[int, _PartialMatch]]:
            yield count, so_far.bound_to(so_far.bindings.in_round(outer))
            if count == high:
                return
            fresh = _in_new_round(pattern, so_far)
            for found in self._successors(policy, pattern, fresh):
                yield from unfold(count + 1, fresh.followed_by(found))

        yield from unfold(0, so_far)

    def _repeated_eagerly(
        self, part: p.Repetition, rest: tuple[p.Part, ...], so_far: _PartialMatch
    ) -> Iterator[tuple[int, _PartialMatch]]:
        """Unfold an eager repetition: after the first round, one more and the part after it are rivals.

        One more is a rival while there may be more rounds, the part after it once there may be no more.
        """
        pattern, low, high = part.pattern, part.low, part.high
        outer = so_far.bindings.rounds
        following = next((one for one in rest if not isinstance(one, p.Absent)), None)

        def unfold(count: int, so_far: _PartialMatch) -> Iterator[tuple[int, _PartialMatch]]:
            over = so_far.bound_to(so_far.bindings.in_round(outer))
            again = _in_new_round(pattern, so_far)
            rounds = self._candidates_after(pattern, again) if count != high else ()
            exits = self._candidates_of_part(following, over) if count >= low else ()
            yield count, replace(over, rivals=rounds)
            if count == high:
                return
            for found in self._successors(p.Policy.NEXT, pattern, replace(again, rivals=exits)):
                yield from unfold(count + 1, again.followed_by(found))

        first = _in_new_round(pattern, so_far)
        for found in self._successors(p.Policy.NEXT, pattern, first):
            yield from unfold(1, first.followed_by(found))

    def _candidates_of_part(self, part: p.Part | None, so_far: _PartialMatch) -> tuple[Occurrence, ...]:
        """The occurrences with which a part could begin after the placed parts."""
        match part:
            case None:
                return ()
            case p.Repetition(pattern=pattern):
                return self._candidates_after(pattern, _in_new_round(pattern, so_far))
            case p.Absent() | p.Deadline() | p.StreamStart():
                raise AssertionError("something that happens follows an eager repetition, or nothing")
            case _:
                return self._candidates_after(part, so_far)

    def _candidates_after(self, pattern: p.Pattern, so_far: _PartialMatch) -> tuple[Occurrence, ...]:
        end = so_far.last_end
        candidates = self.occurrences(pattern, so_far.bindings, p.Policy.NEXT)
        return tuple(one for one in candidates if end is None or end < one.start)

    def _successors(self, policy: p.Policy, pattern: p.Pattern, so_far: _PartialMatch) -> Iterator[Occurrence]:
        """The occurrences of `pattern` that the policy lets follow what is placed so far."""
        end = so_far.last_end
        following = [
            one for one in self.occurrences(pattern, so_far.bindings, policy) if end is None or end < one.start
        ]
        for one in following:
            is_chosen = end is None or self._may_follow(policy, end, one, [*following, *so_far.rivals])
            if is_chosen and self._passes_checks(pattern, one):
                yield one

    def _passes_checks(self, pattern: p.Pattern, chosen: Occurrence) -> bool:
        """Whether a chosen event passes its CHECK.

        An event that fails it is chosen all the same, and ends the match.
        """
        checks = pattern.checks if isinstance(pattern, p.Leaf) else ()
        return all(self._is_candidate(check, chosen.lineage[-1].slot, chosen.bindings) for check in checks)

    def _may_follow(self, policy: p.Policy, end: Instant, one: Occurrence, following: list[Occurrence]) -> bool:
        match policy:
            case p.Policy.ANY:
                return True
            case p.Policy.NEXT:
                return not any(other.end < one.start for other in following)
            case p.Policy.STRICT:
                return not any(end < event.start and event.end < one.start for event in self.scope)

    def _violated(self, absence: _Absence, match: Occurrence, within: p.Window | None) -> bool:
        """Whether the absent pattern occurs in the open gap, with the bindings of the whole sequence."""
        for found in self.occurrences(absence.pattern, match.bindings):
            if absence.left is None:
                after_left = found.start.time >= match.end.time - self.length(absence.back or within)
            else:
                after_left = absence.left < found.start
            if absence.right is None:
                before_right = found.end.time <= match.start.time + self.length(within)
            else:
                before_right = found.end < absence.right
            if after_left and before_right:
                return True
        return False


def _in_new_round(pattern: p.Pattern, so_far: _PartialMatch) -> _PartialMatch:
    """Before one more round of a repetition of `pattern`."""
    slots = [*(leaf.slot for leaf in p.leaves(pattern)), *_named_slots(pattern)]
    atoms = [atom.number for leaf in p.leaves(pattern) for atom in leaf.atoms]
    return so_far.bound_to(so_far.bindings.in_new_round(slots, atoms))


def _named_slots(part: p.Part) -> Iterator[int]:
    """The slots that name nested patterns."""
    if isinstance(part, p.Narrowed) and part.slot is not None:
        yield part.slot
    for inner in p.sub_patterns(part):
        yield from _named_slots(inner)


def _named(found: Occurrence, slot: int) -> Occurrence:
    return replace(found, bindings=found.bindings.with_span(slot, found.start, found.end))


def _hull(left: Occurrence, right: Occurrence, start: Instant | None = None) -> Occurrence:
    """Both together, with what is bound after the right one; from the earlier start, if none is given."""
    return Occurrence(
        right.bindings,
        min(left.start, right.start) if start is None else start,
        max(left.end, right.end),
        (*left.lineage, *right.lineage),
        max(left.known_at, right.known_at),
    )


def _stand_in(relations: tuple[str, ...], left: Occurrence, right: Occurrence) -> bool:
    """Whether one of the relations holds; without any, every two occurrences are related."""
    ends = (left.start, left.end, right.start, right.end)
    return not relations or any(relation_holds(name, *ends) for name in relations)


def _distinct(rows: Iterable[Row]) -> list[Row]:
    return list({tuple(row.values()): row for row in rows}.values())
