"""Settings of sampling: when worlds are enumerated, how many are sampled, and confidence intervals of estimates.

Intervals are those of Clopper and Pearson (1934): for k hits in n worlds, quantiles of beta distributions. Their
coverage is at least 1 - delta for every probability.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from inkling.logical.plan import EventPlan

MOST_COUNTED = 1_000_000
"""The largest `exact_up_to`: all worlds of a component are held in memory."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """The settings of a run over uncertain streams.

    Parts of the data with at most `exact_up_to` worlds are enumerated. The others are sampled, in so many worlds that
    each probability is within ± `epsilon` with confidence 1 - `delta`. Results that are undecided about their
    CONFIDENCE are sampled further, in up to `budget` times as many worlds. Equal seeds give equal answers.
    """

    epsilon: float = 0.01
    delta: float = 0.01
    seed: int = 0
    exact_up_to: int = 1024
    budget: int = 4

    def __post_init__(self) -> None:
        for name in ("epsilon", "delta"):
            if not 0 < getattr(self, name) < 1:
                raise ValueError(f"expected {name} to lie between 0 and 1, found {getattr(self, name)}")
        if not 0 <= self.exact_up_to <= MOST_COUNTED:
            raise ValueError(f"expected exact_up_to to lie between 0 and {MOST_COUNTED:,}, found {self.exact_up_to}")
        if self.budget < 1:
            raise ValueError(f"expected budget to be at least 1, found {self.budget}")
        if not 0 <= self.seed < 2**64:
            raise ValueError(f"expected seed to lie between 0 and 2**64 - 1, found {self.seed}")

    @property
    def n_worlds(self) -> int:
        """The number of worlds of one sample."""
        return worlds_needed(self.epsilon, self.delta)

    @property
    def once(self) -> Sampling:
        """The settings without a second sample, as on a stream."""
        return replace(self, budget=1)

    def plan(self, events: Iterable[EventPlan]) -> tuple[int, float]:
        """The number of worlds of the first sample, and the delta of each sample.

        Events with CONFIDENCE may be sampled twice; then each sample gets half of `delta`.
        """
        n_samples = 2 if self.budget > 1 and any(event.confidence is not None for event in events) else 1
        return worlds_needed(self.epsilon, self.delta / n_samples), self.delta / n_samples


Shares = NDArray[np.float64]


def interval(n_hits: NDArray[np.int64], n_worlds: int, delta: float) -> tuple[Shares, Shares]:
    """Lower and upper bounds of the probability with confidence 1 - delta, per number of hits (Clopper and Pearson)."""
    from scipy.special import betaincinv  # imported late: a large library that exact answers do not need

    hits = np.asarray(n_hits, np.float64)
    missed = n_worlds - hits
    with np.errstate(invalid="ignore"):
        low = np.where(hits > 0, betaincinv(np.maximum(hits, 0.5), missed + 1, delta / 2), 0.0)
        high = np.where(missed > 0, betaincinv(hits + 1, np.maximum(missed, 0.5), 1 - delta / 2), 1.0)
    return low, high


def half_width(n_hits: NDArray[np.int64], n_worlds: int, delta: float) -> Shares:
    """The larger distance from the share of hits to its bounds."""
    low, high = interval(n_hits, n_worlds, delta)
    share = np.asarray(n_hits, np.float64) / n_worlds
    return np.maximum(share - low, high - share)


@lru_cache(maxsize=64)
def worlds_needed(epsilon: float, delta: float) -> int:
    """The least multiple of 64 worlds for which every estimate is within ± epsilon with confidence 1 - delta.

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
