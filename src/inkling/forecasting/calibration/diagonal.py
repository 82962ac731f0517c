"""A test whether the reliability curve lies on the diagonal, up to random variation.

If every stated probability p is right and results are independent, the number of results of a group that happen
has the expectation Σ p and the variance Σ p (1 − p). The sum over groups of (found − expected)² / variance then
follows a chi-square distribution with one degree of freedom per group: none is lost, because nothing was fitted
to this truth. (Hosmer and Lemeshow 1980 fit a model first and lose two.) Groups are cut in ascending order of
probability; there are at most ten, and each expects at least five results that happen and five that do not.

When even one group of all results expects fewer, the number of rare outcomes is tested by its exact distribution, the
Poisson binomial distribution, instead.

An estimated probability adds the variance of its estimate, taken from its stated error. A certain result
(0 or 1 without error) has no variance: a single wrong one refutes the claim.
"""

from dataclasses import dataclass

import numpy as np
from scipy.stats import binom, chi2

from inkling.forecasting.calibration.pairs import Floats, Ints, Pairs

LEAST_EXPECTED = 5.0
MOST_GROUPS = 10
ERROR_SIGMAS = 2.5758
"""Standard deviations in the stated error, which is the half width of an interval of 99 % confidence."""


@dataclass(frozen=True, slots=True)
class DiagonalTest:
    """The result of the test; a small p-value is evidence that probabilities are wrong."""

    statistic: float
    n_groups: int
    n_refuted: int  # certain results that turned out wrong
    p_value: float


def diagonal_test(pairs: Pairs) -> DiagonalTest:
    """The test of the claim that all probabilities of these pairs are right."""
    certain = (pairs.error == 0) & ((pairs.prob == 0) | (pairs.prob == 1))
    n_refuted = int(np.where(pairs.prob == 1, pairs.n - pairs.n_happened, pairs.n_happened)[certain].sum())
    order = np.flatnonzero(~certain)[np.argsort(pairs.prob[~certain], kind="stable")]
    prob, sigma = pairs.prob[order], pairs.error[order] / ERROR_SIGMAS
    n, n_happened = pairs.n[order], pairs.n_happened[order]
    group = _groups(prob, n)
    excess = np.bincount(group, n_happened - n * prob)
    variance = np.bincount(group, n * (prob * (1 - prob) + sigma**2))
    statistic = float((excess**2 / variance).sum())
    if n_refuted:
        p_value = 0.0
    elif min((n * prob).sum(), (n * (1 - prob)).sum()) < LEAST_EXPECTED:
        p_value = _exact_p_value(np.clip(prob, sigma, 1 - sigma), n, n_happened)
    else:
        p_value = float(chi2.sf(statistic, len(excess)))
    return DiagonalTest(statistic, len(excess), n_refuted, p_value)


def _exact_p_value(prob: Floats, n: Ints, n_happened: Ints) -> float:
    """Two-sided p-value of the number of rare outcomes (Poisson binomial), computed by convolution over the rows."""
    if (n * prob).sum() > (n * (1 - prob)).sum():
        prob, n_happened = 1 - prob, n - n_happened
    found = int(n_happened.sum())
    share = np.ones(1)  # the probability of 0, 1, … rare outcomes, up to as many as were found
    for chance, times in zip(prob.tolist(), n.tolist(), strict=True):
        own = (
            np.array([1 - chance, chance]) if times == 1 else binom.pmf(np.arange(min(times, found) + 1), times, chance)
        )
        share = np.convolve(share, own)[: found + 1]
    share = np.pad(share, (0, found + 1 - len(share)))
    at_most = float(share.sum())
    at_least = 1 - at_most + float(share[-1])
    return min(1.0, 2 * min(at_most, at_least))


def _groups(prob: Floats, n: Ints) -> Ints:
    """The group of each row, rows in order of probability.

    Each group expects enough of both outcomes; equal probabilities share a group, and a remainder joins the last group.
    """
    group = np.zeros(len(prob), np.int64)
    least, yes, no, held, number = n.sum() / MOST_GROUPS, 0.0, 0.0, 0, 0
    for place, (chance, times) in enumerate(zip(prob.tolist(), n.tolist(), strict=True)):
        group[place] = number
        yes, no, held = yes + times * chance, no + times * (1 - chance), held + times
        is_full = min(yes, no) >= LEAST_EXPECTED and held >= least
        if is_full and (place + 1 == len(prob) or prob[place + 1] != chance):
            yes, no, held, number = 0.0, 0.0, 0, number + 1
    return np.minimum(group, max(0, number - 1))
