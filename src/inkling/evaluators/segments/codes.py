"""Numbers that stand for values: equal values have equal numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.model.batch import Ints

NOTHING = -1
"""Stands for null."""


def codes_of(column: pa.Array) -> Ints:
    """A number per value, `NOTHING` for null."""
    if pa.types.is_floating(column.type):
        column = pc.add(column, 0.0)  # so that there is one zero
    codes = pc.fill_null(column.dictionary_encode().indices, NOTHING)
    return np.asarray(codes.to_numpy(zero_copy_only=False), dtype=np.int64)


def numbered(columns: Sequence[Ints]) -> tuple[Ints, int]:
    """Numbers 0, 1, … of the distinct rows of some columns, in the order in which they first appear."""
    numbers, n_distinct = _dense(columns[0])
    for column in columns[1:]:
        more, n_more = _dense(column)
        numbers, n_distinct = _dense(numbers * max(1, n_more) + more)
    return numbers, n_distinct


def _dense(column: Ints) -> tuple[Ints, int]:
    encoded = pa.array(column).dictionary_encode()
    return np.asarray(encoded.indices.to_numpy(), dtype=np.int64), len(encoded.dictionary)
