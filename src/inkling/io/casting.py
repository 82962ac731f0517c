"""Conversion of columns to their declared types, with a mask of the values that cannot be converted.

`io.spellings` defines what text means. Arrow converts common spellings column by column; others are read one by one.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from inkling.io.spellings import WHITE_SPACE, MisspelledError, read_instant, read_integer, read_moment, read_value
from inkling.model.batch import in_one_array
from inkling.model.terms import XSD
from inkling.model.time import EPOCHS, YEARS_US, Clock
from inkling.model.types import Type

SAMPLE = 1000
"""How many records are read to determine the unit of the times of a text column."""

TARGETS = {
    Type.BOOLEAN: pa.bool_(),
    Type.INTEGER: pa.int64(),
    Type.DOUBLE: pa.float64(),
    Type.STRING: pa.string(),
    Type.TERM: pa.string(),
    Type.TIME: pa.int64(),
    Type.WEIGHTS: pa.list_(pa.float64()),
}

_CANONICAL_VALUES = {
    "integer": r"0|-?[1-9][0-9]*",
    "decimal": r"0|-?(?:[1-9][0-9]*(?:\.[0-9]{0,17}[1-9])?|0\.[0-9]{0,17}[1-9])",
    "double": r"-?[1-9]\.(?:0|[0-9]{0,13}[1-9])E(?:0|-?[1-9][0-9]?)",  # with at most 15 digits, all of which count
    "boolean": r"true|false",
    "dateTime": r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]*[1-9])?Z",
}
_CANONICAL_TERM = (
    r'^(?:<[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>"{}|^`\\%]*>'
    r"|_:[A-Za-z0-9_]+"
    r'|"[^"\\\x00-\x1f\x7f]*"(?:@[a-z]{2,8})?'
    + "".join(rf'|"(?:{values})"\^\^<{re.escape(XSD)}{name}>' for name, values in _CANONICAL_VALUES.items())
    + ")$"
)
_FIRST_TERMS = 4096
_PLAIN = {Type.INTEGER: r"^-?[0-9]{1,18}$", Type.DOUBLE: r"^-?[0-9]{1,15}(\.[0-9]{1,15})?$", Type.TERM: _CANONICAL_TERM}
_UNITS_US = {"s": 1_000_000, "ms": 1000, "us": 1}
_DAY_US = 86_400_000_000


@dataclass(frozen=True, slots=True)
class Cast:
    """Values of the wanted type, null if the input is null or `bad`; `far` marks timestamps beyond the limits."""

    values: pa.Array
    bad: NDArray[np.bool_]
    far: NDArray[np.bool_] | None = None


def cast_column(column: pa.ChunkedArray, kind: Type, clock: Clock, epoch: str | None = None) -> Cast:
    """Reads a column as a type of the language; TIME becomes a number in the unit of the clock.

    With `epoch`, numbers in a column of timestamps count this unit since 1970.

    The column must satisfy `is_readable`. Doubles contain no NaN, infinity or negative zero, so values are equal if and
    only if their bits are, and all code that compares, hashes or sorts keys agrees.
    """
    array = _plain_array(column)
    if kind is Type.TIME and epoch is not None and clock is Clock.TIMESTAMP:
        cast = _since_1970(array, EPOCHS[epoch])
    else:
        cast = _cast(array, kind, clock)
    bad = cast.bad if array.null_count == column.null_count else cast.bad | _is_lost(array, column)
    if kind is Type.TIME and clock is Clock.TIMESTAMP:
        return _within_limits(cast.values, bad, cast.far)
    return Cast(_without_negative_zero(cast.values) if kind is Type.DOUBLE else cast.values, bad)


def _within_limits(values: pa.Array, bad: NDArray[np.bool_], far: NDArray[np.bool_] | None) -> Cast:
    """Timestamps without those beyond the limits, which are bad."""
    within = _is_between(values, *YEARS_US)
    outside = pc.invert(pc.fill_null(within, True)).to_numpy(zero_copy_only=False)
    far = outside if far is None else far | outside
    return (
        Cast(pc.if_else(within, values, pa.scalar(None, pa.int64())), bad | far, far)
        if far.any()
        else Cast(values, bad)
    )


def _is_between(values: pa.Array, first: int, last: int) -> pa.Array:
    return pc.and_(pc.greater_equal(values, first), pc.less_equal(values, last))


def _since_1970(array: pa.Array, unit_us: Fraction) -> Cast:
    """Timestamps, and numbers of a unit since 1970, as microseconds.

    Fractions are rounded to the nearest microsecond, and nanoseconds truncated.
    """
    t = pa.types
    if t.is_string(array.type):
        return _numbers_or_timestamps(array, unit_us)
    if t.is_decimal(array.type):
        return _numbers_or_timestamps(array.cast(pa.string()), unit_us)
    if t.is_uint64(array.type):
        fits = pc.less(array, pa.scalar(2**63, pa.uint64()))
        numbers = pc.if_else(fits, array, pa.scalar(None, pa.uint64())).cast(pa.int64())
        cast = _scaled_by(numbers, unit_us)
        beyond = pc.invert(pc.fill_null(fits, True)).to_numpy(zero_copy_only=False)
        return Cast(cast.values, cast.bad | beyond, beyond if cast.far is None else cast.far | beyond)
    if t.is_integer(array.type):
        return _scaled_by(array.cast(pa.int64()), unit_us)
    if t.is_floating(array.type):
        return _scaled_doubles(array.cast(pa.float64()), unit_us)
    return _cast(array, Type.TIME, Clock.TIMESTAMP)


def _scaled_by(numbers: pa.Array, unit_us: Fraction) -> Cast:
    if unit_us >= 1:
        return _scaled(numbers, int(unit_us))
    counts = pc.fill_null(numbers, 0).to_numpy(zero_copy_only=False)
    return _sure(pa.array(np.floor_divide(counts, unit_us.denominator), mask=_nulls(numbers)))


def _scaled_doubles(doubles: pa.Array, unit_us: Fraction) -> Cast:
    counts = doubles.to_numpy(zero_copy_only=False)
    missing = _nulls(doubles) | np.isnan(counts)
    with np.errstate(invalid="ignore", over="ignore"):
        scaled = np.rint(counts * int(unit_us)) if unit_us >= 1 else np.floor(counts / unit_us.denominator)
        far = ~missing & ~((scaled >= YEARS_US[0]) & (scaled <= YEARS_US[1]))
    values = np.where(missing | far, 0, scaled).astype(np.int64)
    return Cast(pa.array(values, mask=missing | far), far, far)


def _numbers_or_timestamps(text: pa.Array, unit_us: Fraction) -> Cast:
    try:
        return _scaled_by(text.cast(pa.int64()), unit_us)
    except pa.ArrowInvalid:
        values, bad = _each_spelling(text, Type.TIME, lambda spelling: read_moment(spelling, unit_us))
        return Cast(values, bad)


def _nulls(array: pa.Array) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = pc.is_null(array).to_numpy(zero_copy_only=False)
    return found


def _without_negative_zero(doubles: pa.Array) -> pa.Array:
    return pc.add(doubles, _ZERO)


def _cast(array: pa.Array, kind: Type, clock: Clock) -> Cast:
    if pa.types.is_null(array.type):
        return Cast(pa.nulls(len(array), TARGETS[kind]), np.zeros(len(array), bool))
    if kind is Type.WEIGHTS and _is_list(array.type):
        return _sure(array.cast(TARGETS[kind], safe=False))
    if pa.types.is_string(array.type):
        return _from_text(array, kind, clock)
    if pa.types.is_decimal(array.type):
        return _from_text(array.cast(pa.string()), kind, clock, decimal=True)
    if pa.types.is_floating(array.type):
        return _from_doubles(array.cast(pa.float64()), kind)
    if pa.types.is_timestamp(array.type) or pa.types.is_date(array.type):
        return _microseconds(array)
    return _from_whole(array, kind)


def plain_values(array: pa.Array, kind: Type, clock: Clock, epoch: str | None = None) -> pa.Array | None:
    """The values of an array that Arrow converts without loss and without bad values, else None."""
    have = array.type
    match kind:
        case Type.INTEGER:
            return _plain_whole(array)
        case Type.STRING:
            return array if have == _TEXT else None
        case Type.TERM:
            return array if have == _TEXT and are_canonical(array) else None
        case Type.DOUBLE:
            if have != _DOUBLE or array.null_count:
                return None
            doubles = array.to_numpy()
            if not np.isfinite(doubles).all():
                return None
            return array if doubles.all() else _without_negative_zero(array)
        case Type.TIME:
            if clock is Clock.TICKS:
                return _plain_whole(array)
            if pa.types.is_timestamp(have) and have.unit == "us":
                return _if_within_limits(array.view(_WHOLE))
            if epoch is not None and pa.types.is_integer(have) and not pa.types.is_uint64(have):
                cast = _scaled_by(array.cast(_WHOLE), EPOCHS[epoch])
                return None if cast.bad.any() else _if_within_limits(cast.values)
            return None
        case Type.BOOLEAN:
            return array if pa.types.is_boolean(have) else None
        case Type.WEIGHTS:
            return array if have == TARGETS[kind] else None
        case _:
            return None


def _if_within_limits(times: pa.Array) -> pa.Array | None:
    ends = pc.min_max(times).as_py()
    is_empty = ends["min"] is None
    return times if is_empty or (ends["min"] >= YEARS_US[0] and ends["max"] <= YEARS_US[1]) else None


def _plain_whole(array: pa.Array) -> pa.Array | None:
    if array.type == _WHOLE:
        return array
    fits = pa.types.is_integer(array.type) and not pa.types.is_uint64(array.type)
    return array.cast(_WHOLE) if fits else None


_WHOLE, _TEXT, _DOUBLE = pa.int64(), pa.string(), pa.float64()
_ZERO = pa.scalar(0.0)


def is_readable(have: pa.DataType, kind: Type, clock: Clock, epoch: str | None = None) -> bool:
    """Whether columns of an Arrow type can be read as a type of the language at all."""
    t = pa.types
    if t.is_dictionary(have):
        return is_readable(have.value_type, kind, clock, epoch)
    if _is_text(have) or t.is_null(have):
        return True
    if kind is Type.TERM:
        return False
    if kind is Type.WEIGHTS:
        return _is_list(have) and (_is_number(have.value_type) or bool(t.is_null(have.value_type)))
    if kind is Type.TIME and clock is Clock.TIMESTAMP:
        return bool(t.is_timestamp(have) or t.is_date(have)) or (epoch is not None and _is_number(have))
    return _is_number(have) or bool(t.is_boolean(have) and kind is not Type.TIME)


def clock_of(column: pa.ChunkedArray) -> Clock:
    """The clock of a time column; for text, by the first value that is a time or an integer."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if _is_number(kind):
        return Clock.TICKS
    if not _is_text(kind):
        return Clock.TIMESTAMP
    for text in _plain_array(column.slice(0, SAMPLE)).drop_null().to_pylist():
        if _reads(read_integer, text.strip(WHITE_SPACE)):
            return Clock.TICKS
        if _reads(read_instant, text.strip(WHITE_SPACE)):
            return Clock.TIMESTAMP
    return Clock.TIMESTAMP


