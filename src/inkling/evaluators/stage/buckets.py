"""Which bucket a key belongs to: state is kept per bucket of keys, because keys are many and small."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.evaluators.stage.owners import owners_of


def buckets_of(rows: pa.Table, n_key_columns: int, n_buckets: int) -> NDArray[np.int64]:
    """The bucket of each stage row; without a key all rows share one."""
    if not n_key_columns or n_buckets == 1:
        return np.zeros(len(rows), np.int64)
    return (owners_of(rows, n_key_columns) % np.uint64(n_buckets)).astype(np.int64)
