"""Intervals beside the detections they speak of: how wide, how far off, and which detections nobody saw coming.

A forecast is judged by the next detection of its key; one that waits at the end of the key is not judged.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from inkling.scoring.outcomes import Outcomes

CERTAIN = 0.99
"""The confidence with which a certain interval is scored, so that missing does not cost everything."""


@dataclass(frozen=True, slots=True)
class IntervalScores:
    """Sums over forecasts that were followed by a detection; means of nothing are None."""

    n: int
    n_correct: int
    total_spread: int
    total_score: float
    total_distance: int  # from the beginning of the interval to the detection, of correct ones
    total_deviation: int
    total_squared_deviation: int
    total_relative_deviation: float
    n_detections: int
    n_expected: int  # detections that some forecast spoke of
    n_met: int  # detections that some forecast was right about
    mean_chance: float | None = None  # of forecasts, as they state it

    @property
    def coverage(self) -> float | None:
        """The share of intervals that hold the next detection, which stated chances should agree with."""
        return _mean(self.n_correct, self.n)

    @property
    def mean_spread(self) -> float | None:
        return _mean(self.total_spread, self.n)

    @property
    def interval_score(self) -> float | None:
        """The spread, plus 2 / (1 − chance) for each event that the detection lies outside; less is better."""
        return _mean(self.total_score, self.n)

    @property
    def rmse(self) -> float | None:
        """Root of the mean squared distance from the interval; inside it is 0."""
        mean = _mean(self.total_squared_deviation, self.n)
        return None if mean is None else sqrt(mean)

    @property
    def mae(self) -> float | None:
        return _mean(self.total_deviation, self.n)

    @property
    def mare(self) -> float | None:
        """Mean distance from the interval relative to the number of the event that is the detection."""
        return _mean(self.total_relative_deviation, self.n)

    @property
    def n_missed(self) -> int:
        """Detections that no forecast spoke of."""
        return self.n_detections - self.n_expected

    @property
    def loss(self) -> float | None:
        """The share of detections that no forecast was right about."""
        return _mean(self.n_detections - self.n_met, self.n_detections)


def interval_scores(outcomes: Outcomes) -> IntervalScores:
    """Scores of all intervals whose key has a detection after them."""
    rows = outcomes.said & (outcomes.coming >= 0)
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
