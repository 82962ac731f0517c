"""Yes and no at a threshold, and at all of them, against definitions that count pairs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from inkling.forecasting.calibration import Calibration, calibrate
from inkling.forecasting.scoring.classification import Confusion
from inkling.forecasting.scoring.tally import Tally

PAIRS = st.lists(st.tuples(st.sampled_from([0.0, 0.1, 0.35, 0.5, 0.75, 1.0]), st.booleans()), min_size=1, max_size=40)


def tally(pairs: list[tuple[float, bool]]) -> Tally:
    return Tally.of(np.array([chance for chance, _ in pairs]), np.array([came for _, came in pairs]))


@given(PAIRS, st.sampled_from([0.0, 0.2, 0.5, 1.0]))
def test_counts_at_a_threshold(pairs: list[tuple[float, bool]], threshold: float) -> None:
    found = tally(pairs).at(threshold)
    assert found.tp == sum(chance >= threshold and came for chance, came in pairs)
    assert found.fp == sum(chance >= threshold and not came for chance, came in pairs)
    assert found.fn == sum(chance < threshold and came for chance, came in pairs)
    assert found.tn == sum(chance < threshold and not came for chance, came in pairs)


def test_a_chance_just_below_a_threshold_by_rounding_reaches_it() -> None:
    assert tally([(0.49999999999999994, True)]).at(0.5).tp == 1


@given(PAIRS)
def test_the_area_is_how_often_what_came_had_the_larger_chance(pairs: list[tuple[float, bool]]) -> None:
    yes = [chance for chance, came in pairs if came]
    no = [chance for chance, came in pairs if not came]
    found = tally(pairs).sweep().auc
    if not yes or not no:
        assert found is None
    else:
        wins = sum((a > b) + 0.5 * (a == b) for a in yes for b in no)
        assert found == pytest.approx(wins / (len(yes) * len(no)))


@given(PAIRS)
def test_the_sweep_is_the_counts_at_every_chance(pairs: list[tuple[float, bool]]) -> None:
    counted = tally(pairs)
    sweep = counted.sweep()
    assert sweep.confusions() == [counted.at(threshold) for threshold in sweep.threshold]


@given(PAIRS)
def test_scores_are_those_of_calibrate(pairs: list[tuple[float, bool]]) -> None:
    """Counted by chance or row by row, scores are the same."""
    found = Calibration.of(tally(pairs).pairs, 5)
    expected = calibrate([{"probability": chance, "happened": came} for chance, came in pairs], "happened", bins=5)
    assert found.n == expected.n
    assert found.base_rate == pytest.approx(expected.base_rate)
    assert found.brier_score == pytest.approx(expected.brier_score)
    assert found.brier_skill == (None if expected.brier_skill is None else pytest.approx(expected.brier_skill))
    assert found.log_loss == (None if expected.log_loss is None else pytest.approx(expected.log_loss))
    assert [(one.lo, one.hi, one.n, one.n_happened) for one in found.bins] == [
        (one.lo, one.hi, one.n, one.n_happened) for one in expected.bins
    ]
    assert found.expected_calibration_error == pytest.approx(expected.expected_calibration_error)
    assert found.diagonal.n_refuted == expected.diagonal.n_refuted
    assert found.diagonal.n_groups == expected.diagonal.n_groups
    assert found.diagonal.p_value == pytest.approx(expected.diagonal.p_value)


@given(PAIRS)
def test_matthews_is_the_correlation(pairs: list[tuple[float, bool]]) -> None:
    yes = np.array([chance >= 0.5 for chance, _ in pairs], float)
    came = np.array([came for _, came in pairs], float)
    assume(yes.std() > 0 and came.std() > 0)
    assert tally(pairs).at(0.5).mcc == pytest.approx(np.corrcoef(yes, came)[0, 1])


def test_ratios_of_nothing_are_none() -> None:
    never = Confusion(tp=0, tn=5, fp=0, fn=0)
    assert (never.precision, never.recall, never.f1, never.informedness) == (None, None, None, None)
    assert (never.specificity, never.accuracy, never.mcc) == (1, 1, 0)
    missed = Confusion(tp=0, tn=5, fp=0, fn=2)
    assert (missed.recall, missed.f1, missed.mcc) == (0, None, 0)
