"""What a stream, a table and a derived event look like: names, types and the roles of columns.

Facts of a table: rows to those who read them one by one, columns to everybody else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, overload

from inkling.model.event import Value
from inkling.model.time import Clock, Span
from inkling.model.types import Type
from inkling.model.uncertainty import ImpreciseTime, ProbableValue, Uncertainty

if TYPE_CHECKING:
    import pyarrow as pa


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
    The column `op` distinguishes events from withdrawals; it is none of `columns`, since no event has it.
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
    uncertainty: Uncertainty | None = None
    late: Span | None = None
    op: str | None = None
    grid: int | None = None
    op_for: Span | None = None  # how long an event can be withdrawn; None: for ever
    speculative: bool = False  # nobody waits for its late events

    def column(self, name: str) -> Column | None:
        return next((column for column in self.columns if column.name == name), None)

    def units(self, span: Span) -> int:
        """A length in the unit of the stream's times; where the data show what these count, the written unit does."""
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
        """Whether its past can change after it was read: by withdrawals, or by late events nobody waited for."""
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
    """How the rows of one world are declared: the same stream, certain."""
    if isinstance(schema.uncertainty, ImpreciseTime):
        return replace(schema, uncertainty=None, start=schema.uncertainty.lo, end=schema.uncertainty.lo)
    return replace(schema, uncertainty=None)


def value_columns(uncertainty: ProbableValue, schema: StreamSchema) -> list[str]:
    """The columns whose values are uncertain, in the order in which GIVEN names their predecessors.

    Columns that are computed from others come last, and have no predecessors.
    """
    roles = {schema.id, schema.start, schema.end, schema.order_by, schema.op, uncertainty.probability}
    known = {*schema.key, *uncertainty.given, *roles}
    return [column.name for column in schema.columns if column.name not in known]


FactRow = Mapping[str, Value]


class Facts(Sequence[FactRow]):
    """The rows of an Arrow table, made only when somebody asks for one."""

    __slots__ = ("_rows", "columns", "forms")

    def __init__(self, columns: pa.Table) -> None:
        self.columns = columns
        self._rows: tuple[FactRow, ...] | None = None
        self.forms: dict[object, object] = {}  # what others have made of the columns

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
