"""Bounds on detections within a duration hold what enumeration finds."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from inkling.forecasting.models.chain import MarkovChain
from inkling.forecasting.models.durations import within_duration
from inkling.forecasting.models.forecasts import waiting_times
from inkling.forecasting.models.full_order import independent
from inkling.forecasting.models.gaps import GapCounts

AB = np.array([[1, 0], [1, 2], [1, 0]], np.int32), np.array([False, False, True])


def gaps(*pairs: tuple[int, int]) -> GapCounts:
    return GapCounts.of(np.array([symbol for symbol, _ in pairs], np.int32), np.array([gap for _, gap in pairs]))


def test_with_gaps_of_one_it_is_the_number_of_events() -> None:
    chain = MarkovChain.of(*AB, independent([0.3, 0.7]))
    found = within_duration(chain, gaps((0, 1), (1, 1)), 7)
    expected = waiting_times(chain, 7).sum(axis=1)
    np.testing.assert_allclose(found.lower, expected, atol=1e-12)
    np.testing.assert_allclose(found.upper, expected, atol=1e-12)


@pytest.mark.parametrize(("duration", "steps"), [(23, 23), (23, 16), (1_000, 256), (40, 40)])
def test_bounds_hold_the_truth(duration: int, steps: int) -> None:
    chain = MarkovChain.of(*AB, independent([0.3, 0.7]))
    scale = duration // 20
    known = {0: [4 * scale, 11 * scale], 1: [6 * scale, 6 * scale, 9 * scale]}
    found = within_duration(
        chain, gaps(*((symbol, gap) for symbol, all_gaps in known.items() for gap in all_gaps)), duration, steps=steps
    )
    for at in range(chain.n_states):
        truth = _by_enumeration(int(chain.state[at]), known, duration)
        assert found.lower[at] <= truth + 1e-12
        assert found.upper[at] >= truth - 1e-12
        assert found.half_width[at] < (1e-12 if steps >= duration else 0.2)


def _by_enumeration(state: int, known: dict[int, list[int]], left: int) -> float:
    delta, final = AB
    total = 0.0
    for symbol, chance in ((0, 0.3), (1, 0.7)):
        for gap in known[symbol]:
            if gap <= left:
                to = int(delta[state, symbol])
                later = 1.0 if final[to] else _by_enumeration(to, known, left - gap)
                total += chance / len(known[symbol]) * later
    return total


def test_gaps_of_nothing_and_unknown_gaps() -> None:
    chain = MarkovChain.of(*AB, independent([0.5, 0.5]))
    at_once = within_duration(chain, gaps((0, 0), (1, 0)), 5)
    np.testing.assert_allclose(at_once.lower, 1.0, atol=1e-9)
    np.testing.assert_allclose(at_once.upper, 1.0, atol=1e-9)
    borrowed, own = (within_duration(chain, one, 9) for one in (gaps((0, 2)), gaps((0, 2), (1, 2))))
    np.testing.assert_allclose(borrowed.chance, own.chance, atol=1e-12)
    with pytest.raises(ValueError, match="no gap between events"):
        within_duration(chain, GapCounts.empty(), 5)


def test_steps_are_finer_for_small_chains() -> None:
    chain = MarkovChain.of(*AB, independent([0.3, 0.7]))
    measured = gaps(*itertools.product((0, 1), (900, 1_100, 1_300)))
    widths = [within_duration(chain, measured, 4_000, steps=steps).half_width.max() for steps in (16, 64, 256)]
    assert widths[0] > widths[1] >= widths[2]
