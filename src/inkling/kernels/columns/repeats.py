"""Repeated values: whether a column rises, and which rows share their hash with another row, in linear time."""

import numpy as np
from numba import njit

STRICTLY = 2

BUCKET = 1 << 14
"""Rows of a bucket, more or less: its hash table fits into the cache of a processor."""


@njit(cache=True, nogil=True)
def rises(values):
    """STRICTLY if each value is greater than the one before, 1 if none is less, else 0."""
    found = STRICTLY
    for i in range(1, values.shape[0]):
        if values[i] <= values[i - 1]:
            if values[i] < values[i - 1]:
                return 0
            found = 1
    return found


@njit(cache=True, nogil=True)
def beside_equal(values):
    """Whether each value of a column that does not fall equals the one before or after it."""
    n = values.shape[0]
    found = np.zeros(n, np.bool_)
    for i in range(1, n):
        if values[i] == values[i - 1]:
            found[i - 1] = found[i] = True
    return found


@njit(cache=True, nogil=True)
def _bucket(value, bits):
    """The highest bits of a hash; shifting by all 64 is not defined."""
    return np.int64((value >> np.uint64(1)) >> np.uint64(63 - bits))


@njit(cache=True, nogil=True)
def share_hash(hashes):
    """Whether each hash occurs in another row.

    Rows are distributed over buckets by the high bits of their hashes, and looked up in a hash table per bucket.
    """
    n = hashes.shape[0]
    found = np.zeros(n, np.bool_)
    bits = 0
    while (n >> bits) > BUCKET:
        bits += 1
    n_buckets = 1 << bits
    begins = np.zeros(n_buckets + 1, np.int64)
    for i in range(n):
        begins[_bucket(hashes[i], bits) + 1] += 1
    for bucket in range(n_buckets):
        begins[bucket + 1] += begins[bucket]
    filled = begins[:-1].copy()
    order = np.empty(n, np.int64)
    for i in range(n):
        bucket = _bucket(hashes[i], bits)
        order[filled[bucket]] = i
        filled[bucket] += 1
    most = 0
    for bucket in range(n_buckets):
        most = max(most, begins[bucket + 1] - begins[bucket])
    size = 1
    while size < 2 * most + 2:
        size *= 2
    slots = np.zeros(size, np.int64)
    for bucket in range(n_buckets):
        n_here = begins[bucket + 1] - begins[bucket]
        size = 1
        while size < 2 * n_here + 2:
            size *= 2
        slots[:size] = 0
        mask = np.uint64(size - 1)
        for place in range(begins[bucket], begins[bucket + 1]):
            row = order[place]
            at = np.int64(hashes[row] & mask)
            while slots[at] != 0 and hashes[slots[at] - 1] != hashes[row]:
                at = (at + 1) & (size - 1)
            if slots[at] == 0:
                slots[at] = row + 1
            else:
                found[row] = found[slots[at] - 1] = True
    return found
