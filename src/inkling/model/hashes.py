"""Hashes of 64 bits of the values of columns, the same in every process.

Values that are equal as keys (`model.keys`) have the same hash: -0.0 and 0.0, all NaN, all nulls.
"""

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from inkling.kernels.columns.hashing import hashed_bytes, mixed

Hashes = NDArray[np.uint64]

_NULL = np.uint64(0x9E3779B97F4A7C15)


def combined(*columns: Hashes) -> Hashes:
    """One hash per row of several hashes; their order matters."""
    code = np.zeros(len(columns[0]), np.uint64)
    for column in columns:
        code = mixed(code, column)
    return code


def row_hashes(columns: Iterable[pa.Array | pa.ChunkedArray], n_rows: int) -> Hashes:
    """The hash of the values of each row in some columns; without columns, all rows have the same hash."""
    code = np.zeros(n_rows, np.uint64)
    for column in columns:
        code = mixed(code, hashes_of(column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column))
    return code


def hashes_of(column: pa.Array) -> Hashes:
    """One hash per value; integers are their own hashes."""
    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        found = _hashed_texts(column)
    elif pa.types.is_floating(kind):
        known = pc.fill_null(column, 0.0) if column.null_count else column
        numbers = known.to_numpy(zero_copy_only=False) + 0.0  # -0.0 is 0.0
        if np.isnan(numbers.min(initial=0.0)):
            numbers[np.isnan(numbers)] = np.nan
        found = numbers.view(np.uint64)
    else:
        whole = column if column.type == pa.int64() else column.cast(pa.int64())
        whole = pc.fill_null(whole, 0) if column.null_count else whole
        found = whole.to_numpy(zero_copy_only=False).view(np.uint64)
    if column.null_count:
        found = np.where(column.is_null().to_numpy(zero_copy_only=False), _NULL, found)
    return found


def _hashed_texts(column: pa.Array) -> Hashes:
    _, offsets, data = column.buffers()
    starts = np.frombuffer(offsets, np.int32)[column.offset : column.offset + len(column) + 1]
    octets = np.frombuffer(data, np.uint8) if data is not None and data.size else np.zeros(1, np.uint8)
    found: Hashes = hashed_bytes(starts, octets)
    return found
