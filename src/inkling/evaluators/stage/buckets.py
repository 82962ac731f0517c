"""Which bucket a key belongs to: state is kept per bucket of keys, because keys are many and small."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from inkling.evaluators.stage import rows as r
from inkling.kernels.hashing import hashed_bytes, mixed

_NULL = np.uint64(0x9E3779B97F4A7C15)


def buckets_of(rows: pa.Table, n_key_columns: int, n_buckets: int) -> NDArray[np.int64]:
    """The bucket of each stage row; without a key all rows share one."""
    if not n_key_columns or n_buckets == 1:
        return np.zeros(len(rows), np.int64)
    code = np.zeros(len(rows), np.uint64)
    for place in range(n_key_columns):
        code = mixed(code, _hashes(rows[r.key_name(place)].combine_chunks()))
    return (code % np.uint64(n_buckets)).astype(np.int64)


def _hashes(column: pa.Array) -> NDArray[np.uint64]:
    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        found = _hashed_texts(column)
    elif pa.types.is_floating(kind):
        found = (pc.fill_null(column, 0.0).to_numpy(zero_copy_only=False) + 0.0).view(np.uint64)  # -0.0 is 0.0
    else:
        whole = pc.fill_null(column.cast(pa.int64()), 0)
        found = whole.to_numpy(zero_copy_only=False).view(np.uint64)
    if column.null_count:
        found = np.where(column.is_null().to_numpy(zero_copy_only=False), _NULL, found)
    return found


def _hashed_texts(column: pa.Array) -> NDArray[np.uint64]:
    _, offsets, data = column.buffers()
    width = np.int64 if pa.types.is_large_string(column.type) else np.int32
    starts = np.frombuffer(offsets, width)[column.offset : column.offset + len(column) + 1]
    octets = np.frombuffer(data, np.uint8) if data is not None and data.size else np.zeros(1, np.uint8)
    return hashed_bytes(starts, octets)
