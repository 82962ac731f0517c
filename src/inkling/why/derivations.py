"""Derivations of a result: the assignments of its events to the slots of its pattern.

A result lists the ids of its events in the order of its pattern, so the pattern is matched again against these events
only, one after the other. Negations and selection policies are not checked: the result exists, so they were satisfied.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.evaluate import Bindings, ExpressionContext, Row, agrees, holds, value_of
from inkling.logical.expr import Expr
from inkling.logical.patterns.allen import ends_of
from inkling.logical.plan import can_be_empty
from inkling.logical.rewrites.everywhere import slots_in_order
from inkling.meaning.occurrences import Member, Occurrence, Partition
from inkling.model.event import Event, Value


@dataclass(frozen=True, slots=True)
class Past:
    """Events and results that a derivation can contain, by source and first id."""

    by_source: Mapping[str, Mapping[Value, Sequence[Event]]]

    def at(self, source: str, ids: tuple[Value, ...]) -> Iterator[Event]:
        """The events of a source whose ids are a prefix of `ids`."""
        known = self.by_source.get(source, {})
        for one in known.get(ids[0], ()) if ids else ():
            if ids[: len(one.ids)] == one.ids:
                yield one


@dataclass(frozen=True, slots=True)
class Retraced:
    """One derivation of a result: its events by slot, and the facts that were looked up."""

    members: tuple[Member, ...]
    bindings: Bindings


def retraced(event: p.EventPlan, result: Event, past: Past, context: ExpressionContext) -> Iterator[Retraced]:
    """All derivations of a result from the events of its lineage."""
    if isinstance(event.pattern, p.Quantified) and not result.ids:
        yield Retraced((), Bindings())  # ALL over no segments
        return
    matcher = _LineageMatcher(event, result.ids, past, context)
    for key in _keys(event, result.ids, past):
        for found in matcher.occurrences(event.pattern, Bindings(key=key), 0):
            if found is not None and _length(found) == len(result.ids) and matcher.agrees(found, result):
                yield Retraced(found.lineage, found.bindings)


def facts_of(event: p.EventPlan, at: Bindings, context: ExpressionContext) -> Iterator[tuple[str, Mapping[str, Value]]]:
    """The rows of tables that a derivation looked up: those that supply values, then those that conditions ask for."""
    tables = {atom.number: atom.table for leaf in p.leaves(event.pattern) for atom in leaf.atoms}
    yield from ((tables[number], row) for number, row in sorted(at.facts.items()))
    for condition in (*_conditions(event.pattern), *event.having):
        yield from _asked_for(condition, at, context)


def _conditions(part: p.Part) -> Iterator[Expr]:
    """The conditions that a derivation passes: those of absences and repetitions are not about its events alone."""
    match part:
        case p.Leaf(demands=demands):
            yield from demands
        case p.Absent() | p.Repetition():
            return
        case p.Narrowed(pattern=inner, having=having):
            yield from (*_conditions(inner), *having)
        case p.Sequence(parts=parts):
            for one in parts:
                yield from _conditions(one)
        case p.Except(pattern=inner) | p.LeftJoin(left=inner, kind=p.JoinKind.NO_FACT):
            yield from _conditions(inner)
        case _:
            for one in p.sub_patterns(part):
                yield from _conditions(one)


def _asked_for(condition: Expr, at: Bindings, context: ExpressionContext) -> Iterator[tuple[str, Mapping[str, Value]]]:
    match condition:
        case e.AllOf(items=items):
            for item in items:
                yield from _asked_for(item, at, context)
        case e.AnyOf(items=items):
            true = next((item for item in items if value_of(item, at, context) is True), None)
            if true is not None:
                yield from _asked_for(true, at, context)
        case e.InTable(table=table, args=args, condition=inner, number=number):
            wanted = [None if arg is None else value_of(arg, at, context) for arg in args]
            free = [arg is None for arg in args]
            test = e.TRUE if inner is None else inner
            for row in context.tables[table]:
                if agrees(row, wanted, free) and holds(test, at.with_fact(number, row), context):
                    yield table, row
                    return


def _keys(event: p.EventPlan, ids: tuple[Value, ...], past: Past) -> Iterator[Row]:
    """The partition keys that the first event of a result can have."""
    columns = [column.name for column in event.partition]
    if not columns:
        yield {}
        return
    firsts = [one for source in event.sources for one in past.at(source, ids)]
    keys = dict.fromkeys(tuple(one.values.get(name) for name in columns) for one in firsts)
    yield from (dict(zip(columns, key, strict=True)) for key in keys if None not in key)


def _length(found: Occurrence | None) -> int:
    return 0 if found is None else sum(len(member.event.ids) for member in found.lineage)


@dataclass(frozen=True, slots=True)
class _LineageMatcher:
    event: p.EventPlan
    ids: tuple[Value, ...]
    past: Past
    context: ExpressionContext

    def agrees(self, found: Occurrence, result: Event) -> bool:
        """Whether an occurrence has the times and values of the result."""
        if isinstance(self.event.pattern, p.Sliding | p.Quantified):
            return True  # their values depend on events outside the lineage
        if self.event.per in (p.Per.MATCH, p.Per.INTERVAL) and found.start.time != result.start.time:
            return False
        if self.event.per is not p.Per.VALUES and found.end.time != result.end.time:
            return False
        return all(
            value_of(output.expr, found.bindings, self.context) == result.values[output.name]
            for output in self.event.head
        )

    def occurrences(self, pattern: p.Pattern, at: Bindings, place: int) -> Iterator[Occurrence | None]:
        """The occurrences of a pattern in the ids from `place` on; None is the empty occurrence."""
        match pattern:
            case p.Leaf():
                yield from self._leaf(pattern, at, place)
            case p.Sequence(parts=parts):
                yield from self._sequence(parts, at, place, None)
            case p.Repetition():
                yield from self._sequence((pattern,), at, place, None)
            case p.Conjunction(items=items) | p.Parallel(items=items):
                yield from self._sequence(items, at, place, None)
            case p.Related(left=left, right=right):
                yield from self._sequence((left, right), at, place, None)
            case p.LeftJoin(left=left, kind=p.JoinKind.NO_FACT):
                yield from self.occurrences(left, at, place)
            case p.LeftJoin(left=left, right=right, kind=p.JoinKind.FACT):
                for given in self.occurrences(left, at, place):
                    if given is not None:
                        for fact in self.occurrences(right, given.bindings, place + _length(given)):
                            if fact is not None:
                                lineage = (*given.lineage, *fact.lineage)
                                yield replace(given, bindings=fact.bindings, lineage=lineage)
            case p.LeftJoin(left=left, right=right):
                yield from self._sequence((left, right), at, place, None)
                yield from self.occurrences(left, at, place)
            case p.Disjunction(items=items):
                for item in items:
                    yield from self.occurrences(item, at, place)
            case p.Except(pattern=inner):
                yield from self.occurrences(inner, at, place)
            case p.Sliding(leaf=leaf, since=since):
                yield from self._sequence((leaf,) if since is None else (since, leaf), at, place, None)
            case p.Quantified(left=left):
                yield from self._all(left, at, place)
            case p.Narrowed():
                yield from self._narrowed(pattern, at, place)
            case p.TimePoint(since_zero=since_zero):
                time = self.context.unit(since_zero)
                yield Occurrence(at, *ends_of(time, time), (), time)
            case p.OtherRun():
                yield None

    def _leaf(self, leaf: p.Leaf, at: Bindings, place: int) -> Iterator[Occurrence]:
        asked = replace(leaf, conditions=leaf.demands, checks=())
        for source in leaf.sources or self.event.scope:
            for one in self.past.at(source, self.ids[place:]):
                alone = (one,)
                if any(one.values.get(name) != value for name, value in at.key.items()):
                    continue
                yield from Partition(alone, alone, self.context, {}).occurrences(asked, at)

    def _all(self, operand: p.Operand, at: Bindings, place: int) -> Iterator[Occurrence]:
        """All events from `place` on in the slot of `ALL` segments: of one key, in order, without repetition."""
        waiting: list[tuple[int, Occurrence | None]] = [(place, None)]
        while waiting:
            here, found = waiting.pop()
            if here == len(self.ids):
                if found is not None:
                    yield found
                continue
            before = None if found is None else found.lineage[-1].event
            after = [
                one
                for source in operand.leaf.sources
                for one in self.past.at(source, self.ids[here:])
                if all(one.values.get(name) == value for name, value in at.key.items())
                and (before is None or _can_follow(operand, before, one))
            ]
            for one in reversed(after):
                member = Occurrence(at, one.start, one.end, (Member(operand.leaf.slot, one),), 0)
                waiting.append((here + len(one.ids), _hull(found, member)))

    def _narrowed(self, pattern: p.Narrowed, at: Bindings, place: int) -> Iterator[Occurrence | None]:
        for found in self.occurrences(pattern.pattern, at, place):
            named = found
            if found is not None and pattern.slot is not None:
                named = replace(found, bindings=found.bindings.with_span(pattern.slot, found.start, found.end))
            bindings = at if named is None else named.bindings
            if Partition((), (), self.context, {}).passes_all(pattern.having, bindings):
                yield named

    def _sequence(
        self, parts: tuple[p.Part, ...], at: Bindings, place: int, so_far: Occurrence | None
    ) -> Iterator[Occurrence | None]:
        """Matches parts one after the other; `at` has the bindings of the parts before."""
        if not parts:
            yield None if so_far is None else replace(so_far, bindings=at)
            return
        part, rest = parts[0], parts[1:]
        match part:
            case p.Absent() | p.StreamStart():
                yield from self._sequence(rest, at, place, so_far)
            case p.Deadline(after=after):
                assert so_far is not None, "a deadline follows something"
                due = so_far.end.time + self.context.unit(after)
                reached = replace(so_far, end=ends_of(due, due)[1])
                yield from self._sequence(rest, at, place, reached)
            case p.Repetition(pattern=pattern, low=low, high=high):
                needed = 0 if can_be_empty(pattern) else low
                for count, bound, longer in self._repeated(pattern, high, at, place, so_far):
                    if count >= needed:
                        yield from self._sequence(rest, bound, place + _length(longer) - _length(so_far), longer)
            case _:
                for found in self.occurrences(part, at, place):
                    longer = _hull(so_far, found)
                    bound = at if found is None else found.bindings
                    yield from self._sequence(rest, bound, place + _length(found), longer)
                if can_be_empty(part):
                    yield from self._sequence(rest, at, place, so_far)

    def _repeated(
        self, pattern: p.Pattern, high: int | None, at: Bindings, place: int, so_far: Occurrence | None
    ) -> Iterator[tuple[int, Bindings, Occurrence | None]]:
        """The possible numbers of repetitions, the largest first."""
        slots = list(slots_in_order(pattern))
        atoms = [atom.number for leaf in p.leaves(pattern) for atom in leaf.atoms]
        outer = at.rounds

        def unfold(
            count: int, at: Bindings, place: int, so_far: Occurrence | None
        ) -> Iterator[tuple[int, Bindings, Occurrence | None]]:
            if count != high:
                for found in self.occurrences(pattern, at.in_new_round(slots, atoms), place):
                    if found is not None and found.lineage:
                        yield from unfold(count + 1, found.bindings, place + _length(found), _hull(so_far, found))
            yield count, replace(at, rounds=outer), so_far

        yield from unfold(0, at, place, so_far)


def _can_follow(operand: p.Operand, one: Event, other: Event) -> bool:
    """Whether two segments, or events that open and close them, can be in this order in a list of one key."""
    same_key = all(one.values.get(column.name) == other.values.get(column.name) for column in operand.key)
    in_order = (one.end.time, one.start.time) <= (other.end.time, other.start.time)
    return same_key and in_order and one != other


def _hull(left: Occurrence | None, right: Occurrence | None) -> Occurrence | None:
    if left is None or right is None:
        return left or right
    return Occurrence(
        right.bindings, min(left.start, right.start), max(left.end, right.end), (*left.lineage, *right.lineage), 0
    )
