"""The definition of streams: rows become events in canonical order, with derived columns.

The canonical order of a key is by time, then by the value of ORDER BY, then by id; any two events of a world differ in
it. PREV and SINCE_CHANGE look back along this order; null is a value like any other for them.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import cast

from inkling.logical import expr as e
from inkling.logical.evaluate import Bindings, ExpressionContext, Row, holds, value_of
from inkling.logical.expr import ROW, Expr, PreviousColumn
from inkling.logical.patterns.allen import ends_of
from inkling.logical.plan import ProgramPlan, StreamPlan
from inkling.meaning.lost_worlds import EMPTY_KEY
from inkling.meaning.occurrences import Occurrence
from inkling.model.event import Event, Value, World
from inkling.model.schema import StreamSchema
from inkling.model.types import Type

RawRow = Mapping[str, object]
Places = Mapping[Value, int]

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def world_of(program: ProgramPlan, rows: Mapping[str, Sequence[RawRow]], context: ExpressionContext) -> World:
    """All events of the streams of a program; a stream without rows is empty."""
    rows = {stream.schema.name: standing(stream.schema, rows.get(stream.schema.name, ())) for stream in program.streams}
    ordered = [
        plain(row.get(stream.schema.order_by))
        for stream in program.streams
        if stream.schema.order_by is not None
        for row in rows.get(stream.schema.name, ())
    ]
    places = places_of(ordered)
    parts = [
        _events_and_resets(stream, _rows(rows, stream, is_event=True), context, places=places)
        for stream in program.streams
    ]
    empty = [
        _events_and_resets(stream, _rows(rows, stream, is_event=False), context, places=places)[0]
        for stream in program.streams
    ]
    return World(
        tuple(event for events, _ in parts for event in events),
        tuple(reset for _, resets in parts for reset in resets),
        tuple(row for some in empty for row in some),
    )


def standing(schema: StreamSchema, rows: Sequence[RawRow]) -> Sequence[RawRow]:
    """The rows of events that are not withdrawn, wherever the withdrawal is among the rows."""
    if schema.op is None or schema.id is None:
        return rows
    withdrawn = {row.get(schema.id) for row in rows if row.get(schema.op) == "-"}
    return [row for row in rows if row.get(schema.op) == "+" and row.get(schema.id) not in withdrawn]


def _rows(rows: Mapping[str, Sequence[RawRow]], stream: StreamPlan, *, is_event: bool) -> list[RawRow]:
    return [row for row in rows.get(stream.schema.name, ()) if (EMPTY_KEY not in row) is is_event]


def places_of(values: Iterable[Value]) -> Places:
    """Place of every value of `ORDER BY`, for all streams together.

    Integers stand for themselves; as soon as there is anything else, all values are ranked.
    """
    distinct = {value for value in values if value is not None}
    if all(isinstance(value, int) for value in distinct):
        return {value: int(value) for value in distinct if isinstance(value, int)}
    in_order = sorted(distinct, key=lambda value: (isinstance(value, str), value))
    return {value: rank for rank, value in enumerate(in_order)}


def stream_events(
    stream: StreamPlan, rows: Sequence[RawRow], context: ExpressionContext, *, places: Places | None = None
) -> tuple[Event, ...]:
    """The events of one stream in canonical order.

    A row without a time, a key, an id or a place, or that ends before it starts, is no event; nor is a second row
    with the id, key and time of another, or with OP, with its id. Events are numbered from 1 in the order of the rows
    when the stream has no `ID`. A row on which `RESET WHEN` holds is no event either, and the rows of its key after it
    look back no further than to it.
    """
    return _events_and_resets(stream, rows, context, places=places)[0]


def _events_and_resets(
    stream: StreamPlan, rows: Sequence[RawRow], context: ExpressionContext, *, places: Places | None = None
) -> tuple[tuple[Event, ...], tuple[Event, ...]]:
    schema = stream.schema
    if places is None and schema.order_by is not None:
        places = places_of(plain(row.get(schema.order_by)) for row in rows)
    events = [
        event
        for number, row in enumerate(rows, start=1)
        if (event := _stored_event(stream, number, row, places or {})) is not None
    ]
    if schema.op is not None:
        events = _least_of_each_id(events)
    first: dict[tuple[object, ...], Event] = {}
    for event in events:
        key = tuple(event.values[name] for name in schema.key)
        first.setdefault((key, event.start.time, event.end.time, event.ids), event)
    in_order = sorted(first.values(), key=lambda event: event.position)
    latest: dict[tuple[Value, ...], _Latest] = {}
    derived, resets = [], []
    for event in in_order:
        key = tuple(event.values[name] for name in schema.key)
        if stream.reset_when is not None and holds(stream.reset_when, Bindings().with_event(ROW, event), context):
            latest.pop(key, None)
            resets.append(event)
            continue
        latest[key] = _derive(stream, event, latest.get(key), context)
        derived.append(latest[key].event)
    return tuple(derived), tuple(resets)


def _least_of_each_id(events: Iterable[Event]) -> list[Event]:
    """Where events can be withdrawn, an id names one: the first in time, then the one with the least values."""

    def rank(event: Event) -> tuple[object, ...]:
        return event.start.time, event.end.time, *((value is None, value) for value in event.values.values())

    least: dict[tuple[object, ...], Event] = {}
    for event in sorted(events, key=rank):
        least.setdefault(event.ids, event)
    return list(least.values())


def plain(value: object) -> Value:
    """A value as the language sees it: times are numbers, NaN is null, and -0.0 is 0.0.

    Lost events have times between ticks.
    """
    if isinstance(value, datetime):
        aware = value if value.tzinfo is not None else value.replace(tzinfo=UTC)
        return (aware - EPOCH) // timedelta(microseconds=1)
    if isinstance(value, float):
        return None if math.isnan(value) else value + 0.0
    known = value is None or isinstance(value, int | float | str | bool | Fraction)
    assert known, f"{value!r} is no value of a column"
    return cast(Value, value)


def whole_number(value: object) -> int:
    """A cell that holds a time or a count."""
    number = plain(value)
    assert isinstance(number, int)
    return number


def _stored_event(stream: StreamPlan, number: int, row: RawRow, places: Places) -> Event | None:
    """The event of a row before its derived columns are known."""
    schema = stream.schema
    derived = {column.name for column in stream.derived}
    values = {
        column.name: _typed(plain(row.get(column.name)), column.type)
        for column in schema.columns
        if column.name not in derived
    }
    for name in schema.key:
        values.setdefault(name, plain(row.get(name)))
    start, end = plain(row.get(schema.start)), plain(row.get(schema.end))
    if schema.grid is not None:
        start, end = _on_grid(start, schema.grid), _on_grid(end, schema.grid)
        values |= {schema.start: start, schema.end: end}
    identity = number if schema.id is None else plain(row.get(schema.id))
    place = None if schema.order_by is None else places.get(plain(row.get(schema.order_by)))
    if start is None or end is None or identity is None or (schema.order_by is not None and place is None):
        return None
    if any(values[name] is None for name in schema.key):
        return None
    start, end = _time(start), _time(end)
    if end < start:
        return None
    rank = ((type(identity).__name__, identity),)
    return Event(schema.name, (identity,), *ends_of(start, end, place=place), values, rank)


def _on_grid(value: Value, grid: int) -> Value:
    """A time rounded down to whole ticks."""
    return None if value is None else _time(value) // grid * grid


def _time(value: Value) -> int:
    assert isinstance(value, int | Fraction), f"{value!r} is no time"
    return value


def _typed(value: Value, kind: Type) -> Value:
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return float(value) if kind is Type.DOUBLE and is_whole and value is not None else value


@dataclass(frozen=True, slots=True)
class _Latest:
    """The latest event of a key, and since when each column has had its value."""

    event: Event
    since: Row


def _derive(stream: StreamPlan, event: Event, previous: _Latest | None, context: ExpressionContext) -> _Latest:
    """The event with its derived columns, computed in the order of their declaration."""
    values = dict(event.values)
    since: dict[str, Value] = {}

    def note(column: str) -> None:
        unchanged = previous is not None and previous.event.values[column] == values[column]
        since[column] = previous.since[column] if previous is not None and unchanged else event.end.time

    for column in values:
        note(column)
    for derived in stream.derived:
        known = _looked_up(derived.expr, event, previous, since)
        at = Bindings().with_event(ROW, replace(event, values=values))
        values[derived.name] = value_of(known, at, context)
        note(derived.name)
    return _Latest(replace(event, values=values), since)


def _looked_up(expr: Expr, event: Event, previous: _Latest | None, since: Row) -> Expr:
    """The expression with PREV and SINCE_CHANGE replaced by their values."""
    match expr:
        case PreviousColumn(column=column, type=kind):
            return e.Literal(None if previous is None else previous.event.values[column], kind)
        case e.SinceChange(column=column, type=kind):
            return e.Literal(event.end.time - _time(since[column]), kind)
    changes: dict[str, object] = {}
    for part in fields(expr):
        value = getattr(expr, part.name)
        if isinstance(value, Expr):
            changes[part.name] = _looked_up(value, event, previous, since)
        elif isinstance(value, tuple):
            changes[part.name] = tuple(
                _looked_up(item, event, previous, since) if isinstance(item, Expr) else item for item in value
            )
    return replace(expr, **changes)  # type: ignore[arg-type]


Rank = tuple[object, ...]


def position(event: Event) -> Rank:
    return event.listed


def positions(found: Occurrence) -> Rank:
    """The positions of all events that an occurrence depends on."""
    return tuple(position(member.event) for member in found.lineage)


def slots_of(found: Occurrence) -> tuple[int, ...]:
    """The slots that these events fill."""
    return tuple(member.slot for member in found.lineage)
