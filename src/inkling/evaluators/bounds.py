"""How far a share of sampled worlds can be from the probability: the exact bounds of Clopper and Pearson."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Shares = NDArray[np.float64]


def interval(n_hits: NDArray[np.int64], n_worlds: int, delta: float) -> tuple[Shares, Shares]:
    """Bounds that hold with confidence 1 - delta whatever the probability is, per number of hits."""
    from scipy.special import betaincinv  # only now: a large library, which exact answers do not need

    hits = np.asarray(n_hits, np.float64)
    missed = n_worlds - hits
    with np.errstate(invalid="ignore"):
        low = np.where(hits > 0, betaincinv(np.maximum(hits, 0.5), missed + 1, delta / 2), 0.0)
        high = np.where(missed > 0, betaincinv(hits + 1, np.maximum(missed, 0.5), 1 - delta / 2), 1.0)
    return low, high


def half_width(n_hits: NDArray[np.int64], n_worlds: int, delta: float) -> Shares:
    """The larger of the distances from the share of hits to its bounds."""
    low, high = interval(n_hits, n_worlds, delta)
    share = np.asarray(n_hits, np.float64) / n_worlds
    return np.maximum(share - low, high - share)


@lru_cache(maxsize=64)
def worlds_needed(epsilon: float, delta: float) -> int:
    """The least multiple of 64 worlds after which every share is known to ± epsilon with confidence 1 - delta.

    >>> worlds_needed(0.05, 0.05)
    448
    """
    low, high = 0, 1
    while not _enough(high * 64, epsilon, delta):
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _enough(middle * 64, epsilon, delta) else (middle, high)
    return high * 64


def _enough(n_worlds: int, epsilon: float, delta: float) -> bool:
    around_the_middle = np.arange(max(0, n_worlds // 2 - 2), n_worlds // 2 + 1)
    return bool(half_width(around_the_middle, n_worlds, delta).max() <= epsilon)
