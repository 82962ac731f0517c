"""Hashes of keys, of values of uncertain streams and of lists, the same in every process; see `model.hashes`."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.kernels.columns.hashing import hashed_lists
from inkling.model.batch import Ints
from inkling.model.hashes import Hashes, combined, hashes_of, row_hashes
from inkling.model.schema import StreamSchema


def key_hashes(schema: StreamSchema, rows: pa.Table) -> Hashes:
    """The hash of the KEY of each row of a stream, mixed once more; draws of possible worlds depend on it."""
    return combined(row_hashes((rows[name] for name in schema.key), len(rows)))


def value_hashes(rows: pa.Table, names: Sequence[str]) -> Hashes:
    """The hash of some columns of each row, never 0, which stands for no event."""
    found = combined(np.ones(len(rows), np.uint64), *(hashes_of(rows[name].combine_chunks()) for name in names))
    found[found == 0] = 1
    return found


def given_hashes(rows: pa.Table, names: Sequence[str]) -> Hashes:
    """The hash of the previous value of each row; 0 where all columns are null, or there are none."""
    if not names:
        return np.zeros(len(rows), np.uint64)
    nothing = np.logical_and.reduce([rows[name].is_null().to_numpy() for name in names])
    return np.where(nothing, np.uint64(0), value_hashes(rows, names))


def labels_of(column: pa.Array) -> Ints:
    """Nonnegative numbers for equality conditions, equal for equal values in every process; -1 for null.

    Unlike in a key, null does not equal null in a condition.
    """
    labels = (combined(hashes_of(column)) >> np.uint64(1)).astype(np.int64)  # mixed, so that any bit can be left out
    return np.where(column.is_null().to_numpy(zero_copy_only=False), -1, labels) if column.null_count else labels


def hashes_of_lists(offsets: NDArray[np.int64], items: Hashes) -> Hashes:
    """One hash per list, of the hashes of its items and their order."""
    return hashed_lists(offsets, items)
