"""Events over events as one pattern: each leaf over a derived event is replaced by the pattern of that event.

EVENT pair(a.v AS v) AS PATTERN SEQ(A a, B b) WITHIN 3 TICKS;
EVENT long AS PATTERN SEQ(pair p[v > 2], C c);
EVENT long AS PATTERN SEQ((SEQ(A a, B b) WITHIN 3 TICKS HAVING a.v > 2) p, C c)    -- the same matches

Both have the same matches, with the same events, as long as every match of the inner event is one result.
"""

from __future__ import annotations

from dataclasses import replace

from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.rewrites.everywhere import Renumbering, everywhere

MOST_DEPTH = 8
"""The most events on a path of events over events."""


class NotInlinedError(Exception):
    """Why an event over derived events has no single pattern over streams."""


def inlined(event: p.EventPlan, program: p.ProgramPlan, depth: int = 0) -> p.EventPlan:
    """The event over streams alone; the same object if it reads no derived event."""
    derived = [name for name in event.sources if program.stream(name) is None]
    if not derived:
        return event
    if depth == MOST_DEPTH:
        raise NotInlinedError(f"{derived[0]} is an event over too many other events")
    for leaf in list(p.leaves(event.pattern)):
        if not leaf.sources:
            raise NotInlinedError("a part may be any event of the scope")
        if not set(leaf.sources) & set(derived):
            continue
        if len(leaf.sources) > 1:
            raise NotInlinedError(f"a part may be a derived event, {leaf.sources[0]}, or another one")
        inner = program.event(leaf.sources[0])
        assert inner is not None, "a source is a stream or an event"
        _require_one_result_per_match(inner, event)
        event = _with_pattern(event, leaf, inlined(inner, program, depth + 1))
    scope = {source for leaf in p.leaves(event.pattern) for source in leaf.sources}
    return replace(event, scope=tuple(sorted(scope)))


def _require_one_result_per_match(inner: p.EventPlan, event: p.EventPlan) -> None:
    if inner.per is not p.Per.MATCH:
        raise NotInlinedError(f"{inner.name} has one result for several matches")
    if inner.confidence is not None or inner.top is not None or inner.demand is p.Demand.SAMPLED:
        raise NotInlinedError(f"{inner.name} has CONFIDENCE, TOP or SAMPLED")
    if inner.restart or inner.consumption is not None or inner.keep is not None or inner.timeouts_of is not None:
        raise NotInlinedError(f"matches of {inner.name} depend on each other or on when they are detected")
    if inner.forecast is not None or inner.on_change or inner.retracted_as is not None:
        raise NotInlinedError(f"{inner.name} is a forecast, or has ON CHANGE or ON RETRACT")
    if [one.name for one in inner.partition] != [one.name for one in event.partition]:
        raise NotInlinedError(f"{inner.name} and {event.name} are not PARTITION BY the same columns")
    keys = {one.name for one in inner.partition}
    for output in (*inner.head, *inner.returns):
        if output.name in keys and not is_own_key(output):
            raise NotInlinedError(f"`{output.name}` of {inner.name} can be the key of another partition")
    if any(isinstance(part, p.Disjunction) for part in _parts(inner.pattern)):
        raise NotInlinedError(f"alternatives of {inner.name} may be the same result")


def _parts(pattern: p.Part) -> list[p.Part]:
    return [pattern, *(part for inner in p.sub_patterns(pattern) for part in _parts(inner))]


def is_own_key(output: p.Output) -> bool:
    """Whether a result column equals the partition key of the result."""
    match output.expr:
        case e.KeyColumn(column=column) | e.ColumnOf(column=column) | e.ListColumn(column=column):
            return column == output.name
        case _:
            return False


def _with_pattern(event: p.EventPlan, leaf: p.Leaf, inner: p.EventPlan) -> p.EventPlan:
    """The event with the pattern of an inner event in place of one leaf, whose slot names the pattern."""
    offset = len(event.slots)
    moved = Renumbering({slot.number: slot.number + offset for slot in inner.slots}, {})
    if leaf.atoms or leaf.checks or any(one.atoms for one in p.leaves(inner.pattern)):
        raise NotInlinedError(f"a table is looked up with {inner.name}")
    values = {output.name: moved.expr(output.expr) for output in (*inner.head, *inner.returns)}

    def read(expr: e.Expr) -> e.Expr:
        match expr:
            case e.ColumnOf(slot=leaf.slot, column=column):
                if column not in values or values[column].type != expr.type:
                    raise NotInlinedError(f"`{column}` of {inner.name} changes its type")
                return values[column]
            case e.ListColumn(slot=leaf.slot) | e.Aggregate(slot=leaf.slot) | e.IdOf(slot=leaf.slot):
                raise NotInlinedError(f"{inner.name} is repeated, or its id is read")
            case _:
                return e.rebuilt(expr, read)

    whole = p.Narrowed(moved.pattern(inner.pattern), inner.within, moved.all_of(inner.having))
    named = p.Narrowed(whole, None, tuple(map(read, leaf.conditions)), leaf.slot)

    def changed(pattern: p.Pattern) -> p.Pattern:
        match pattern:
            case p.Leaf(slot=leaf.slot):
                return named
            case p.Leaf(conditions=conditions) if conditions:
                return replace(pattern, conditions=tuple(map(read, conditions)))
            case p.Narrowed(having=having) if having:
                return replace(pattern, having=tuple(map(read, having)))
            case _:
                return pattern

    slots = (
        *(replace(one, sources=(), span_only=True) if one.number == leaf.slot else one for one in event.slots),
        *(replace(one, number=one.number + offset, name=None) for one in inner.slots),
    )
    return replace(
        event,
        pattern=everywhere(event.pattern, changed),
        head=tuple(replace(output, expr=read(output.expr)) for output in event.head),
        returns=tuple(replace(output, expr=read(output.expr)) for output in event.returns),
        having=tuple(map(read, event.having)),
        slots=slots,
    )