def _reads(reader: Callable[[str], object], text: str) -> bool:
    try:
        reader(text)
    except MisspelledError:
        return False
    return True


def _is_number(kind: pa.DataType) -> bool:
    t = pa.types
    return bool(t.is_integer(kind) or t.is_floating(kind) or t.is_decimal(kind))


def _is_list(kind: pa.DataType) -> bool:
    t = pa.types
    return bool(t.is_list(kind) or t.is_large_list(kind) or t.is_fixed_size_list(kind))


def _is_text(kind: pa.DataType) -> bool:
    t = pa.types
    is_string = t.is_string(kind) or t.is_large_string(kind) or t.is_string_view(kind)
    return bool(is_string or t.is_binary(kind) or t.is_large_binary(kind) or t.is_binary_view(kind))


def _plain_array(column: pa.ChunkedArray) -> pa.Array:
    """One array without dictionary encoding, with all text types as strings; bytes that are not UTF-8 become null."""
    array = in_one_array(column)
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if not _is_text(array.type) or pa.types.is_string(array.type):
        return array
    try:
        return array.cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array([None if one is None else _utf8(one) for one in array.to_pylist()], pa.string())


def _utf8(text: bytes) -> str | None:
    try:
        return text.decode()
    except UnicodeDecodeError:
        return None


