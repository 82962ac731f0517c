"""One way to forecast, with everything that is scored of it; several of them side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np
import pyarrow as pa
from scipy.stats import chi2

from inkling.calibrate import Bin, Calibration, DiagonalTest
from inkling.calibrate.diagonal import LEAST_EXPECTED, MOST_GROUPS
from inkling.calibrate.reliability import expected_calibration_error
from inkling.scoring.classification import Confusion
from inkling.scoring.intervals import IntervalScores
from inkling.scoring.outcomes import Ints
from inkling.scoring.tally import Tally


def calibration_of(tally: Tally, bins: int = 10) -> Calibration | None:
    """Chances beside what came; None without forecasts."""
    base_rate, brier_score = tally.base_rate, tally.brier_score
    if base_rate is None or brier_score is None:
        return None
    curve = bins_of(tally, bins)
    return Calibration(
        n=tally.n_forecasts,
        n_missed=0,
        base_rate=base_rate,
        bins=curve,
        n_bins=bins,
        brier_score=brier_score,
        brier_skill=tally.brier_skill,
        expected_calibration_error=expected_calibration_error(curve),
        log_loss=tally.log_loss,
        diagonal=diagonal_of(tally),
    )


def bins_of(tally: Tally, n_bins: int) -> tuple[Bin, ...]:
    """The bins that are not empty, from low to high."""
    if n_bins < 1:
        raise ValueError(f"expected at least one bin, found bins={n_bins}")
    edges = np.arange(n_bins + 1) / n_bins
    place = np.clip(np.searchsorted(edges, tally.chance, side="right") - 1, 0, n_bins - 1)
    n, n_true, mass = (
        np.bincount(place, weights, n_bins) for weights in (tally.n, tally.n_true, tally.n * tally.chance)
    )
    return tuple(
        Bin(float(edges[at]), float(edges[at + 1]), int(n[at]), int(n_true[at]), float(mass[at] / n[at]))
        for at in np.flatnonzero(n).tolist()
    )


def diagonal_of(tally: Tally) -> DiagonalTest:
    """Whether chance explains the distance from the diagonal: a chi-square with a degree of freedom per group."""
    certain = (tally.chance <= 0) | (tally.chance >= 1)
    refuted = np.where(tally.chance <= 0, tally.n_true, tally.n - tally.n_true)[certain]
    open_ones = Tally(tally.chance[~certain], tally.n[~certain], tally.n_true[~certain])
    group = _groups(open_ones)
    expected = np.bincount(group, open_ones.n * open_ones.chance)
    variance = np.bincount(group, open_ones.n * open_ones.chance * (1 - open_ones.chance))
    found = np.bincount(group, open_ones.n_true)
    statistic = float(((found - expected) ** 2 / variance).sum())
    n_refuted = int(refuted.sum())
    p_value = 0.0 if n_refuted else float(chi2.sf(statistic, len(expected))) if len(expected) else 1.0
    return DiagonalTest(statistic, len(expected), n_refuted, p_value)


def _groups(tally: Tally) -> Ints:
    """A group per chance, each filled until it expects enough of both outcomes; the rest joins the last one."""
    group = np.zeros(len(tally.chance), np.int64)
    least, yes, no, held, number = tally.n.sum() / MOST_GROUPS, 0.0, 0.0, 0, 0
    for place, (chance, n) in enumerate(zip(tally.chance.tolist(), tally.n.tolist(), strict=True)):
        group[place] = number
        yes, no, held = yes + n * chance, no + n * (1 - chance), held + n
        if min(yes, no) >= LEAST_EXPECTED and held >= least:
            yes, no, held, number = 0.0, 0.0, 0, number + 1
    return np.minimum(group, max(0, number - 1))


TABLE = pa.schema(
    [
        ("name", pa.string()),
        ("order", pa.int64()),
        ("forecasts", pa.int64()),
        *(
            (name, pa.float64())
            for name in ("base_rate", "brier_score", "brier_skill", "log_loss", "auc", "calibration_error")
        ),
        *((name, pa.int64()) for name in ("tp", "tn", "fp", "fn")),
        *(
            (name, pa.float64())
            for name in ("precision", "recall", "specificity", "npv", "accuracy", "f1", "informedness", "mcc")
        ),
        *(
            (name, pa.float64())
            for name in ("coverage", "mean_spread", "interval_score", "rmse", "mae", "mare", "loss")
        ),
    ]
)


@dataclass(frozen=True, slots=True)
class Scorecard:
    """Forecasts of one event, made in one way."""

    name: str
    tally: Tally
    apart: Tally  # of these, forecasts that do not overlap, nor look past the end of their key
    order: int | None = None  # of a model; None for what is not one
    intervals: IntervalScores | None = None

    def at(self, threshold: float) -> Confusion:
        return self.tally.at(threshold)

    def calibration(self, bins: int = 10) -> Calibration | None:
        """The reliability curve of forecasts that do not overlap; None if there is none."""
        return calibration_of(self.apart, bins)


@dataclass(frozen=True, slots=True)
class Scores:
    """Ways to forecast one event, over the same events, judged alike."""

    event: str
    asked: str  # what a forecast says, in words
    threshold: float
    cards: tuple[Scorecard, ...]
    learned_from: str = ""  # in words: which part of the data
    has_intervals: bool = False

    def card(self, name: str) -> Scorecard:
        return next(card for card in self.cards if card.name == name)

    @property
    def models(self) -> tuple[Scorecard, ...]:
        return tuple(card for card in self.cards if card.order is not None)

    def to_table(self) -> pa.Table:
        """A row per way to forecast."""
        return pa.Table.from_pylist([_row(card, self.threshold) for card in self.cards], schema=TABLE)


def write_scores(scores: Mapping[str, Scores], path: str | PathLike[str], *, title: str = "Forecasts judged") -> Path:
    """Write a page about the forecasts of a program; it loads nothing."""
    from inkling.scoring.page import write_page

    return write_page(scores, path, title=title)


def _row(card: Scorecard, threshold: float) -> dict[str, object]:
    tally, found, intervals = card.tally, card.at(threshold), card.intervals
    curve = card.calibration()
    row: dict[str, object] = {
        "name": card.name,
        "order": card.order,
        "forecasts": tally.n_forecasts,
        "base_rate": tally.base_rate,
        "brier_score": tally.brier_score,
        "brier_skill": tally.brier_skill,
        "log_loss": tally.log_loss,
        "auc": tally.sweep().auc,
        "calibration_error": None if curve is None else curve.expected_calibration_error,
        "npv": found.negative_predictive_value,
    }
    row |= {
        name: getattr(found, name)
        for name in ("tp", "tn", "fp", "fn", "precision", "recall", "specificity", "accuracy", "f1", "informedness")
    }
    row["mcc"] = found.mcc
    if intervals is not None:
        names = ("coverage", "mean_spread", "interval_score", "rmse", "mae", "mare", "loss")
        row |= {name: getattr(intervals, name) for name in names}
    return row
