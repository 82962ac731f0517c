"""Rows numbered by what they share: equal values have equal numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Numbers = NDArray[np.int64]


def numbered(columns: Sequence[pa.ChunkedArray | pa.Array | Numbers], n_rows: int) -> Numbers:
    """A number from 0 per distinct combination of values, in no particular order; null is a value."""
    found = np.zeros(n_rows, np.int64)
    for column in columns:
        codes = _codes(column)
        found = np.unique(found * (codes.max(initial=0) + 1) + codes, return_inverse=True)[1]
    return found


def _codes(column: pa.ChunkedArray | pa.Array | Numbers) -> Numbers:
    if isinstance(column, np.ndarray):
        return np.unique(column, return_inverse=True)[1].astype(np.int64)
    if pa.types.is_floating(column.type):
        column = pc.add(column, 0.0)  # there is one zero, whatever its sign
    encoded = pa.chunked_array([column]) if isinstance(column, pa.Array) else column
    codes = encoded.combine_chunks().dictionary_encode(null_encoding="encode").indices
    return np.asarray(codes.to_numpy(zero_copy_only=False), np.int64)
