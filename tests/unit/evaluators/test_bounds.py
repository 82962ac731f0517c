"""Clopper and Pearson's bounds hold for every probability, and so many worlds are just enough."""

import numpy as np
import pytest
from scipy.stats import binom

from inkling.evaluators.sampling import half_width, interval, worlds_needed


@pytest.mark.parametrize(("hits", "low", "high"), [(0, 0.0, 0.3085), (5, 0.1871, 0.8129), (10, 0.6915, 1.0)])
def test_bounds_of_ten_worlds(hits: int, low: float, high: float) -> None:
    """Tabulated values for 95 %."""
    found = interval(np.array([hits]), 10, 0.05)
    assert found[0][0] == pytest.approx(low, abs=1e-4)
    assert found[1][0] == pytest.approx(high, abs=1e-4)


@pytest.mark.parametrize("delta", [0.01, 0.1])
@pytest.mark.parametrize("n_worlds", [64, 448])
def test_no_probability_is_missed_more_often_than_delta(n_worlds: int, delta: float) -> None:
    hits = np.arange(n_worlds + 1)
    low, high = interval(hits, n_worlds, delta)
    for probability in np.linspace(0, 1, 201):
        missed = (probability < low) | (probability > high)
        assert binom.pmf(hits, n_worlds, probability)[missed].sum() <= delta + 1e-12


@pytest.mark.parametrize(("epsilon", "delta"), [(0.01, 0.01), (0.05, 0.05), (0.1, 0.2)])
def test_worlds_needed_are_enough_and_not_more(epsilon: float, delta: float) -> None:
    n_worlds = worlds_needed(epsilon, delta)
    assert half_width(np.arange(n_worlds + 1), n_worlds, delta).max() <= epsilon
    fewer = n_worlds - 64
    assert not fewer or half_width(np.arange(fewer + 1), fewer, delta).max() > epsilon
