"""Columns read as the types that a declaration gives them; what cannot be read so is marked."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.model.time import Clock
from inkling.model.types import Type

INTEGER_TEXT = r"^\s*[+-]?\d{1,19}(\.0*)?\s*$"
DOUBLE_TEXT = r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$"
TIME_TEXT = (
    r"^\s*\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?\s*(Z|[+-]\d{2}:?\d{2})?)?\s*$"
)
TRUE_TEXT, FALSE_TEXT = ("true", "t", "1"), ("false", "f", "0")
NOT_A_NUMBER = ("nan", "null", "none", "")
MAX_INT = 2**63
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Cast:
    """Values of the wanted type, null where there was none or where it is `bad`."""

    values: pa.Array
    bad: np.ndarray


def cast_column(column: pa.ChunkedArray, kind: Type, clock: Clock) -> Cast:
    """Read a column as a type of the language; TIME is read as the clock's numbers."""
    array = column.combine_chunks()
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pa.types.is_null(array.type):
        array = array.cast(pa.string())
    match kind:
        case Type.STRING:
            values = _as_text(array)
        case Type.BOOLEAN:
            values = _as_boolean(array)
        case Type.INTEGER | Type.DURATION:
            values = _as_integer(array)
        case Type.DOUBLE:
            return _as_double(array)
        case Type.TIME:
            values = _as_integer(array) if clock is Clock.TICKS else _as_microseconds(array)
        case Type.NULL:
            values = array
    return _judged(array, values)


def clock_of(column: pa.ChunkedArray) -> Clock:
    """What the numbers of a time column count: text is judged by its first value."""
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        return Clock.TICKS
    if _is_text(column.type):
        first = next((value.as_py() for chunk in column.chunks for value in chunk if value.is_valid), None)
        numeric = first is not None and bool(pc.match_substring_regex(pa.array([first]), INTEGER_TEXT)[0].as_py())
        return Clock.TICKS if numeric else Clock.TIMESTAMP
    return Clock.TIMESTAMP


def _judged(array: pa.Array, values: pa.Array) -> Cast:
    missing = pc.is_null(values).to_numpy(zero_copy_only=False)
    given = pc.is_valid(array).to_numpy(zero_copy_only=False)
    return Cast(values, missing & given)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _as_text(array: pa.Array) -> pa.Array:
    return array.cast(pa.string())


def _as_boolean(array: pa.Array) -> pa.Array:
    if pa.types.is_boolean(array.type):
        return array
    text = pc.utf8_lower(pc.utf8_trim_whitespace(array.cast(pa.string())))
    truth = pc.is_in(text, pa.array(TRUE_TEXT))
    known = pc.or_(truth, pc.is_in(text, pa.array(FALSE_TEXT)))
    return pc.if_else(known, truth, pa.scalar(None, pa.bool_()))


def _as_integer(array: pa.Array) -> pa.Array:
    if pa.types.is_boolean(array.type):
        return array.cast(pa.int64())
    if pa.types.is_integer(array.type):
        if pa.types.is_uint64(array.type):
            return pc.if_else(pc.less(array, MAX_INT), array, None).cast(pa.int64())
        return array.cast(pa.int64())
    if pa.types.is_floating(array.type):
        doubles = array.cast(pa.float64())
        whole = pc.and_(pc.equal(pc.floor(doubles), doubles), pc.less(pc.abs(doubles), float(MAX_INT)))
        return pc.if_else(pc.fill_null(whole, False), doubles, None).cast(pa.int64())
    text = array.cast(pa.string())
    fits = pc.fill_null(pc.match_substring_regex(text, INTEGER_TEXT), False)
    digits = pc.replace_substring_regex(pc.utf8_trim_whitespace(text), r"\.0*$", "")
    digits = pc.replace_substring_regex(digits, r"^\+", "")
    wide = pc.if_else(fits, digits, None).cast(pa.decimal128(38, 0))
    in_range = pc.and_(
        pc.greater_equal(wide, pa.scalar(-MAX_INT, wide.type)), pc.less(wide, pa.scalar(MAX_INT, wide.type))
    )
    return pc.if_else(pc.fill_null(in_range, False), wide, None).cast(pa.int64())


def _as_double(array: pa.Array) -> Cast:
    """Doubles; NaN and infinities in numbers are null, text that is no number is bad."""
    if pa.types.is_floating(array.type) or pa.types.is_integer(array.type) or pa.types.is_boolean(array.type):
        doubles = array.cast(pa.int64()).cast(pa.float64(), safe=False) if pa.types.is_boolean(array.type) else array
        doubles = doubles.cast(pa.float64(), safe=False)
        values = pc.if_else(pc.is_finite(doubles), doubles, None)
        return Cast(values, np.zeros(len(array), bool))
    if pa.types.is_decimal(array.type):
        return Cast(array.cast(pa.float64()), np.zeros(len(array), bool))
    text = pc.utf8_trim_whitespace(array.cast(pa.string()))
    nothing = pc.fill_null(pc.is_in(pc.utf8_lower(text), pa.array(NOT_A_NUMBER)), True)
    fits = pc.fill_null(pc.match_substring_regex(text, DOUBLE_TEXT), False)
    number = pc.replace_substring_regex(pc.if_else(fits, text, None), r"^\+", "")
    doubles = number.cast(pa.float64())
    values = pc.if_else(pc.is_finite(doubles), doubles, None)
    bad = pc.and_(pc.invert(nothing), pc.is_null(values))
    return Cast(values, bad.to_numpy(zero_copy_only=False))


def _as_microseconds(array: pa.Array) -> pa.Array:
    """Microseconds since 1970 in UTC; times without a zone are UTC, and finer digits are cut off."""
    if pa.types.is_timestamp(array.type):
        return array.cast(pa.timestamp("us", tz=array.type.tz), safe=False).cast(pa.int64())
    if pa.types.is_date(array.type):
        return array.cast(pa.timestamp("us")).cast(pa.int64())
    if not _is_text(array.type):
        return pa.nulls(len(array), pa.int64())
    fits = pc.fill_null(pc.match_substring_regex(array, TIME_TEXT), False)
    return pa.array([_parsed(text) for text in pc.if_else(fits, array, None).to_pylist()], pa.int64())


def _parsed(text: str | None) -> int | None:
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return (aware - EPOCH) // timedelta(microseconds=1)
