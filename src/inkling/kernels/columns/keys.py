"""A hash table that numbers integer keys by first appearance, looked up and filled in one pass over rows."""

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
    """Numbers the keys of rows; returns how many keys are known now, and how many distinct ones these rows have.

    `slots` is a hash table of numbers plus one, at most half full at the end; `pool` has the keys by number. `local`
    gets the rank of each row's key among the keys of these rows, `numbers` the numbers of those keys. `seen[number]` is
    the last turn with this key, times 2**32, plus its rank in that turn.
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
    """Inserts the known keys into an empty table."""
    mask = slots.shape[0] - 1
    for number in range(n_known):
        at = _home(pool[number], mask)
        while slots[at] != 0:
            at = (at + 1) & mask
        slots[at] = number + 1
