"""The reliability curve: the share of results that happened, by stated probability.

With mean probability x and share y per bin, calibrated probabilities lie on the line y = x. Each share has an interval
of Clopper and Pearson (1934), whose coverage is at least the stated one even for small bins.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.special import xlogy
from scipy.stats import beta

from inkling.forecasting.calibration.pairs import Pairs

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Bin:
    """The results whose probability lies in `[lo, hi)`; the last bin also holds 1."""

    lo: float
    hi: float
    n: int
    n_happened: int
    mean_probability: float

    @property
    def share(self) -> float:
        return self.n_happened / self.n

    def describe(self, outcome: str) -> str:
        """The bin in words; the outcome is `happened`, or `came true` of forecasts."""
        lo, hi = self.interval
        return (
            f"mean probability {self.mean_probability:.3f}, {outcome} {self.share:.3f} "
            f"({self.n_happened:,} of {self.n:,}), 95 % interval {lo:.3f} to {hi:.3f}"
        )

    @property
    def interval(self) -> tuple[float, float]:
        """Where the true share lies, with 95 % confidence."""
        return clopper_pearson(self.n_happened, self.n)


def clopper_pearson(n_happened: int, n: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """The exact confidence interval of a binomial proportion.

    >>> lo, hi = clopper_pearson(0, 10)
    >>> lo, round(hi, 4)  # 1 - 0.025 ** (1 / 10)
    (0.0, 0.3085)
    """
    tail = (1 - confidence) / 2
    lo = float(beta.ppf(tail, n_happened, n - n_happened + 1)) if n_happened > 0 else 0.0
    hi = float(beta.ppf(1 - tail, n_happened + 1, n - n_happened)) if n_happened < n else 1.0
    return lo, hi


def reliability(pairs: Pairs, n_bins: int) -> tuple[Bin, ...]:
    """The bins that are not empty, from low to high."""
    if n_bins < 1:
        raise ValueError(f"expected at least one bin, found bins={n_bins}")
    edges = np.arange(n_bins + 1) / n_bins
    place = np.clip(np.searchsorted(edges, pairs.prob, side="right") - 1, 0, n_bins - 1)
    n, n_happened, mass = (
        np.bincount(place, weights, n_bins) for weights in (pairs.n, pairs.n_happened, pairs.n * pairs.prob)
    )
    return tuple(
        Bin(float(edges[at]), float(edges[at + 1]), int(n[at]), int(n_happened[at]), float(mass[at] / n[at]))
        for at in np.flatnonzero(n).tolist()
    )


def brier_score(pairs: Pairs) -> float:
    """Mean squared distance between probability and outcome (Brier 1950)."""
    squares = pairs.n_happened * (1 - pairs.prob) ** 2 + (pairs.n - pairs.n_happened) * pairs.prob**2
    return float(squares.sum() / pairs.n.sum())


def brier_skill(pairs: Pairs) -> float | None:
    """The improvement over the Brier score of the base rate: 1 is perfect, 0 no better than the base rate.

    None when all or none happened, because the base rate then has no score to improve.
    """
    reference = pairs.base_rate * (1 - pairs.base_rate)
    return None if reference == 0 else 1 - brier_score(pairs) / reference


def expected_calibration_error(bins: Iterable[Bin]) -> float:
    """The mean distance of the reliability curve from the diagonal, weighted by the size of bins."""
    listed = list(bins)
    distance = sum(one.n * abs(one.share - one.mean_probability) for one in listed)
    return distance / sum(one.n for one in listed)


def log_loss(pairs: Pairs) -> float | None:
    """Mean negative logarithm of the probability of the outcome, in nats; None when an outcome had probability 0."""
    n_failed = pairs.n - pairs.n_happened
    if (((pairs.prob == 0) & (pairs.n_happened > 0)) | ((pairs.prob == 1) & (n_failed > 0))).any():
        return None
    surprise = -xlogy(pairs.n_happened, pairs.prob) - xlogy(n_failed, 1 - pairs.prob)
    return float(surprise.sum() / pairs.n.sum())
