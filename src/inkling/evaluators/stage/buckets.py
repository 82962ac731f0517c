"""Which bucket a key belongs to: state is kept per bucket of keys, because keys are many and small."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.evaluators.hashes import row_hashes


def buckets_of(rows: pa.Table, key: Sequence[str], n_buckets: int) -> NDArray[np.int64]:
    """The bucket of each row by the columns of its key; without a key all rows share one."""
    if not key or n_buckets == 1:
        return np.zeros(len(rows), np.int64)
    return (row_hashes((rows[name] for name in key), len(rows)) % np.uint64(n_buckets)).astype(np.int64)
