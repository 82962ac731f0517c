"""Relations between situations as relations between the segments of the streams that these rest on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from inkling.analysis.situations import Situation, situation_of
from inkling.analysis.verdict import Verdict
from inkling.logical import expr as e
from inkling.logical import plan as p


@dataclass(frozen=True, slots=True)
class StreamRelation:
    """The same relation over streams; the keys of a situation are only those that have a segment."""

    event: p.EventPlan
    left: Situation | None
    right: Situation | None


def over_streams(event: p.EventPlan, program: p.ProgramPlan) -> Verdict[StreamRelation | None]:
    """The relation that an event asks for, with streams in place of situations; None, and why, where it has another."""
    pattern = event.pattern
    if not isinstance(pattern, p.Quantified):
        return Verdict(None, "it is no relation between segments")
    found: list[Situation | None] = []
    for operand in (pattern.left, pattern.right):
        (source,) = operand.leaf.sources
        derived = program.event(source)
        verdict = None if derived is None else situation_of(derived, program)
        if verdict is not None and verdict.conclusion is None:
            return Verdict(None, f"{source} is no situation of a stream: {verdict.reason}")
        found.append(None if verdict is None else verdict.conclusion)
    left, right = found
    if left is None and right is None:
        return Verdict(None, "it compares segments of streams as it is")
    why = next(_obstacles(event, pattern, left, right), None)
    if why is not None:
        return Verdict(None, why)
    rewritten = _rewritten(event, pattern, left, right, program)
    names = " and ".join(dict.fromkeys(one.stream for one in (left, right) if one is not None))
    return Verdict(StreamRelation(rewritten, left, right), f"its situations are the segments of {names}")


def _obstacles(
    event: p.EventPlan, pattern: p.Quantified, left: Situation | None, right: Situation | None
) -> Iterator[str]:
    sides = ((pattern.left, left), (pattern.right, right))
    streams = [operand.leaf.sources[0] if one is None else one.stream for operand, one in sides]
    if streams[0] == streams[1] and not pattern.is_within_one_stream:
        yield f"both sides are segments of {streams[0]}, whose keys are compared with themselves"
    if pattern.same is not None:
        yield "ON SAME looks at what one of two events says"
    holds_of_none = not all(operand.least for operand, _ in sides)
    for operand, one in sides:
        if one is None:
            continue
        if operand.leaf.conditions and holds_of_none:
            yield f"a key of {one.stream} that is left with no segment lasts longer, if its last one was never closed"
        if any(one.key.get(column.name) != column.name for column in event.partition):
            yield f"it is PARTITION BY a column that {one.stream} calls otherwise"
        known = _columns(one)
        for part in (part for condition in operand.leaf.conditions for part in e.walk(condition)):
            if isinstance(part, e.TimeOf) or (isinstance(part, e.ColumnOf) and part.column not in known):
                yield "a condition looks at more than the event that opens a segment"


def _columns(situation: Situation) -> dict[str, str]:
    """What segments of the stream know: the KEY, and what the event says that opens them."""
    return {**situation.opening, **situation.key}


def _rewritten(
    event: p.EventPlan,
    pattern: p.Quantified,
    left: Situation | None,
    right: Situation | None,
    program: p.ProgramPlan,
) -> p.EventPlan:
    names: dict[int, Mapping[str, str]] = {}
    sources = {}
    for operand, one in ((pattern.left, left), (pattern.right, right)):
        if one is not None:
            names[operand.leaf.slot] = _columns(one)
            sources[operand.leaf.sources[0]] = one.stream

    def renamed(expr: e.Expr) -> e.Expr:
        if isinstance(expr, e.ColumnOf) and expr.slot in names:
            return replace(expr, column=names[expr.slot][expr.column])
        return e.rebuilt(expr, renamed)

    def side(operand: p.Operand, one: Situation | None) -> p.Operand:
        if one is None:
            return operand
        conditions = tuple(renamed(condition) for condition in operand.leaf.conditions)
        leaf = replace(operand.leaf, sources=(one.stream,), conditions=conditions)
        stream = program.stream(one.stream)
        assert stream is not None
        kinds = {column.name: column for column in stream.schema.columns}
        key = tuple(kinds[name] for name in dict.fromkeys(one.key[column.name] for column in operand.key))
        return replace(operand, leaf=leaf, key=key, pairing=p.Pairing(number=kinds[one.number]))

    return replace(
        event,
        head=tuple(p.Output(output.name, renamed(output.expr)) for output in event.head),
        having=tuple(renamed(condition) for condition in event.having),
        pattern=replace(pattern, left=side(pattern.left, left), right=side(pattern.right, right)),
        scope=tuple(sorted({sources.get(name, name) for name in event.scope})),
        slots=tuple(
            replace(slot, sources=tuple(sources.get(name, name) for name in slot.sources)) for slot in event.slots
        ),
    )
