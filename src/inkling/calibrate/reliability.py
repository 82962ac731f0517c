"""The reliability curve: of all results given about the same probability, which share happened?

With mean probability x and share y per bin, a calibrated program lies on the line y = x. Each share has a
Clopper-Pearson interval: however small the bin, it covers the true share at least as often as it promises.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.stats import beta

from inkling.calibrate.pairs import Pairs

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

    @property
    def interval(self) -> tuple[float, float]:
        """Where the true share lies, with 95 % confidence."""
        return clopper_pearson(self.n_happened, self.n)


def clopper_pearson(n_happened: int, n: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """The shares under which so many, or so few, are not too unlikely.

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
    edges = [place / n_bins for place in range(n_bins + 1)]
    places = np.clip(np.searchsorted(edges, pairs.prob, side="right") - 1, 0, n_bins - 1)
    bins = []
    for place in range(n_bins):
        inside = places == place
        if inside.any():
            prob, happened = pairs.prob[inside], pairs.happened[inside]
            bins.append(Bin(edges[place], edges[place + 1], prob.size, int(happened.sum()), float(prob.mean())))
    return tuple(bins)


def brier_score(pairs: Pairs) -> float:
    """Mean squared distance between probability and outcome."""
    return float(np.mean((pairs.prob - pairs.happened) ** 2))


def brier_skill(pairs: Pairs) -> float | None:
    """How much of the Brier score of the base rate is gone: 1 is perfect, 0 no better than the base rate.

    None when all or none happened, because the base rate then has no score to improve.
    """
    base_rate = float(pairs.happened.mean())
    reference = base_rate * (1 - base_rate)
    return None if reference == 0 else 1 - brier_score(pairs) / reference


def expected_calibration_error(bins: Iterable[Bin]) -> float:
    """Mean distance of the reliability curve from the diagonal, each bin counting as many as it holds."""
    listed = list(bins)
    distance = sum(one.n * abs(one.share - one.mean_probability) for one in listed)
    return distance / sum(one.n for one in listed)


def log_loss(pairs: Pairs) -> float | None:
    """Mean surprise in nats; None when something happened that was given probability 0, or did not that was given 1."""
    said = np.where(pairs.happened, pairs.prob, 1 - pairs.prob)
    return None if (said == 0).any() else float(-np.log(said).mean())
