"""Cheap upper bounds of the probability of chains."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def mass_left(lo, hi, rows, lower, cum_at, cum):
    """Per chain, how probable it is that each of its events happens at one of the ticks that it has left."""
    n, k = lo.shape
    most = np.ones(n)
    for m in range(n):
        for j in range(k):
            x = rows[m, j]
            begin = cum_at[x] - lower[x]
            most[m] *= cum[begin + hi[m, j] + 1] - cum[begin + lo[m, j]]
    return most
