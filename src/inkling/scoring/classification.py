"""Forecasts as yes or no: what came of them at one threshold, and at all."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

TOLERANCE = 1e-12
"""A chance that misses a threshold by no more than this reaches it: sums of probabilities are rounded."""


@dataclass(frozen=True, slots=True)
class Confusion:
    """Yes and no, right and wrong. A ratio of nothing is None."""

    tp: int
    tn: int
    fp: int
    fn: int

    @property
    def n(self) -> int:
        return self.tp + self.tn + self.fp + self.fn

    @property
    def precision(self) -> float | None:
        """Of what was said to come, the share that did."""
        return _ratio(self.tp, self.tp + self.fp)

    @property
    def recall(self) -> float | None:
        """Of what came, the share that was said to."""
        return _ratio(self.tp, self.tp + self.fn)

    @property
    def specificity(self) -> float | None:
        """Of what did not come, the share that was said not to."""
        return _ratio(self.tn, self.tn + self.fp)

    @property
    def negative_predictive_value(self) -> float | None:
        """Of what was said not to come, the share that did not."""
        return _ratio(self.tn, self.tn + self.fn)

    @property
    def accuracy(self) -> float | None:
        return _ratio(self.tp + self.tn, self.n)

    @property
    def f1(self) -> float | None:
        """The harmonic mean of precision and recall; None where one of them is."""
        precision, recall = self.precision, self.recall
        if precision is None or recall is None or precision + recall == 0:
            return None
        return 2 * precision * recall / (precision + recall)

    @property
    def informedness(self) -> float | None:
        """Recall + specificity − 1: 0 for a guess, whatever the base rate."""
        recall, specificity = self.recall, self.specificity
        return None if recall is None or specificity is None else recall + specificity - 1

    @property
    def mcc(self) -> float:
        """Matthews' coefficient: the correlation of yes and came; 0 when either is always the same."""
        margins = (self.tp + self.fp, self.tp + self.fn, self.tn + self.fp, self.tn + self.fn)
        if 0 in margins:
            return 0.0
        scale = sqrt(margins[0]) * sqrt(margins[1]) * sqrt(margins[2]) * sqrt(margins[3])
        return (self.tp * self.tn - self.fp * self.fn) / scale


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None


@dataclass(frozen=True, slots=True, eq=False)
class Sweep:
    """What is right and wrong at each threshold, from high to low; more is said to come at each."""

    threshold: np.ndarray[tuple[int], np.dtype[np.float64]]
    tp: np.ndarray[tuple[int], np.dtype[np.int64]]
    fp: np.ndarray[tuple[int], np.dtype[np.int64]]
    n_came: int
    n_stayed_away: int

    def __len__(self) -> int:
        return self.threshold.size

    def confusions(self) -> list[Confusion]:
        return [
            Confusion(tp=tp, tn=self.n_stayed_away - fp, fp=fp, fn=self.n_came - tp)
            for tp, fp in zip(self.tp.tolist(), self.fp.tolist(), strict=True)
        ]

    def roc(self) -> tuple[list[float], list[float]]:
        """Share of false alarms and recall, from (0, 0) to (1, 1); empty when only one of them can be told."""
        if not self.n_came or not self.n_stayed_away:
            return [], []
        return [0.0, *(self.fp / self.n_stayed_away).tolist()], [0.0, *(self.tp / self.n_came).tolist()]

    @property
    def auc(self) -> float | None:
        """Of a forecast that came true and one that did not, how often the former had the larger chance; ties half."""
        across, up = self.roc()
        return float(np.trapezoid(up, across)) if across else None
