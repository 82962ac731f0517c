"""Which columns of an input are needed, as what, and in which role."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import Enum

from inkling.model.schema import StreamSchema, TableSchema
from inkling.model.time import Clock
from inkling.model.types import Type

ROW_NUMBER = "__row"
"""Column with the number of the record in its input, from 1: the id of events whose stream declares none."""


class Role(Enum):
    """What a row cannot do without; only a plain value may be missing."""

    KEY = "key"
    TIME = "time"
    ORDER = "order"
    ID = "id"
    VALUE = "value"


@dataclass(frozen=True, slots=True)
class Needed:
    """One column to be read; a column with several roles has the first of them."""

    name: str
    type: Type
    role: Role = Role.VALUE


@dataclass(frozen=True, slots=True)
class Needs:
    """The columns to be read, in the order in which they are checked."""

    source: str  # the stream or table, for messages
    columns: tuple[Needed, ...]
    key: tuple[str, ...] = ()
    start: str | None = None
    end: str | None = None
    order_by: str | None = None
    id: str | None = None
    numbered: bool = False  # rows get their number as an id
    clock: Clock | None = None  # None: the data tell

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @property
    def times(self) -> tuple[str, ...]:
        """The columns that tell the time of a row: one for points, two for intervals, none for facts."""
        return tuple(dict.fromkeys(name for name in (self.start, self.end) if name is not None))


def needs_of_stream(schema: StreamSchema, columns: Collection[str]) -> Needs:
    """What must be read of a stream: key, time, order and id, and the named stored columns."""
    roles = (
        *((name, Role.KEY) for name in schema.key),
        (schema.start, Role.TIME),
        (schema.end, Role.TIME),
        (schema.order_by, Role.ORDER),
        (schema.id, Role.ID),
        *((column.name, Role.VALUE) for column in schema.columns if column.name in columns),
    )
    needed: dict[str, Needed] = {}
    for name, role in roles:
        if name is not None and name not in needed:
            declared = schema.column(name)
            kind = declared.type if declared is not None else Type.TIME if role is Role.TIME else Type.STRING
            needed[name] = Needed(name, kind, role)
    in_ticks = schema.time_type is Type.INTEGER or schema.tick is not None
    return Needs(
        schema.name,
        tuple(needed.values()),
        schema.key,
        schema.start,
        schema.end,
        schema.order_by,
        schema.id,
        numbered=schema.id is None,
        clock=Clock.TICKS if in_ticks else None,
    )


def needs_of_table(schema: TableSchema) -> Needs:
    """What must be read of a background table: all its columns, none of them obligatory."""
    return Needs(schema.name, tuple(Needed(column.name, column.type) for column in schema.columns))
