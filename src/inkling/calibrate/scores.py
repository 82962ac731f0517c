"""Scores of probabilities against the truth; less is better, except for skill."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from inkling.calibrate.pairs import Pairs
from inkling.calibrate.reliability import Bin


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
