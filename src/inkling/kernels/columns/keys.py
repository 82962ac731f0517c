"""A table of whole numbers by order of first appearance: looked up and filled in one pass over rows."""

import numpy as np
from numba import njit

from inkling.kernels.uncompiled import wraps_around


@wraps_around
@njit(cache=True, nogil=True)
def _home(key, mask):
    h = np.uint64(key)
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.int64((h ^ (h >> np.uint64(31))) & np.uint64(mask))


@njit(cache=True, nogil=True)
def number_keys(slots, pool, n_known, wanted, seen, turn, local, numbers):
    """Number the keys of rows; the known keys afterwards, and the distinct keys of these rows.

    `slots` is a hash table of numbers plus one, at most half full afterwards; `pool` has the keys by number. `local`
    becomes the row's key among those of these rows, and `numbers` the numbers of those. `seen` holds for each number
    the last turn in which a row had it, times two to the 32nd, plus its place among the keys of that turn.
    """
    mask = slots.shape[0] - 1
    n_local = 0
    for row in range(wanted.shape[0]):
        key = wanted[row]
        at = _home(key, mask)
        while slots[at] != 0 and pool[slots[at] - 1] != key:
            at = (at + 1) & mask
        if slots[at] == 0:
            pool[n_known] = key
            n_known += 1
            slots[at] = n_known
        number = slots[at] - 1
        if seen[number] >> 32 != turn:
            seen[number] = (turn << 32) + n_local
            numbers[n_local] = number
            n_local += 1
        local[row] = seen[number] & 0xFFFFFFFF
    return n_known, n_local


@njit(cache=True, nogil=True)
def fill_slots(slots, pool, n_known):
    """Enter the known keys into an empty table."""
    mask = slots.shape[0] - 1
    for number in range(n_known):
        at = _home(pool[number], mask)
        while slots[at] != 0:
            at = (at + 1) & mask
        slots[at] = number + 1