def _is_lost(array: pa.Array, column: pa.ChunkedArray) -> NDArray[np.bool_]:
    lost = pc.and_(pc.is_null(array), pc.is_valid(in_one_array(column)))
    found: NDArray[np.bool_] = lost.to_numpy(zero_copy_only=False)
    return found


def _sure(values: pa.Array) -> Cast:
    return Cast(values, np.zeros(len(values), bool))


def _where(values: pa.Array, fine: pa.Array, missing: pa.Array) -> Cast:
    """The valid values; a value that is neither valid nor missing is bad."""
    fine = pc.fill_null(fine, False)
    bad = pc.invert(pc.or_(fine, missing))
    return Cast(pc.if_else(fine, values, pa.scalar(None, values.type)), bad.to_numpy(zero_copy_only=False))


def _from_whole(array: pa.Array, kind: Type) -> Cast:
    """From integers and Booleans."""
    match kind:
        case Type.STRING:
            return _sure(array.cast(pa.string()))
        case Type.BOOLEAN:
            if pa.types.is_boolean(array.type):
                return _sure(array)
            known = pc.is_in(array, pa.array([0, 1], array.type))
            return _where(pc.equal(array, pa.scalar(1, array.type)), known, pc.is_null(array))
        case Type.DOUBLE:
            exact = array.cast(pa.int8()) if pa.types.is_boolean(array.type) else array
            return _sure(exact.cast(pa.float64(), safe=False))
        case _:
            if not pa.types.is_uint64(array.type):
                return _sure(array.cast(pa.int64()))
            fits = pc.less(array, pa.scalar(2**63, pa.uint64()))
            return _where(array.cast(pa.int64(), safe=False), fits, pc.is_null(array))


