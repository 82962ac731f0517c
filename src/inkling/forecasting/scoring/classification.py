"""Forecasts as a binary classification: the confusion matrix at one threshold, and at all thresholds."""

from dataclasses import dataclass
from math import sqrt

import numpy as np

TOLERANCE = 1e-12
"""A chance within this distance below a threshold reaches it, because sums of probabilities are rounded."""


@dataclass(frozen=True, slots=True)
class Confusion:
    """A confusion matrix; undefined ratios are None."""

    tp: int
    tn: int
    fp: int
    fn: int

    @property
    def n(self) -> int:
        return self.tp + self.tn + self.fp + self.fn

    @property
    def precision(self) -> float | None:
        """The share of positive forecasts that came true."""
        return _ratio(self.tp, self.tp + self.fp)

    @property
    def recall(self) -> float | None:
        """The share of positives that were forecast."""
        return _ratio(self.tp, self.tp + self.fn)

    @property
    def specificity(self) -> float | None:
        """The share of negatives that were forecast as negative."""
        return _ratio(self.tn, self.tn + self.fp)

    @property
    def negative_predictive_value(self) -> float | None:
        """The share of negative forecasts that were right."""
        return _ratio(self.tn, self.tn + self.fn)

    @property
    def accuracy(self) -> float | None:
        return _ratio(self.tp + self.tn, self.n)

    @property
    def f1(self) -> float | None:
        """The harmonic mean of precision and recall; None if one of them is."""
        precision, recall = self.precision, self.recall
        if precision is None or recall is None or precision + recall == 0:
            return None
        return 2 * precision * recall / (precision + recall)

    @property
    def informedness(self) -> float | None:
        """Recall + specificity − 1: 0 for random guesses at any base rate."""
        recall, specificity = self.recall, self.specificity
        return None if recall is None or specificity is None else recall + specificity - 1

    @property
    def mcc(self) -> float:
        """The correlation coefficient of forecast and outcome (Matthews 1975); 0 when either is constant."""
        margins = (self.tp + self.fp, self.tp + self.fn, self.tn + self.fp, self.tn + self.fn)
        if 0 in margins:
            return 0.0
        scale = sqrt(margins[0]) * sqrt(margins[1]) * sqrt(margins[2]) * sqrt(margins[3])
        return (self.tp * self.tn - self.fp * self.fn) / scale


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None


@dataclass(frozen=True, slots=True, eq=False)
class Sweep:
    """True and false positives at each threshold, from high to low."""

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
        """The ROC curve: false positive rates and recalls from (0, 0) to (1, 1); empty if one class is empty."""
        if not self.n_came or not self.n_stayed_away:
            return [], []
        return [0.0, *(self.fp / self.n_stayed_away).tolist()], [0.0, *(self.tp / self.n_came).tolist()]

    @property
    def auc(self) -> float | None:
        """The area under the ROC curve: how often a positive has a larger chance than a negative; ties count half."""
        across, up = self.roc()
        return float(np.trapezoid(up, across)) if across else None
