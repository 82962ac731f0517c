"""Forecasts counted: of those with each chance, how many there were and how many came true.

A model says only so many different things, one per state of its chain, so this is small however long the stream was;
parts of a stream that were tallied apart are added up.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import xlogy

from inkling.scoring.classification import TOLERANCE, Confusion, Sweep
from inkling.scoring.outcomes import Floats, Ints, Marks, Outcomes


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """A row per chance, from low to high."""

    chance: Floats
    n: Ints
    n_true: Ints

    @classmethod
    def of(cls, chance: Floats, came_true: Marks) -> Tally:
        """One forecast after the other."""
        return cls.summed(chance, np.ones(len(chance), np.int64), came_true.astype(np.int64))

    @classmethod
    def summed(cls, chance: Floats, n: Ints, n_true: Ints) -> Tally:
        """Counts by chance, some of which may be equal."""
        values, place = np.unique(chance, return_inverse=True)
        return cls(values, *(np.bincount(place, part, len(values)).astype(np.int64) for part in (n, n_true)))

    @property
    def n_forecasts(self) -> int:
        return int(self.n.sum())

    @property
    def base_rate(self) -> float | None:
        """The share of forecasts that came true, whatever they said."""
        return float(self.n_true.sum() / self.n.sum()) if len(self.n) else None

    def at(self, threshold: float) -> Confusion:
        """What came of taking each chance of at least the threshold for a yes."""
        yes = self.chance >= threshold - TOLERANCE
        tp, n_yes = int(self.n_true[yes].sum()), int(self.n[yes].sum())
        fn, n_no = int(self.n_true[~yes].sum()), int(self.n[~yes].sum())
        return Confusion(tp=tp, tn=n_no - fn, fp=n_yes - tp, fn=fn)

    def sweep(self) -> Sweep:
        """The same for every threshold that makes a difference, from high to low."""
        n, n_true = self.n[::-1].cumsum(), self.n_true[::-1].cumsum()
        return Sweep(self.chance[::-1], n_true, n - n_true, int(self.n_true.sum()), int((self.n - self.n_true).sum()))

    @property
    def brier_score(self) -> float | None:
        """Mean squared distance between chance and outcome."""
        if not len(self.n):
            return None
        squares = self.n_true * (1 - self.chance) ** 2 + (self.n - self.n_true) * self.chance**2
        return float(squares.sum() / self.n.sum())

    @property
    def brier_skill(self) -> float | None:
        """How much of the Brier score of the base rate is gone; None if that has nothing to improve."""
        share, score = self.base_rate, self.brier_score
        return None if share is None or score is None or share in (0, 1) else 1 - score / (share * (1 - share))

    @property
    def log_loss(self) -> float | None:
        """Mean surprise in nats; None when a certainty failed."""
        failed = ((self.chance <= 0) & (self.n_true > 0)) | ((self.chance >= 1) & (self.n_true < self.n))
        if not len(self.n) or failed.any():
            return None
        surprise = -xlogy(self.n_true, self.chance) - xlogy(self.n - self.n_true, 1 - self.chance)
        return float(surprise.sum() / self.n.sum())


def tallied(outcomes: Outcomes, *, span: int | None = None, censored: bool = False, apart: bool = False) -> Tally:
    """Forecasts and whether they came true: the next detection comes where they say, or within a `span` of time.

    Parameters
    ----------
    span
        For forecasts within a duration: how long that is, in the units of time of the outcomes.
    censored
        Leave out forecasts that look past the end of their key, which otherwise did not come true by then.
    apart
        Only forecasts that do not overlap: one in as many events as any of them looks ahead. Given what came before,
        the model claims to know the chance of each, so that limits of chance hold for their sum. Forecasts within a
        duration are all taken.
    """
    rows = outcomes.said
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
