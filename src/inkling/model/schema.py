"""Schemas of streams, tables and derived events: names, types and roles of columns; and the facts of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, overload

from inkling.model.event import Value
from inkling.model.time import Clock, Duration
from inkling.model.types import Type
from inkling.model.uncertainty import ImpreciseTime, ProbableValue, Uncertainty

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    type: Type


USUAL_AHEAD = Duration(Fraction(1), "DAYS")
"""How far timestamps may be in the future on a running stream, where the stream does not declare it."""


@dataclass(frozen=True, slots=True)
class StreamSchema:
    """A declared stream: its columns, and those that are id, key, time and order.

    `start == end` (the same column) for a stream of points. `time_type` is `INTEGER` if the time column is declared as
    an integer, otherwise `TIME`. With a `grid`, times are timestamps that are rounded down to ticks of this many
    microseconds when they are read. The column `op` distinguishes events from withdrawals; it is not one of `columns`,
    because events do not have it.
    """

    name: str
    columns: tuple[Column, ...]
    id: str | None
    key: tuple[str, ...]
    start: str
    end: str
    time_type: Type = Type.TIME
    order_by: str | None = None
    tick: Duration | None = None
    uncertainty: Uncertainty | None = None
    late: Duration | None = None
    op: str | None = None
    grid: int | None = None
    op_for: Duration | None = None  # how long an event can be withdrawn; None: without limit
    speculative: bool = False  # results do not wait for late events
    ahead: Duration | None = None  # how far rows may be in the future on a running stream
    stamped: bool = False  # times are declared to be timestamps
    epoch: str | None = None  # what numbers in columns of timestamps count since 1970, such as "SECONDS"

    def column(self, name: str) -> Column | None:
        return next((column for column in self.columns if column.name == name), None)

    def units(self, span: Duration) -> int:
        """A duration in the unit of the times of the stream; if only data determine it, the unit of the span does."""
        stamped = self.may_have_timestamps and (self.grid is not None or span.unit != "TICKS")
        clock = Clock.TIMESTAMP if stamped else Clock.TICKS
        return span.units(clock, self.tick)

    @property
    def may_have_timestamps(self) -> bool:
        """Whether times are timestamps, unless the data have integers."""
        return self.grid is not None or (self.time_type is Type.TIME and self.tick is None)

    @property
    def is_interval(self) -> bool:
        return self.start != self.end

    @property
    def is_ordered(self) -> bool:
        return self.order_by is not None

    @property
    def revises(self) -> bool:
        """Whether its past can change after it was read: by withdrawals, or by late events of a speculative stream."""
        return self.op is not None or self.speculative


@dataclass(frozen=True, slots=True)
class TableSchema:
    """A background table: facts that do not change with time."""

    name: str
    columns: tuple[Column, ...]
    path: str
    made_by: str | None = None  # the command that creates its file, if it is a model


@dataclass(frozen=True, slots=True)
class EventSchema:
    """The schema of a derived event: the columns of its head."""

    name: str
    columns: tuple[Column, ...]
    is_ordered: bool
    is_interval: bool

    def column(self, name: str) -> Column | None:
        return next((column for column in self.columns if column.name == name), None)


def certain(schema: StreamSchema) -> StreamSchema:
    """The schema of one world of a stream: the same without uncertainty."""
    if isinstance(schema.uncertainty, ImpreciseTime):
        return replace(schema, uncertainty=None, start=schema.uncertainty.lo, end=schema.uncertainty.lo)
    return replace(schema, uncertainty=None)


def value_columns(uncertainty: ProbableValue, schema: StreamSchema) -> list[str]:
    """The columns with uncertain values, in the order of their previous values in GIVEN.

    Derived columns come last, and have no previous values.
    """
    roles = {schema.id, schema.start, schema.end, schema.order_by, schema.op, uncertainty.probability}
    known = {*schema.key, *uncertainty.given, *roles}
    return [column.name for column in schema.columns if column.name not in known]


FactRow = Mapping[str, Value]


class Facts(Sequence[FactRow]):
    """The rows of an Arrow table as a sequence of Python rows, which are built when they are read."""

    __slots__ = ("_rows", "columns", "forms")

    def __init__(self, columns: pa.Table) -> None:
        self.columns = columns
        self._rows: tuple[FactRow, ...] | None = None
        self.forms: dict[object, object] = {}  # cache of other forms of the columns, by user

    def __len__(self) -> int:
        return len(self.columns)

    @overload
    def __getitem__(self, index: int) -> FactRow: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[FactRow]: ...

    def __getitem__(self, index: int | slice) -> FactRow | Sequence[FactRow]:
        if self._rows is None:
            self._rows = tuple(self.columns.to_pylist())
        return self._rows[index]

    def __reduce__(self) -> tuple[type[Facts], tuple[pa.Table]]:
        return Facts, (self.columns,)
