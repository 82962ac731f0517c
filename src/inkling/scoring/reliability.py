"""The reliability curve of a tally, and a test of the diagonal, in the terms of `inkling.calibrate`."""

from __future__ import annotations

import numpy as np
from scipy.stats import chi2

from inkling.calibrate import Bin, Calibration, DiagonalTest
from inkling.calibrate.diagonal import LEAST_EXPECTED, MOST_GROUPS
from inkling.calibrate.scores import expected_calibration_error
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
