"""A column, or the one value that stands in all its rows; nulls, truth and finiteness of both."""

from __future__ import annotations

from typing import TypeAlias

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
