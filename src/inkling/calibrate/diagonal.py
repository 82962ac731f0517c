"""A test whether the reliability curve lies on the diagonal, within what chance explains.

If every stated probability p is right and results are independent, the number of results of a group that happen
has the expectation Σ p and the variance Σ p (1 − p). The sum over groups of (found − expected)² / variance then
follows a chi-square distribution with as many degrees of freedom as groups: none is lost, because nothing was fitted
to this truth. (Hosmer and Lemeshow 1980 fit a model first and lose two.) Groups follow the probability from low to
high; there are at most ten, each filled until it expects at least five results that happen and five that do not.

An estimated probability adds the variance of its estimate, taken from its stated error. A result that is certain,
0 or 1 without error, has no variance: one that fails refutes the claim by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.stats import chi2

from inkling.calibrate.pairs import Floats, Pairs

LEAST_EXPECTED = 5.0
MOST_GROUPS = 10
ERROR_SIGMAS = 2.5758
"""The stated error is the half width of an interval of 99 % confidence, so many standard deviations."""


@dataclass(frozen=True, slots=True)
class DiagonalTest:
    """What speaks against the claim that probabilities are right; a small p-value does."""

    statistic: float
    n_groups: int
    n_refuted: int  # certain results that turned out wrong
    p_value: float


def diagonal_test(pairs: Pairs) -> DiagonalTest:
    prob, happened = pairs.prob, pairs.happened
    certain = (pairs.error == 0) & ((prob == 0) | (prob == 1))
    n_refuted = int(np.count_nonzero(certain & (happened != (prob == 1))))
    order = np.argsort(prob[~certain], kind="stable")
    excess = (happened.astype(np.float64) - prob)[~certain][order]
    variance = (prob * (1 - prob) + (pairs.error / ERROR_SIGMAS) ** 2)[~certain][order]
    groups = _groups(prob[~certain][order])
    statistic = float(sum(excess[group].sum() ** 2 / variance[group].sum() for group in groups))
    p_value = 0.0 if n_refuted else float(chi2.sf(statistic, len(groups))) if groups else 1.0
    return DiagonalTest(statistic, len(groups), n_refuted, p_value)


def _groups(sorted_prob: Floats) -> list[slice]:
    """Stretches that expect enough of both outcomes; what is left over joins the last one."""
    borders = [0]
    yes = no = 0.0
    for place, prob in enumerate(sorted_prob, start=1):
        yes, no = yes + prob, no + (1 - prob)
        if min(yes, no) >= LEAST_EXPECTED and place - borders[-1] >= len(sorted_prob) / MOST_GROUPS:
            borders.append(place)
            yes = no = 0.0
    if len(borders) > 1:
        borders[-1] = len(sorted_prob)
    elif len(sorted_prob):
        borders.append(len(sorted_prob))
    return [slice(lo, hi) for lo, hi in pairwise(borders)]
