"""Rows numbered by what they share: equal values have equal numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Numbers = NDArray[np.int64]


def numbered(columns: Sequence[pa.ChunkedArray | pa.Array | Numbers], n_rows: int) -> Numbers:
    """A number from 0 per distinct combination of values, in no particular order; null is a value.

    Arrays of NumPy are taken for numbers without great gaps already.
    """
    found = np.zeros(n_rows, np.int64)
    for place, column in enumerate(columns):
        codes = column - column.min(initial=0) if isinstance(column, np.ndarray) else _codes(column)
        found = codes if place == 0 else _codes(pa.array(found * (codes.max(initial=0) + 1) + codes))
    return found


def _codes(column: pa.ChunkedArray | pa.Array) -> Numbers:
    if pa.types.is_floating(column.type):
        column = pc.add(column, 0.0)  # there is one zero, whatever its sign
    encoded = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    codes = encoded.dictionary_encode(null_encoding="encode").indices
    return np.asarray(codes.to_numpy(zero_copy_only=False), np.int64)
