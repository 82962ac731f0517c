"""What the results must be, by the definition: one world, or the sum over all worlds in exact fractions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from inkling.language import parse
from inkling.logical import bind
from inkling.logical import plan as p
from inkling.logical.evaluate import Surroundings
from inkling.logical.semantics import Result, semantics
from inkling.logical.streams import RawRow, plain, world_of
from inkling.model.event import Value
from inkling.model.time import Clock, Span
from inkling.model.worlds import certain, joint_worlds
from inkling.source import SourceText

Tables = Mapping[str, Iterable[RawRow]]


def bound(text: str) -> p.ProgramPlan:
    """The plan of a program in `.ink`."""
    return bind(parse(text), SourceText("program.ink", text)).plan


def oracle(
    plan: p.ProgramPlan,
    rows: Mapping[str, Sequence[RawRow]],
    tables: Tables | None = None,
    clock: Clock = Clock.TICKS,
) -> dict[str, tuple[Result, ...]]:
    """The results of every event of a program on certain streams."""
    around = surroundings(plan, tables or {}, clock)
    return semantics(plan, world_of(plan, rows, around), around)


@dataclass(frozen=True, slots=True)
class ProbableResult:
    """A result of an uncertain program: in which worlds it holds, and how early and late it can be there."""

    values: tuple[Value, ...]  # of the head
    start: int
    end: int
    lineage: tuple[Value, ...] | None  # when it is part of what the result is
    probability: Fraction


def probable_oracle(
    plan: p.ProgramPlan,
    rows: Mapping[str, Sequence[RawRow]],
    tables: Tables | None = None,
    clock: Clock = Clock.TICKS,
) -> dict[str, tuple[ProbableResult, ...]]:
    """The results of every event on uncertain streams, each with the sum over the worlds where it holds."""
    around = surroundings(plan, tables or {}, clock)
    numbered = {name: [{**row, ROW_NUMBER: n} for n, row in enumerate(some, 1)] for name, some in rows.items()}
    in_one_world = replace(plan, streams=tuple(_certain_stream(stream) for stream in plan.streams))
    found: dict[str, dict[tuple[object, ...], ProbableResult]] = {event.name: {} for event in plan.events}
    for prob, world in joint_worlds(numbered, (stream.schema for stream in plan.streams)):
        results = semantics(in_one_world, world_of(in_one_world, world, around), around)
        for event in plan.events:
            for identity, result in _probable(event, results[event.name], prob).items():
                so_far = found[event.name].get(identity)
                found[event.name][identity] = result if so_far is None else _united(so_far, result)
    return {name: tuple(by_identity.values()) for name, by_identity in found.items()}


ROW_NUMBER = "row number"


def _certain_stream(stream: p.StreamPlan) -> p.StreamPlan:
    """The stream in one world; rows keep the numbers that they have in all worlds."""
    schema = certain(stream.schema)
    return replace(stream, schema=replace(schema, id=schema.id or ROW_NUMBER))


def _probable(
    event: p.EventPlan, results: Iterable[Result], prob: Fraction
) -> dict[tuple[object, ...], ProbableResult]:
    """What holds in one world, by identity; simultaneous results of one identity hold once."""
    found: dict[tuple[object, ...], ProbableResult] = {}
    for result in results:
        head = result.values[: len(event.head)]
        lineage = result.lineage if event.per is p.Per.MATCH else None
        one = ProbableResult(head, result.start, result.end, lineage, prob)
        identity: tuple[object, ...] = (head, lineage)
        if event.per in (p.Per.INTERVAL, p.Per.END):
            identity = (*identity, result.end)
        if event.per is p.Per.INTERVAL:
            identity = (*identity, result.start)
        found[identity] = one if identity not in found else replace(_united(found[identity], one), probability=prob)
    return found


def _united(one: ProbableResult, other: ProbableResult) -> ProbableResult:
    return ProbableResult(
        one.values,
        min(one.start, other.start),
        max(one.end, other.end),
        one.lineage,
        one.probability + other.probability,
    )


def surroundings(plan: p.ProgramPlan, tables: Tables, clock: Clock) -> Surroundings:
    """Tables with the columns in their declared order, and the length of durations on the clock."""
    tick = next((stream.schema.tick for stream in plan.streams if stream.schema.tick is not None), None)

    def measure(span: Span) -> int:
        return span.units(clock, tick)

    facts = {
        table.name: tuple(
            {column.name: plain(row.get(column.name)) for column in table.columns} for row in tables.get(table.name, ())
        )
        for table in plan.tables
    }
    return Surroundings(facts, measure)
