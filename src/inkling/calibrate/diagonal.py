"""A test whether the reliability curve lies on the diagonal, within what chance explains.

If every stated probability p is right and results are independent, the number of results of a group that happen
has the expectation Σ p and the variance Σ p (1 − p). The sum over groups of (found − expected)² / variance then
follows a chi-square distribution with as many degrees of freedom as groups: none is lost, because nothing was fitted
to this truth. (Hosmer and Lemeshow 1980 fit a model first and lose two.) Groups follow the probability from low to
high; there are at most ten, each filled until it expects at least five results that happen and five that do not.

When all results together expect fewer than that, the number of rare outcomes is judged by its exact distribution, a
sum of unequal coins, instead.

An estimated probability adds the variance of its estimate, taken from its stated error. A result that is certain,
0 or 1 without error, has no variance: one that fails refutes the claim by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.stats import chi2

from inkling.calibrate.pairs import Floats, Marks, Pairs

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
    certain = (pairs.error == 0) & ((pairs.prob == 0) | (pairs.prob == 1))
    n_refuted = int(np.count_nonzero(certain & (pairs.happened != (pairs.prob == 1))))
    order = np.flatnonzero(~certain)[np.argsort(pairs.prob[~certain], kind="stable")]
    prob, happened, sigma = pairs.prob[order], pairs.happened[order], pairs.error[order] / ERROR_SIGMAS
    excess = happened - prob
    variance = prob * (1 - prob) + sigma**2
    groups = _groups(prob)
    statistic = float(sum(excess[group].sum() ** 2 / variance[group].sum() for group in groups))
    if n_refuted:
        p_value = 0.0
    elif min(prob.sum(), (1 - prob).sum()) < LEAST_EXPECTED:
        p_value = _exact_p_value(np.clip(prob, sigma, 1 - sigma), happened)
    else:
        p_value = float(chi2.sf(statistic, len(groups)))
    return DiagonalTest(statistic, len(groups), n_refuted, p_value)


def _exact_p_value(prob: Floats, happened: Marks) -> float:
    """Twice the smaller tail of the number of rare outcomes, whose distribution is added up one result at a time."""
    if prob.sum() > (1 - prob).sum():
        prob, happened = 1 - prob, ~happened
    found = int(happened.sum())
    share = np.zeros(found + 1)  # of exactly so many, up to as many as were found
    share[0] = 1.0
    for chance in prob:
        share[1:] = share[1:] * (1 - chance) + share[:-1] * chance
        share[0] *= 1 - chance
    at_most = float(share.sum())
    at_least = 1 - at_most + float(share[-1])
    return min(1.0, 2 * min(at_most, at_least))


def _groups(sorted_prob: Floats) -> list[slice]:
    """Stretches that expect enough of both outcomes; equal probabilities stay together, the rest joins the last one."""
    n = len(sorted_prob)
    borders = [0]
    yes = no = 0.0
    for place, prob in enumerate(sorted_prob, start=1):
        yes, no = yes + prob, no + (1 - prob)
        is_full = min(yes, no) >= LEAST_EXPECTED and place - borders[-1] >= n / MOST_GROUPS
        if is_full and (place == n or sorted_prob[place] != prob):
            borders.append(place)
            yes = no = 0.0
    if len(borders) > 1:
        borders[-1] = n
    elif n:
        borders.append(n)
    return [slice(lo, hi) for lo, hi in pairwise(borders)]
