"""Single rows as Python values: what `normalize` would make of them, without a table for each.

A row that needs any check or conversion beyond these is left to `normalize`, so the two never disagree.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timezone
from functools import partial
from math import isfinite
from typing import Any, Self, TypeAlias
from zoneinfo import ZoneInfo

import pyarrow as pa

from inkling.io.normalize import row_schema, stored_columns
from inkling.model.schema import StreamSchema
from inkling.model.time import Clock, limits
from inkling.model.types import Type

Row: TypeAlias = tuple[Any, ...]
"""The values of a normalized row, in the order of `row_schema`."""

Read: TypeAlias = Callable[[Any], Any]


class NotPlainError(Exception):
    """The value needs `normalize`."""


@dataclass(frozen=True, slots=True)
class SingleRows:
    """Reads rows of one stream, given as mappings."""

    schema: pa.Schema
    start: int  # the places of these columns in a row
    end: int
    id: int | None  # None: rows are numbered
    order_by: int | None
    readers: tuple[tuple[str, Read], ...]
    earliest: int
    latest: int

    @classmethod
    def of(cls, stream: StreamSchema, derived: Iterable[str], clock: Clock) -> Self | None:
        """None if rows of the stream always need `normalize`."""
        derived = tuple(derived)
        if stream.uncertainty is not None or stream.op is not None or stream.grid is not None:
            return None
        columns = stored_columns(stream, derived)
        if any(column.type not in _READERS for column in columns):
            return None
        names = [column.name for column in columns]
        required = {*stream.key, stream.start, stream.end, stream.id, stream.order_by}
        readers = tuple((one.name, _reader(one.type, clock, one.name in required)) for one in columns)
        return cls(
            row_schema(stream, derived),
            names.index(stream.start),
            names.index(stream.end),
            None if stream.id is None else names.index(stream.id),
            None if stream.order_by is None else names.index(stream.order_by),
            readers,
            *limits(clock),
        )

    def __call__(self, given: Mapping[str, Any], number: int) -> Row | None:
        """A row as `normalize` makes it, None if that needs `normalize`; `number` is the id in streams without ID."""
        try:
            values = [read(given[name]) for name, read in self.readers]
        except (KeyError, NotPlainError):
            return None
        start, end = values[self.start], values[self.end]
        if not self.earliest <= start <= end <= self.latest:
            return None
        place = None if self.order_by is None else values[self.order_by]
        return (*values, start, end, place, number if self.id is None else values[self.id])

    def table(self, rows: Sequence[Row]) -> pa.Table:
        """Rows as a table of normalized rows."""
        columns = zip(zip(*rows, strict=True), self.schema.types, strict=True)
        return pa.Table.from_arrays([pa.array(values, kind) for values, kind in columns], schema=self.schema)

    def place_of(self, column: str) -> int | None:
        """The place of a column in a row; None if rows do not have it."""
        place: int = self.schema.get_field_index(column)
        return None if place < 0 else place


_SMALL = 2**53
_WHOLE = 2**63
_EPOCH, _EPOCH_UTC = datetime(1970, 1, 1), datetime(1970, 1, 1, tzinfo=UTC)
_ZONES = (timezone, ZoneInfo)
_DAY_S, _SECOND_US = 86_400, 1_000_000


def _integer(value: Any) -> int:
    if type(value) is int and -_WHOLE <= value < _WHOLE:
        return value
    raise NotPlainError


def _double(value: Any) -> float:
    if type(value) is float and isfinite(value):
        return value + 0.0  # there is one zero
    if type(value) is int and -_SMALL < value < _SMALL:
        return float(value)
    raise NotPlainError


def _text(value: Any) -> str:
    if type(value) is not str:
        raise NotPlainError
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise NotPlainError from None
    return value


def _truth(value: Any) -> bool:
    if type(value) is bool:
        return value
    raise NotPlainError


def _timestamp(value: Any) -> int:
    """Microseconds since 1970; times without a zone are in UTC."""
    if type(value) is not datetime:
        raise NotPlainError
    zone = value.tzinfo
    if zone is None:
        since = value - _EPOCH
    elif type(zone) in _ZONES:
        since = value - _EPOCH_UTC
    else:
        raise NotPlainError
    return (since.days * _DAY_S + since.seconds) * _SECOND_US + since.microseconds


_READERS: dict[Type, Read] = {
    Type.INTEGER: _integer,
    Type.DOUBLE: _double,
    Type.STRING: _text,
    Type.BOOLEAN: _truth,
    Type.TIME: _timestamp,
}


def _reader(kind: Type, clock: Clock, is_required: bool) -> Read:
    read = _integer if kind is Type.TIME and clock is Clock.TICKS else _READERS[kind]
    return read if is_required else partial(_or_null, read)


def _or_null(read: Read, value: Any) -> Any:
    return None if value is None else read(value)
