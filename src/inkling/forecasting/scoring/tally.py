"""Counts of forecasts by chance: the number of forecasts, and how many came true.

A model forecasts at most one chance per state of its chain, so a tally is small even for a long stream. Tallies of
parts of a stream add up.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from inkling.forecasting.calibration.pairs import Pairs
from inkling.forecasting.calibration.reliability import brier_score, brier_skill, log_loss
from inkling.forecasting.scoring.classification import TOLERANCE, Confusion, Sweep
from inkling.forecasting.scoring.outcomes import Booleans, Floats, Ints, Outcomes


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """A row per chance, from low to high."""

    chance: Floats
    n: Ints
    n_true: Ints

    @classmethod
    def of(cls, chance: Floats, came_true: Booleans) -> Tally:
        """The tally of single forecasts."""
        return cls.summed(chance, np.ones(len(chance), np.int64), came_true.astype(np.int64))

    @classmethod
    def summed(cls, chance: Floats, n: Ints, n_true: Ints) -> Tally:
        """The tally of counts by chance; counts of equal chances are added up."""
        values, place = np.unique(chance, return_inverse=True)
        return cls(values, *(np.bincount(place, part, len(values)).astype(np.int64) for part in (n, n_true)))

    @property
    def n_forecasts(self) -> int:
        return int(self.n.sum())

    @property
    def pairs(self) -> Pairs:
        """Chances and outcomes as calibration counts them."""
        return Pairs(self.chance, np.zeros(len(self.chance)), self.n, self.n_true)

    @property
    def base_rate(self) -> float | None:
        """The share of forecasts that came true, whatever they predicted; scores are None without any."""
        return self.pairs.base_rate if len(self.n) else None

    def at(self, threshold: float) -> Confusion:
        """The confusion matrix if forecasts with at least this chance are positive."""
        yes = self.chance >= threshold - TOLERANCE
        tp, n_yes = int(self.n_true[yes].sum()), int(self.n[yes].sum())
        fn, n_no = int(self.n_true[~yes].sum()), int(self.n[~yes].sum())
        return Confusion(tp=tp, tn=n_no - fn, fp=n_yes - tp, fn=fn)

    def sweep(self) -> Sweep:
        """True and false positives at every different threshold, from high to low."""
        n, n_true = self.n[::-1].cumsum(), self.n_true[::-1].cumsum()
        return Sweep(self.chance[::-1], n_true, n - n_true, int(self.n_true.sum()), int((self.n - self.n_true).sum()))

    @property
    def brier_score(self) -> float | None:
        return brier_score(self.pairs) if len(self.n) else None

    @property
    def brier_skill(self) -> float | None:
        return brier_skill(self.pairs) if len(self.n) else None

    @property
    def log_loss(self) -> float | None:
        return log_loss(self.pairs) if len(self.n) else None


def tallied(outcomes: Outcomes, *, span: int | None = None, censored: bool = False, apart: bool = False) -> Tally:
    """The tally of outcomes: a forecast comes true if the next detection is in its interval, or within a `span`.

    Parameters
    ----------
    span
        For forecasts within a duration: the duration in the units of time of the outcomes.
    censored
        Leave out forecasts of events after the end of their key; otherwise they did not come true.
    apart
        Only forecasts that do not overlap: one in as many events as the longest forecast looks ahead. Their outcomes
        are independent given the past, so that the test of the diagonal holds. All forecasts within a duration are
        used.
    """
    rows = outcomes.has_forecast
    if span is not None:
        came_true = outcomes.wait_time <= span
        if censored:
            rows &= outcomes.time + span <= _end_times(outcomes)
    else:
        wait = outcomes.wait
        came_true = (wait >= outcomes.first) & (wait <= outcomes.last)
        if apart:
            rows &= outcomes.number % max(1, int(outcomes.last[rows].max(initial=1))) == 0
        if censored:
            rows &= outcomes.number + outcomes.last <= outcomes.end
    return Tally.of(outcomes.chance[rows], came_true[rows])


def _end_times(outcomes: Outcomes) -> Ints:
    is_last = np.append(outcomes.run[1:] != outcomes.run[:-1], True) if len(outcomes) else np.empty(0, np.bool_)
    return np.repeat(outcomes.time[is_last], np.diff(np.flatnonzero(is_last), prepend=-1))