def _from_doubles(doubles: pa.Array, kind: Type) -> Cast:
    """NaN becomes null, and so does infinity if the wanted type is DOUBLE."""
    missing = pc.or_kleene(pc.is_null(doubles, nan_is_null=True), False)
    if kind is Type.DOUBLE:
        finite = pc.fill_null(pc.is_finite(doubles), True)
        return _sure(pc.if_else(finite, doubles, pa.scalar(None, pa.float64())))
    whole = pc.and_(pc.equal(pc.floor(doubles), doubles), pc.less(pc.abs(doubles), 2.0**63))
    whole = pc.and_(pc.fill_null(whole, False), pc.invert(missing))
    numbers = pc.if_else(whole, doubles, pa.scalar(None, pa.float64())).cast(pa.int64())
    cast = _from_whole(numbers, kind)
    also_bad = pc.invert(pc.or_(whole, missing)).to_numpy(zero_copy_only=False)
    return Cast(cast.values, cast.bad | also_bad)


def _microseconds(array: pa.Array) -> Cast:
    """Microseconds since 1970 in UTC; times without a zone are UTC, and nanoseconds are truncated."""
    if pa.types.is_date(array.type):
        return _scaled(array.cast(pa.date32()).cast(pa.int32()).cast(pa.int64()), _DAY_US)
    if array.type.unit != "ns":
        return _scaled(array.view(pa.int64()), _UNITS_US[array.type.unit])
    nanoseconds = array.cast(pa.int64())
    micros = np.floor_divide(pc.fill_null(nanoseconds, 0).to_numpy(), 1000)
    return _sure(pa.array(micros, mask=pc.is_null(array).to_numpy(zero_copy_only=False)))


