"""`+ - * / %` over columns: integers that leave 64 bits, zero divisors and infinite results become null."""

from __future__ import annotations

import operator
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.logical.vectorized.datum import ZERO, Datum, as_double, finite, is_double

LARGEST = 2**63 - 1
SMALLEST = -(2**63)

_EXACT: dict[str, Callable[[int, int], int]] = {"+": operator.add, "-": operator.sub, "*": operator.mul}
_CHECKED = {"+": pc.add_checked, "-": pc.subtract_checked, "*": pc.multiply_checked}
_DOUBLES = {"+": pc.add, "-": pc.subtract, "*": pc.multiply}


def combine(symbol: str, left: Datum, right: Datum) -> Datum:
    """`left symbol right`, as doubles when either side is one or the symbol is `/`."""
    if symbol == "/":
        return _quotient(as_double(left), as_double(right))
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


def _quotient(left: Datum, right: Datum) -> Datum:
    return finite(pc.divide(left, right))


def _remainder(left: Datum, right: Datum) -> Datum:
    """Remainder with the sign of the dividend."""
    if isinstance(left, pa.Scalar) and isinstance(right, pa.Scalar):
        return _remainder(pa.repeat(left, 1), right)[0]
    (numbers, present), (divisors, also) = _with_mask(left), _with_mask(right)
    usable = present & also & (divisors != 0)
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
