"""Chains that happen whatever the ticks of their events and of all others are."""

from __future__ import annotations

import numpy as np
from numba import njit

from inkling.kernels.chain_bounds import LEADING, TRAILING


@njit(cache=True, nogil=True)
def are_certain(window, lo, hi, rows, offsets, others, regions, lower, upper, cum_at, cum):
    """Whether the events of each chain must follow each other in the window, with no other where none may be.

    `lo` and `hi` are the ticks at which each of them can happen in the chain.
    """
    n, k = rows.shape
    certain = np.ones(n, np.bool_)
    for m in range(n):
        for j in range(k):
            if lo[m, j] > lower[rows[m, j]] or hi[m, j] < upper[rows[m, j]]:
                certain[m] = False
            if j > 0 and upper[rows[m, j - 1]] >= lower[rows[m, j]]:
                certain[m] = False
        begin, end = rows[m, 0], rows[m, k - 1]
        if k > 1 and window > 0 and upper[end] - lower[begin] >= window:
            certain[m] = False
        for i in range(offsets[m], offsets[m + 1]):
            if not certain[m]:
                break
            where, x = regions[i], others[i]
            for j in range(1, k):
                if where >> j & 1 and _can_be(
                    x, lower[rows[m, j - 1]] + 1, upper[rows[m, j]] - 1, lower, upper, cum_at, cum
                ):
                    certain[m] = False
            if where >> LEADING & 1:
                if k == 1:
                    for t in range(lower[begin], upper[begin] + 1):
                        if _can_be(begin, t, t, lower, upper, cum_at, cum) and _can_be(
                            x, t - window + 1, t - 1, lower, upper, cum_at, cum
                        ):
                            certain[m] = False
                elif _can_be(x, lower[end] - window + 1, upper[begin] - 1, lower, upper, cum_at, cum):
                    certain[m] = False
            if where >> TRAILING & 1:
                if k == 1:
                    for t in range(lower[begin], upper[begin] + 1):
                        if _can_be(begin, t, t, lower, upper, cum_at, cum) and _can_be(
                            x, t + 1, t + window - 1, lower, upper, cum_at, cum
                        ):
                            certain[m] = False
                elif _can_be(x, lower[end] + 1, upper[begin] + window - 1, lower, upper, cum_at, cum):
                    certain[m] = False
    return certain


@njit(cache=True, nogil=True)
def _can_be(x, a, b, lower, upper, cum_at, cum):
    a, b = max(a, lower[x]), min(b, upper[x])
    return a <= b and cum[cum_at[x] + b - lower[x] + 1] > cum[cum_at[x] + a - lower[x]]