def _scaled(numbers: pa.Array, unit_us: int) -> Cast:
    """Times in a unit as microseconds; those beyond the limits, which may not fit into 64 bits, are null."""
    within = _is_between(numbers, -(-YEARS_US[0] // unit_us), YEARS_US[1] // unit_us)
    far = pc.invert(pc.fill_null(within, True)).to_numpy(zero_copy_only=False)
    kept = pc.if_else(within, numbers, pa.scalar(None, pa.int64()))
    return Cast(pc.multiply(kept, pa.scalar(unit_us, pa.int64())), far, far)


def _from_text(text: pa.Array, kind: Type, clock: Clock, *, decimal: bool = False) -> Cast:
    if kind is Type.STRING:
        return _sure(text)
    quick = _all_plain(text, kind, clock) if not decimal else None
    if quick is not None:
        return _sure(quick)
    wanted = Type.INTEGER if kind is Type.TIME and clock is Clock.TICKS else kind
    plain = pc.fill_null(pc.match_substring_regex(text, _PLAIN[wanted]), False) if wanted in _PLAIN else None
    odd = text if plain is None else pc.if_else(plain, pa.scalar(None, pa.string()), text)
    values, bad = _one_by_one(odd, kind, clock)
    if plain is not None:
        simple = pc.if_else(plain, text, pa.scalar(None, pa.string())).cast(TARGETS[kind])
        values = pc.if_else(plain, simple, values)
    return Cast(values, bad)


def _all_plain(text: pa.Array, kind: Type, clock: Clock) -> pa.Array | None:
    """The column as Arrow reads it, if Arrow and `io.spellings` agree on all its values, else None."""
    try:
        if kind is Type.INTEGER or (kind is Type.TIME and clock is Clock.TICKS):
            numbers = text.cast(pa.int64())
            is_hexadecimal = pc.any(pc.match_substring(text, "x", ignore_case=True)).as_py()
            return None if is_hexadecimal else numbers
        if kind is Type.TERM:
            return text if are_canonical(text) else None
        if kind is Type.DOUBLE:
            doubles = text.cast(pa.float64())
            return None if pc.all(pc.is_finite(doubles)).as_py() is False else doubles
        if kind is Type.TIME:
            in_utc = bool(pc.all(pc.ends_with(text, "Z")).as_py())
            times = text.cast(pa.timestamp("us", "UTC" if in_utc else None)).cast(pa.int64())
            earliest = pc.min(times).as_py()
            return times if earliest is None or earliest >= YEARS_US[0] else None
    except pa.ArrowInvalid:
        return None
    return None


def are_canonical(text: pa.Array) -> bool:
    """Whether all texts certainly are RDF terms in canonical form; rare ones are read one by one.

    Where texts repeat, each distinct one is looked at once: n texts of about n / 2 different ones, in any order, have
    k * k / n repeats among the first k.
    """
    if len(text) > _FIRST_TERMS:
        repeats = _FIRST_TERMS - len(pc.unique(text.slice(0, _FIRST_TERMS)))
        if repeats * len(text) > _FIRST_TERMS**2:
            text = pc.unique(text)
    return pc.all(pc.match_substring_regex(text, _CANONICAL_TERM)).as_py() is not False


def _one_by_one(text: pa.Array, kind: Type, clock: Clock) -> tuple[pa.Array, NDArray[np.bool_]]:
    return _each_spelling(text, kind, lambda spelling: read_value(spelling, kind, clock))


def _each_spelling(text: pa.Array, kind: Type, read: Callable[[str], object]) -> tuple[pa.Array, NDArray[np.bool_]]:
    """The values and a mask of bad ones; each distinct spelling is read once."""
    encoded = text.dictionary_encode()
    values, bad = [], []
    for spelling in encoded.dictionary.to_pylist():
        try:
            values.append(read(spelling))
            bad.append(False)
        except MisspelledError:
            values.append(None)
            bad.append(True)
    is_bad = pc.fill_null(pa.array(bad, pa.bool_()).take(encoded.indices), False)
    return pa.array(values, TARGETS[kind]).take(encoded.indices), is_bad.to_numpy(zero_copy_only=False)
