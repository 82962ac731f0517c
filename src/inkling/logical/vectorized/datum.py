"""A column, or the one value that stands in all its rows: nulls, truth, finiteness and arithmetic of both."""

import operator
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

Datum: TypeAlias = pa.Array | pa.Scalar

NO_DOUBLE = pa.scalar(None, pa.float64())
ZERO = pa.scalar(0.0)


def broadcast(datum: Datum, n_rows: int, kind: pa.DataType) -> pa.Array:
    """The value in every row, as an array of the given type if it has none of its own."""
    if isinstance(datum, pa.Array):
        return datum
    if datum.is_valid:
        return pa.repeat(datum, n_rows)
    return pa.nulls(n_rows, kind if pa.types.is_null(datum.type) else datum.type)


def is_nothing(datum: Datum) -> bool:
    """Whether the datum is null in every row."""
    if isinstance(datum, pa.Scalar):
        return not datum.is_valid
    return bool(pa.types.is_null(datum.type))


def two_valued(truth: Datum) -> Datum:
    """Unknown is false."""
    if isinstance(truth, pa.Scalar):
        return pa.scalar(truth.as_py() is True)
    return pc.fill_null(truth, False) if truth.null_count else truth


def is_double(datum: Datum) -> bool:
    return bool(pa.types.is_floating(datum.type))


def as_double(datum: Datum) -> Datum:
    """Integers as the nearest doubles; doubles as they are."""
    if is_double(datum):
        return datum
    return pc.cast(datum, pa.float64(), safe=False)


def finite(numbers: Datum) -> Datum:
    """The numbers with null for what is infinite or not a number; adding zero leaves no negative zero."""
    numbers = pc.add(numbers, ZERO)
    fine = pc.is_finite(numbers)
    if pc.all(fine).as_py() is False:
        return pc.if_else(fine, numbers, NO_DOUBLE)
    return numbers


LARGEST = 2**63 - 1
SMALLEST = -(2**63)

_EXACT: dict[str, Callable[[int, int], int]] = {"+": operator.add, "-": operator.sub, "*": operator.mul}
_CHECKED = {"+": pc.add_checked, "-": pc.subtract_checked, "*": pc.multiply_checked}
_DOUBLES = {"+": pc.add, "-": pc.subtract, "*": pc.multiply}


def combine(symbol: str, left: Datum, right: Datum) -> Datum:
    """`left symbol right`, as doubles when either side is one or the symbol is `/`."""
    if symbol == "/":
        return finite(pc.divide(as_double(left), as_double(right)))
    if is_double(left) or is_double(right):
        left, right = as_double(left), as_double(right)
        return _remainder(left, right) if symbol == "%" else finite(_DOUBLES[symbol](left, right))
    return _remainder(left, right) if symbol == "%" else _whole(symbol, left, right)


def negate(number: Datum) -> Datum:
    return pc.subtract(ZERO, number) if is_double(number) else _whole("-", pa.scalar(0, pa.int64()), number)


def _whole(symbol: str, left: Datum, right: Datum) -> Datum:
    try:
        return _CHECKED[symbol](left, right)
    except pa.ArrowInvalid:
        return _slow_whole(_EXACT[symbol], left, right)


def _slow_whole(exact: Callable[[int, int], int], left: Datum, right: Datum) -> Datum:
    """Some row leaves 64 bits: Python's integers find out which."""
    n_rows = next((len(side) for side in (left, right) if isinstance(side, pa.Array)), 1)
    pairs = zip(*(_values(side, n_rows) for side in (left, right)), strict=True)
    results = pa.array((_within_64_bits(exact, one, other) for one, other in pairs), pa.int64())
    return results if isinstance(left, pa.Array) or isinstance(right, pa.Array) else results[0]


def _within_64_bits(exact: Callable[[int, int], int], one: int | None, other: int | None) -> int | None:
    if one is None or other is None:
        return None
    result = exact(one, other)
    return result if SMALLEST <= result <= LARGEST else None


def _values(side: Datum, n_rows: int) -> list[int | None]:
    return side.to_pylist() if isinstance(side, pa.Array) else [side.as_py()] * n_rows


def _remainder(left: Datum, right: Datum) -> Datum:
    """Remainder with the sign of the dividend."""
    if isinstance(left, pa.Scalar) and isinstance(right, pa.Scalar):
        return _remainder(pa.repeat(left, 1), right)[0]
    (numbers, present), (divisors, also) = _with_mask(left), _with_mask(right)
    usable = present & also & (divisors != 0)
    with np.errstate(invalid="ignore"):  # a difference of angles that exceeds every double
        remainders = np.fmod(numbers, np.where(usable, divisors, 1)) + 0
    return pa.array(remainders, mask=np.broadcast_to(~usable, remainders.shape))


def _with_mask(side: Datum) -> tuple[np.ndarray, np.ndarray]:
    """Values with something harmless where they are null, and where they are not null."""
    if isinstance(side, pa.Scalar):
        value = side.as_py()
        return np.asarray(0 if value is None else value), np.asarray(value is not None)
    if side.null_count == 0:
        return side.to_numpy(), np.asarray(True)
    harmless = pc.fill_null(side, pa.scalar(0, side.type)).to_numpy()
    return harmless, side.is_valid().to_numpy(zero_copy_only=False)
