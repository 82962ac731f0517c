"""Scores of forecast intervals: spread, distance from the next detection, and missed detections.

A forecast is scored against the next detection of its key. Forecasts without a later detection are not scored.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from inkling.forecasting.scoring.outcomes import Outcomes

CERTAIN = 0.99
"""The confidence with which a certain interval is scored, so that a miss has a finite cost."""


@dataclass(frozen=True, slots=True)
class IntervalScores:
    """Sums over forecasts that were followed by a detection; undefined means are None."""

    n: int
    n_correct: int
    total_spread: int
    total_score: float
    total_distance: int  # from the beginning of the interval to the detection, of correct ones
    total_deviation: int
    total_squared_deviation: int
    total_relative_deviation: float
    n_detections: int
    n_expected: int  # detections with at least one forecast
    n_met: int  # detections with at least one correct forecast
    mean_chance: float | None = None  # stated by the forecasts

    @property
    def coverage(self) -> float | None:
        """The share of intervals that contain the next detection; it should equal the mean stated chance."""
        return _mean(self.n_correct, self.n)

    @property
    def mean_spread(self) -> float | None:
        return _mean(self.total_spread, self.n)

    @property
    def interval_score(self) -> float | None:
        """The negatively oriented interval score (Gneiting and Raftery 2007): spread + 2 / (1 − chance) · deviation."""
        return _mean(self.total_score, self.n)

    @property
    def rmse(self) -> float | None:
        """The root mean squared deviation; the deviation is the distance from the interval, 0 inside it."""
        mean = _mean(self.total_squared_deviation, self.n)
        return None if mean is None else sqrt(mean)

    @property
    def mae(self) -> float | None:
        return _mean(self.total_deviation, self.n)

    @property
    def mare(self) -> float | None:
        """The mean deviation relative to the event number of the detection."""
        return _mean(self.total_relative_deviation, self.n)

    @property
    def n_missed(self) -> int:
        """Detections without a forecast."""
        return self.n_detections - self.n_expected

    @property
    def loss(self) -> float | None:
        """The share of detections without a correct forecast."""
        return _mean(self.n_detections - self.n_met, self.n_detections)


def interval_scores(outcomes: Outcomes) -> IntervalScores:
    """Scores of all intervals that are followed by a detection of the same key."""
    rows = outcomes.has_forecast & (outcomes.coming >= 0)
    wait, first, last = (column[rows] for column in (outcomes.wait, outcomes.first, outcomes.last))
    target, chance = outcomes.coming[rows], outcomes.chance[rows]
    deviation = np.maximum(0, np.maximum(first - wait, wait - last))
    correct = deviation == 0
    spread = last - first
    open_chance = 1 - np.where(chance >= 1, CERTAIN, chance)
    return IntervalScores(
        n=len(wait),
        n_correct=int(correct.sum()),
        total_spread=int(spread.sum()),
        total_score=float((spread + 2 / open_chance * deviation).sum()),
        total_distance=int((wait - first)[correct].sum()),
        total_deviation=int(deviation.sum()),
        total_squared_deviation=int((deviation**2).sum()),
        total_relative_deviation=float((deviation / outcomes.number[target]).sum()),
        n_detections=int((outcomes.detected & outcomes.judged).sum()),
        n_expected=len(np.unique(target)),
        n_met=len(np.unique(target[correct])),
        mean_chance=float(chance.mean()) if len(chance) else None,
    )


def _mean(total: float, n: int) -> float | None:
    return total / n if n else None
