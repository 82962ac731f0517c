"""Which relations between segments need no worlds: lost ends are told apart by their places among all others alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from inkling.analysis.verdict import Verdict
from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.model.uncertainty import LostEvents


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a relation: a stream, its KEY, and which of its segments are asked about."""

    operand: p.Operand
    stream: str

    @property
    def slot(self) -> int:
        return self.operand.leaf.slot


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation between segments whose probability is found pair by pair of keys."""

    left: Side
    right: Side
    relations: tuple[str, ...]
    same: str | None

    @property
    def sides(self) -> tuple[Side, Side]:
        return self.left, self.right

    @property
    def is_within_one_stream(self) -> bool:
        return self.left.stream == self.right.stream


def relation_of(event: p.EventPlan, program: p.ProgramPlan) -> Verdict[Relation | None]:
    """The relation that an event asks for; None, and why, where it has to be looked for in worlds."""
    pattern = event.pattern
    if not isinstance(pattern, p.Quantified):
        return Verdict(None, "it is no relation between segments")
    why = next(_obstacles(event, pattern, program), None)
    if why is not None:
        return Verdict(None, why)
    left, right = (Side(one, one.leaf.sources[0]) for one in (pattern.left, pattern.right))
    same = None if pattern.same is None else pattern.same.name
    found = Relation(left, right, pattern.relations, same)
    return Verdict(found, "lost ends lie evenly between recorded ones, and only the order of all ends counts")


def relations_of(program: p.ProgramPlan) -> dict[str, Relation]:
    """By event, those that are answered without worlds."""
    found = {event.name: relation_of(event, program).conclusion for event in program.events}
    return {name: one for name, one in found.items() if one is not None}


def _obstacles(event: p.EventPlan, pattern: p.Quantified, program: p.ProgramPlan) -> Iterator[str]:
    if event.demand is p.Demand.SAMPLED:
        yield "SAMPLED is asked for"
    streams = []
    for operand in (pattern.left, pattern.right):
        stream = program.stream(operand.leaf.sources[0])
        if stream is None:
            yield f"{operand.leaf.sources[0]} is an event itself, whose segments depend on the world"
            return
        streams.append(stream)
        yield from _of_side(event, operand, None if pattern.same is None else pattern.same.name, stream)
    doubts = [stream.schema.doubt for stream in streams]
    if not any(isinstance(doubt, LostEvents) for doubt in doubts):
        yield "no stream that it reads has lost events"
    axes = {doubt.intensity for doubt in doubts if isinstance(doubt, LostEvents)}
    if len(axes) > 1:
        yield "its streams have different intensities"
    yield from _undetermined(event, pattern)


def _of_side(event: p.EventPlan, operand: p.Operand, same: str | None, stream: p.StreamPlan) -> Iterator[str]:
    schema, doubt = stream.schema, stream.schema.doubt
    if doubt is not None and not isinstance(doubt, LostEvents):
        yield f"{schema.name} leaves open more than whether its events were recorded"
    if isinstance(doubt, LostEvents):
        if operand.pairing is None:
            yield f"events of {schema.name} do not open and close segments"
        if doubt.rate is not None and doubt.shape > 1:
            yield f"{schema.name} has a RATE and Erlang gaps"
    outside = [column.name for column in event.partition if column.name not in schema.key]
    if outside:
        yield f"one KEY of {schema.name} may have several values of `{outside[0]}`, by which the event is partitioned"
    derived = {column.name for column in stream.derived}
    if same in derived:
        yield f"`{same}` of {schema.name} is derived"
    if operand.leaf.atoms:
        yield "segments are looked up in a table"
    for part in (part for condition in operand.leaf.conditions for part in e.walk(condition)):
        if isinstance(part, e.TimeOf):
            yield "a condition looks at the time of a segment, which depends on the world"
        if isinstance(part, e.ColumnOf) and part.column in (schema.start, schema.end):
            yield f"a condition looks at `{part.column}`, which depends on the world"
        if isinstance(part, e.ColumnOf) and part.column in derived:
            yield f"a condition looks at `{part.column}`, which is derived"
        if isinstance(part, e.InTable):
            yield "segments are looked up in a table"


def _undetermined(event: p.EventPlan, pattern: p.Quantified) -> Iterator[str]:
    """Results that several pairs of keys share would not be independent."""
    told = {(one.expr.slot, one.expr.column) for one in event.head if isinstance(one.expr, e.ColumnOf)}
    told |= {
        (operand.leaf.slot, column.name) for operand in (pattern.left, pattern.right) for column in event.partition
    }
    equal: list[tuple[tuple[int, str], tuple[int, str]]] = []
    for condition in (part for one in event.having for part in e.conjuncts(one)):
        match condition:
            case e.Compare(operator="=", left=e.ColumnOf(slot=slot, column=column), right=e.Literal()):
                told.add((slot, column))
            case e.Compare(operator="=", left=e.Literal(), right=e.ColumnOf(slot=slot, column=column)):
                told.add((slot, column))
            case e.Compare(operator="=", left=e.ColumnOf() as one, right=e.ColumnOf() as other):
                equal.append(((one.slot, one.column), (other.slot, other.column)))
            case _:
                pass
    for one_place, other_place in [*equal, *equal[::-1]]:
        if one_place in told or other_place in told:
            told |= {one_place, other_place}
    for operand in (pattern.left, pattern.right):
        for part in operand.key:
            if (operand.leaf.slot, part.name) not in told:
                yield f"the head does not show `{part.name}` of both sides, and pairs of keys share their worlds"
