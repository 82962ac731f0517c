"""What a stream, a table and a derived event look like: names, types and the roles of columns."""

from __future__ import annotations

from dataclasses import dataclass, replace

from inkling.model.time import Clock, Span
from inkling.model.types import Type
from inkling.model.uncertainty import Doubt, ImpreciseTime, ProbableValue


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class StreamSchema:
    """A declared stream: its columns and which of them carry identity, key, time and order.

    `start == end` (the same column) for a stream of points. `time_type` is `TIME` when the time column was not
    declared among the columns or was declared as a timestamp, `INTEGER` when it was declared as an integer. With a
    `grid`, times are timestamps that are rounded down to whole ticks of so many microseconds when they are read.
    The column `op` tells events from withdrawals; it is none of `columns`, since no event has it.
    """

    name: str
    columns: tuple[Column, ...]
    id: str | None
    key: tuple[str, ...]
    start: str
    end: str
    time_type: Type = Type.TIME
    order_by: str | None = None
    tick: Span | None = None
    doubt: Doubt | None = None
    late: Span | None = None
    op: str | None = None
    grid: int | None = None
    op_for: Span | None = None  # how long an event can be withdrawn; None: for ever
    speculative: bool = False  # nobody waits for its late events

    def column(self, name: str) -> Column | None:
        return next((column for column in self.columns if column.name == name), None)

    def units(self, span: Span) -> int:
        """A length in the unit of the stream's times; where the data tell what these count, the written unit does."""
        stamped = self.time_type is Type.TIME and self.tick is None and span.unit != "TICKS"
        clock = Clock.TIMESTAMP if stamped or self.grid is not None else Clock.TICKS
        return span.units(clock, self.tick)

    @property
    def is_interval(self) -> bool:
        return self.start != self.end

    @property
    def is_ordered(self) -> bool:
        return self.order_by is not None

    @property
    def revises(self) -> bool:
        """Whether its past can change after it was told of: by withdrawals, or by late events nobody waited for."""
        return self.op is not None or self.speculative


@dataclass(frozen=True, slots=True)
class TableSchema:
    """A background table: facts that are true at any time."""

    name: str
    columns: tuple[Column, ...]
    path: str
    made_by: str | None = None  # the command that makes its file, where it is a model


@dataclass(frozen=True, slots=True)
class EventSchema:
    """A derived event as other events see it: the values of its head."""

    name: str
    columns: tuple[Column, ...]
    is_ordered: bool
    is_interval: bool

    def column(self, name: str) -> Column | None:
        return next((column for column in self.columns if column.name == name), None)


def certain(schema: StreamSchema) -> StreamSchema:
    """How the rows of one world are declared: the same stream without doubt."""
    if isinstance(schema.doubt, ImpreciseTime):
        return replace(schema, doubt=None, start=schema.doubt.lo, end=schema.doubt.lo)
    return replace(schema, doubt=None)


def value_columns(doubt: ProbableValue, schema: StreamSchema) -> list[str]:
    """The columns whose values are in doubt, in the order in which GIVEN names their predecessors.

    Columns that are computed from others come last, and have no predecessors.
    """
    roles = {schema.id, schema.start, schema.end, schema.order_by, schema.op, doubt.probability}
    known = {*schema.key, *doubt.given, *roles}
    return [column.name for column in schema.columns if column.name not in known]
