"""When a result started and ended: how its probability is spread over times."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from inkling.model.batch import Ints

MOST_BINS = 24


@dataclass(frozen=True, slots=True)
class Bin:
    """Times from `low` to `high`, both included, and the share of the probability that falls there."""

    low: int
    high: int
    share: float


def spread_of(times: Ints, weights: np.ndarray) -> tuple[Bin, ...]:
    """The distribution of times given that the result holds; moments where there are few, equal stretches otherwise.

    >>> spread_of(np.array([3, 5, 3]), np.array([0.125, 0.125, 0.25]))
    (Bin(low=3, high=3, share=0.75), Bin(low=5, high=5, share=0.25))
    """
    total = float(weights.sum())
    if not len(times) or total <= 0:
        return ()
    moments, place = np.unique(times, return_inverse=True)
    if len(moments) <= MOST_BINS:
        shares = np.bincount(place, weights, minlength=len(moments)) / total
        return tuple(Bin(int(one), int(one), float(share)) for one, share in zip(moments, shares, strict=True))
    first, last = int(moments[0]), int(moments[-1])
    step = -(-(last - first + 1) // MOST_BINS)
    shares = np.bincount((times - first) // step, weights, minlength=MOST_BINS) / total
    lows = range(first, last + 1, step)
    return tuple(Bin(low, min(low + step - 1, last), float(share)) for low, share in zip(lows, shares, strict=False))
