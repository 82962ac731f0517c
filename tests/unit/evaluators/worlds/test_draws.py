"""Draws are a pure function of seed, world and event, and are distributed as declared."""

import numpy as np
import pytest
from scipy.stats import beta, chisquare, gamma, kstest

from inkling.kernels.worlds import draws, gap_draws

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


FAR = 1 << 40
NO_STEPS = (np.empty(0, np.int64), np.empty(0), np.empty(0))


def drawn_gap(n_lost: int, shape: int, steps: tuple[np.ndarray, ...] = NO_STEPS, n_worlds: int = 4000) -> np.ndarray:
    """Where the events of one gap from 0 to 1 lie."""
    borders = np.array([0, n_lost]), np.array([0]), np.array([FAR])
    return gap_draws.draw_gaps(SEED, TOKENS[:n_lost], *borders, shape, *steps, 0, n_worlds) / FAR


def test_gaps_of_one_part_are_those_without_parts() -> None:
    borders = np.array([0, 1, 4]), np.array([5, -FAR]), np.array([5 + FAR, 90])
    plain = draws.draw_between(SEED, TOKENS[:4], *borders, 10, 50)
    assert np.array_equal(gap_draws.draw_gaps(SEED, TOKENS[:4], *borders, 1, *NO_STEPS, 10, 50), plain)


@pytest.mark.parametrize(("n_lost", "shape"), [(1, 2), (1, 5), (3, 2)])
def test_events_are_every_so_many_th_of_hidden_points(n_lost: int, shape: int) -> None:
    found = drawn_gap(n_lost, shape)
    n_points = (n_lost + 1) * shape - 1
    for place in range(n_lost):
        before = (place + 1) * shape
        assert kstest(found[place], beta(before, n_points + 1 - before).cdf).pvalue > 1e-4


def test_a_rate_that_changes_within_a_gap() -> None:
    """Of four equal parts, the second and the third are three times as busy."""
    since = np.array([-FAR, FAR // 4, 3 * FAR // 4])
    rate = np.array([1.0, 3.0, 1.0])
    total = np.concatenate([[0.0], np.cumsum(np.diff(since) * rate[:-1])])

    def cdf(share: np.ndarray) -> np.ndarray:
        return np.interp(share, [0, 0.25, 0.75, 1], [0, 1 / 8, 7 / 8, 1])

    assert kstest(drawn_gap(1, 1, (since, total, rate))[0], cdf).pvalue > 1e-4
    found = drawn_gap(2, 1, (since, total, rate))
    assert kstest(found.max(axis=0), lambda share: cdf(share) ** 2).pvalue > 1e-4


@pytest.mark.parametrize("before", [False, True])
@pytest.mark.parametrize("shape", [1, 3])
def test_what_only_a_rate_limits(before: bool, shape: int) -> None:
    """Three events whose gaps are Erlang with the mean 1000, away from 50."""
    ends = np.array([50]), np.array([before]), np.array([1e-3])
    times = gap_draws.draw_ends(SEED, TOKENS[:3], np.array([0, 3]), *ends, shape, FAR, 0, 4000)
    assert (np.diff(times, axis=0) > 0).all()
    away = np.sort(np.abs(times - 50), axis=0)
    for place in range(3):
        law = gamma((place + 1) * shape, scale=1000 / shape)
        assert kstest(away[place] + 0.5, law.cdf).pvalue > 1e-4


def test_what_a_tiny_rate_limits_stays_within_reach() -> None:
    ends = np.array([50]), np.array([False]), np.array([1e-30])
    times = gap_draws.draw_ends(SEED, TOKENS[:3], np.array([0, 3]), *ends, 1, FAR, 0, 20)
    assert (np.diff(times, axis=0) > 0).all()
    assert times.max() <= FAR


def test_a_world_of_gaps_is_the_same_wherever_it_is_drawn() -> None:
    borders = np.array([0, 1, 4]), np.array([5, 0]), np.array([FAR, 90_000])
    whole = gap_draws.draw_gaps(SEED, TOKENS[:4], *borders, 3, *NO_STEPS, 0, 60)
    part = gap_draws.draw_gaps(
        SEED, TOKENS[1:4], np.array([0, 3]), borders[1][1:], borders[2][1:], 3, *NO_STEPS, 20, 30
    )
    assert np.array_equal(whole[1:4, 20:50], part)
