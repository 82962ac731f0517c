"""Draws are a pure function of seed, world and event, and are distributed as declared."""

import numpy as np
import pytest
from scipy.stats import chisquare, kstest

from inkling.kernels import draws

SEED = np.uint64(7)
TOKENS = np.arange(1, 201, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)


def test_a_world_is_the_same_wherever_it_is_drawn() -> None:
    whole = draws.uniforms(SEED, TOKENS, 0, 100)
    part = draws.uniforms(SEED, TOKENS[50:60], 30, 20)
    assert np.array_equal(whole[50:60, 30:50], part)
    assert not np.array_equal(whole, draws.uniforms(SEED + np.uint64(1), TOKENS, 0, 100))


def test_numbers_are_uniform_along_worlds_and_along_events() -> None:
    found = draws.uniforms(SEED, TOKENS, 0, 1000)
    assert kstest(found.ravel(), "uniform").pvalue > 1e-4
    assert kstest(found[:, 3], "uniform").pvalue > 1e-4
    assert abs(np.corrcoef(found[0], found[1])[0, 1]) < 0.15


def test_ticks_follow_their_weights() -> None:
    weights = np.array([1.0, 0.0, 3.0])
    steps = np.array([0, 3, 3])
    shares = draws.cumulated(steps, weights, np.ones(2, bool))
    ticks = draws.draw_ticks(SEED, TOKENS[:2], np.array([10, 5]), np.array([3, 4]), steps, shares, 0, 20_000)
    assert chisquare(np.bincount(ticks[0] - 10, minlength=3)[[0, 2]], [5_000, 15_000]).pvalue > 1e-4
    assert np.bincount(ticks[0] - 10, minlength=3)[1] == 0
    assert chisquare(np.bincount(ticks[1] - 5, minlength=4)).pvalue > 1e-4


def test_lost_events_are_order_statistics() -> None:
    """The k-th of m uniform draws on (0, 1) has the mean k / (m + 1)."""
    times = draws.draw_between(SEED, TOKENS[:3], np.array([0, 3]), np.array([0]), np.array([1 << 20]), 0, 20_000)
    assert (np.diff(times, axis=0) > 0).all()
    assert times.min() > 0
    assert times.max() < 1 << 20
    assert times.mean(axis=1) / (1 << 20) == pytest.approx([0.25, 0.5, 0.75], abs=0.006)


def test_lost_events_fit_into_narrow_gaps() -> None:
    times = draws.draw_between(SEED, TOKENS[:3], np.array([0, 3]), np.array([4]), np.array([8]), 0, 50)
    assert (times == np.array([5, 6, 7])[:, None]).all()
