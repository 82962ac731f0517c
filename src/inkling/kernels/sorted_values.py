"""Where a value belongs among sorted ones."""

from __future__ import annotations

from numba import njit


@njit(cache=True)
def first_from(values, value, lo, hi):
    """First place of lo … hi whose value is not below the given one."""
    while lo < hi:
        middle = (lo + hi) // 2
        if values[middle] < value:
            lo = middle + 1
        else:
            hi = middle
    return lo
