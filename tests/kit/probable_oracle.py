"""What the results on uncertain streams must be, by the definition: the sum over all worlds in exact fractions.

A result is the same in several worlds if it has the same PARTITION BY values, the same head, and the same of what PER
counts: the events it depends on, its start and end, its end, or nothing more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor

from tests.kit.context import Tables, declared_tables, expression_context

from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.evaluate import ExpressionContext, Row
from inkling.logical.patterns.allen import ends_of
from inkling.logical.recursion import groups_of
from inkling.meaning.semantics import Derived, Result, derive_in_piece, least_model, pieces
from inkling.meaning.streams import RawRow, places_of, plain, position, world_of
from inkling.meaning.worlds import joint_worlds
from inkling.model.event import Event, Value, World
from inkling.model.schema import StreamSchema, certain
from inkling.model.time import Clock, Instant
from inkling.model.uncertainty import LostEvents, ProbableValue

Worlds = Iterable[tuple[Fraction, Mapping[str, Sequence[RawRow]]]]
BaseEvent = tuple[object, ...]
"""What an event of a stream is in all worlds: stream, KEY, and its id, or its time, or its number."""

NAME = "name of the event"
KEY = "key of the partition "


@dataclass(frozen=True, slots=True)
class ProbableResult:
    """A result of an uncertain program: in which worlds it holds, and how early and late it can be there."""

    key: tuple[Value, ...]  # of its partition
    values: tuple[Value, ...]  # of the head
    start: int
    end: int
    lineage: tuple[Value, ...] | None  # ids, when they are part of what the result is; None for lost events
    events: tuple[BaseEvent, ...] | None  # the same as events
    probability: Fraction
    detected_at: int  # when all worlds that have it know it


def probable_oracle(
    plan: p.ProgramPlan, rows: Mapping[str, Sequence[RawRow]], tables: Tables | None = None, clock: Clock = Clock.TICKS
) -> dict[str, tuple[ProbableResult, ...]]:
    """The results of every event on uncertain streams, each with the sum over the worlds where it holds."""
    named = with_names(plan, rows)
    worlds = joint_worlds(named, (stream.schema for stream in plan.streams), declared_tables(plan, tables or {}))
    return summed_over(worlds, plan, tables, clock)


def certain_worlds(
    plan: p.ProgramPlan, rows: Mapping[str, Sequence[RawRow]], tables: Tables, context: ExpressionContext
) -> Iterator[tuple[Fraction, p.ProgramPlan, World]]:
    """Every world with its probability, and the program as one over certain streams; ids know their events."""
    program = _for_one_world(plan)
    schemas = _schemas(plan)
    for prob, chosen in joint_worlds(with_names(plan, rows), schemas, declared_tables(plan, tables)):
        complete = {schema.name: _complete(schema, chosen[schema.name]) for schema in schemas}
        yield prob, program, world_of(program, complete, context)


def events_of(lineage: Iterable[Value]) -> tuple[BaseEvent, ...]:
    """The base events that ids of `certain_worlds` stand for."""
    return tuple(one.event for one in lineage if isinstance(one, _Text | _Number))


def with_names(plan: p.ProgramPlan, rows: Mapping[str, Sequence[RawRow]]) -> dict[str, list[RawRow]]:
    """Rows that know which event they tell of in all worlds."""
    return {
        stream.schema.name: [
            {**row, NAME: _named(_id_of(stream.schema, row, number), base_event(stream.schema, row, number))}
            for number, row in enumerate(rows.get(stream.schema.name, ()), start=1)
        ]
        for stream in plan.streams
    }


def summed_over(
    worlds: Worlds, plan: p.ProgramPlan, tables: Tables | None = None, clock: Clock = Clock.TICKS
) -> dict[str, tuple[ProbableResult, ...]]:
    """The results of every event in some worlds, each with the sum of their probabilities."""
    context = expression_context(plan, tables or {}, clock)
    in_one_world = _for_one_world(plan)
    memory = _Memory(context)
    found: dict[str, dict[object, ProbableResult]] = {event.name: {} for event in plan.events}
    for prob, rows in worlds:
        complete = {schema.name: _complete(schema, rows[schema.name]) for schema in _schemas(plan)}
        for name, here in _in_world(in_one_world, complete, memory, prob).items():
            for identity, result in here.items():
                so_far = found[name].get(identity)
                if so_far is not None:
                    known = max(so_far.detected_at, result.detected_at)
                    hull = _hull(so_far, result)
                    result = replace(hull, probability=so_far.probability + prob, detected_at=known)
                found[name][identity] = result
    return {name: tuple(by_identity.values()) for name, by_identity in found.items()}


def base_event(schema: StreamSchema, row: RawRow, number: int) -> BaseEvent:
    """The event that a row tells of; alternatives at one time are one event."""
    key = tuple(row.get(name) for name in schema.key)
    match schema.uncertainty:
        case ProbableValue():
            return (schema.name, key, "at", row.get(schema.start))
        case LostEvents(number=column):
            return (schema.name, key, "number", row.get(column))
        case _:
            return (schema.name, key, "id", _id_of(schema, row, number))


def _id_of(schema: StreamSchema, row: RawRow, number: int) -> Value:
    return number if schema.id is None else plain(row.get(schema.id))


class _Text(str):
    """An id that knows its event."""

    event: BaseEvent
    shown: Value


class _Number(int):
    event: BaseEvent
    shown: Value


def _named(identity: Value, event: BaseEvent, *, lost: bool = False) -> Value:
    if identity is None:
        return None
    named = _Text(identity) if isinstance(identity, str) else _Number(identity)
    named.event, named.shown = event, None if lost else identity
    return named


def _complete(schema: StreamSchema, rows: Sequence[RawRow]) -> list[RawRow]:
    """The rows of one world; lost events get a name as well."""
    return [row if NAME in row else {**row, NAME: _lost_name(schema, row)} for row in rows]


def _lost_name(schema: StreamSchema, row: RawRow) -> Value:
    event = base_event(schema, row, 0)
    return _named(repr(event), event, lost=True)


def _schemas(plan: p.ProgramPlan) -> list[StreamSchema]:
    return [stream.schema for stream in plan.streams]


def _for_one_world(plan: p.ProgramPlan) -> p.ProgramPlan:
    """The program on certain streams, whose results also tell the key of their partition."""
    streams = (replace(one, schema=replace(certain(one.schema), id=NAME)) for one in plan.streams)
    return replace(plan, streams=tuple(streams), events=tuple(_telling_key(event) for event in plan.events))


def _telling_key(event: p.EventPlan) -> p.EventPlan:
    keys = (p.Output(f"{KEY}{column.name}", e.KeyColumn(column.name, column.type)) for column in event.partition)
    return replace(event, returns=(*event.returns, *keys))


def _in_world(
    program: p.ProgramPlan, rows: Mapping[str, Sequence[RawRow]], memory: _Memory, prob: Fraction
) -> dict[str, dict[object, ProbableResult]]:
    """What holds in one world, by identity; results of one identity hold once."""
    found: dict[str, dict[object, ProbableResult]] = {event.name: {} for event in program.events}
    words = _words_of_places(program, rows)
    for event, derived, result in _derived(program, world_of(program, rows, memory.context), memory):
        one = _probable(event, result, prob)
        identity = (one.key, one.values, _counted(event.per, one, derived, words))
        so_far = found[event.name].get(identity)
        found[event.name][identity] = one if so_far is None else _hull(so_far, one)
    return found


class _Memory:
    """What pieces of worlds gave: what has to do with one key is the same in many worlds."""

    def __init__(self, context: ExpressionContext) -> None:
        self.context = context
        self._known: dict[object, tuple[Derived, ...]] = {}

    def derive(self, event: p.EventPlan, world: World, known_at: Mapping[Event, int]) -> list[Derived]:
        derived = (
            found for key, events in pieces(event, world) for found in self._in_piece(event, key, events, known_at)
        )
        return sorted(derived, key=lambda found: position(found.event))

    def _in_piece(
        self, event: p.EventPlan, key: Row, events: tuple[Event, ...], known_at: Mapping[Event, int]
    ) -> tuple[Derived, ...]:
        told = tuple((one, tuple(one.values.values()), known_at.get(one)) for one in events)
        piece = (event.name, tuple(key.values()), told)
        if piece not in self._known:
            self._known[piece] = tuple(derive_in_piece(event, key, events, self.context, known_at))
        return self._known[piece]


def _derived(program: p.ProgramPlan, world: World, memory: _Memory) -> Iterator[tuple[p.EventPlan, Event, Result]]:
    """The results of all events, with their places among simultaneous ones even where later events do not see them."""
    known_at: dict[Event, int] = {}
    for group in groups_of(program):
        if group.is_recursive:
            derived = least_model(group, world, memory.context, known_at)
        else:
            event = group.events[0]
            with_places = replace(event, schema=replace(event.schema, is_ordered=True))
            derived = memory.derive(with_places, world, known_at)
        for one in derived:
            event = next(event for event in group.events if event.name == one.result.event)
            seen = one.event if event.schema.is_ordered else _without_places(one.event)
            world = replace(world, events=(*world.events, seen))
            known_at[seen] = one.result.detected_at
            yield event, one.event, one.result


def _without_places(event: Event) -> Event:
    start, end = ends_of(event.start.time, event.end.time)
    return replace(event, start=start, end=end)


def _probable(event: p.EventPlan, result: Result, prob: Fraction) -> ProbableResult:
    key = result.values[len(result.values) - len(event.partition) :]
    head = result.values[: len(event.head)]
    start, end, known = floor(result.start), floor(result.end), floor(result.detected_at)
    if event.per is not p.Per.MATCH:
        return ProbableResult(key, head, start, end, None, None, prob, known)
    named = [one for one in result.lineage if isinstance(one, _Text | _Number)]
    lineage, events = tuple(one.shown for one in named), tuple(one.event for one in named)
    return ProbableResult(key, head, start, end, lineage, events, prob, known)


def _counted(per: p.Per, one: ProbableResult, derived: Event, words: Mapping[int, Value]) -> object:
    """What distinguishes results besides key and head."""

    def when(instant: Instant) -> tuple[object, object]:
        return instant.time, words.get(instant.place, instant.place)

    match per:
        case p.Per.MATCH:
            return one.events
        case p.Per.INTERVAL:
            return when(derived.start), when(derived.end)
        case p.Per.END:
            return when(derived.end)
        case p.Per.VALUES:
            return None


def _words_of_places(program: p.ProgramPlan, rows: Mapping[str, Sequence[RawRow]]) -> dict[int, Value]:
    """What places stand for: ranks mean something else in every world."""
    ordered = [(schema.order_by, schema.name) for schema in _schemas(program) if schema.order_by is not None]
    places = places_of(plain(row.get(column)) for column, name in ordered for row in rows[name])
    return {place: value for value, place in places.items()}


def _hull(one: ProbableResult, other: ProbableResult) -> ProbableResult:
    """A result with the earliest start and the latest end of both; in one world, it is known with the first of them."""
    known = min(one.detected_at, other.detected_at)
    return replace(one, start=min(one.start, other.start), end=max(one.end, other.end), detected_at=known)
