"""Scores, bins and the test of the diagonal, against numbers worked out by hand."""

from math import log

import numpy as np
import pytest

from inkling.forecasting.calibration import Calibration, calibrate
from inkling.forecasting.calibration.reliability import clopper_pearson

FOUR = [
    {"probability": 0.1, "happened": False},
    {"probability": 0.4, "happened": True},
    {"probability": 0.8, "happened": True},
    {"probability": 0.8, "happened": False},
]


def of(prob: object, happened: object, error: object = 0.0) -> Calibration:
    pairs = np.broadcast_arrays(prob, happened, error)
    rows = [
        {"probability": float(p), "happened": bool(o), "error": float(e)}
        for p, o, e in zip(*(one.ravel() for one in pairs), strict=True)
    ]
    return calibrate(rows, "happened")


def test_four_results_worked_by_hand() -> None:
    found = calibrate(FOUR, "happened", bins=5)
    assert (found.n, found.n_missed, found.base_rate) == (4, 0, 0.5)
    assert found.mean_probability == pytest.approx(2.1 / 4)
    assert found.bias == pytest.approx(0.1 / 4)
    assert found.brier_score == pytest.approx((0.01 + 0.36 + 0.04 + 0.64) / 4)
    assert found.brier_skill == pytest.approx(1 - 0.2625 / 0.25)
    assert found.expected_calibration_error == pytest.approx((0.1 + 0.6 + 2 * 0.3) / 4)
    assert found.log_loss == pytest.approx(-log(0.9 * 0.4 * 0.8 * 0.2) / 4)
    assert [(one.lo, one.hi, one.n, one.n_happened) for one in found.bins] == [
        (0.0, 0.2, 1, 0),
        (0.4, 0.6, 1, 1),
        (0.8, 1.0, 2, 1),
    ]
    assert [one.mean_probability for one in found.bins] == pytest.approx([0.1, 0.4, 0.8])
    assert [one.share for one in found.bins] == [0.0, 1.0, 0.5]


def test_the_table_holds_the_curve() -> None:
    table = calibrate(FOUR, "happened", bins=5).to_table()
    assert table["n"].to_pylist() == [1, 1, 2]
    assert table["share"].to_pylist() == [0.0, 1.0, 0.5]
    assert table["share_lo"].to_pylist()[:2] == pytest.approx([0.0, 0.025])
    assert table["share_hi"].to_pylist()[:2] == pytest.approx([0.975, 1.0])


@pytest.mark.parametrize(
    ("n_happened", "n", "interval"),
    [
        (0, 1, (0.0, 0.975)),
        (1, 1, (0.025, 1.0)),
        (0, 20, (0.0, 1 - 0.025 ** (1 / 20))),
        (20, 20, (0.025 ** (1 / 20), 1.0)),
        (5, 10, (0.1871, 0.8129)),  # as tabulated by Clopper and Pearson
    ],
)
def test_clopper_pearson(n_happened: int, n: int, interval: tuple[float, float]) -> None:
    assert clopper_pearson(n_happened, n) == pytest.approx(interval, abs=5e-5)


def test_every_probability_has_a_bin() -> None:
    found = of([0.0, 0.1, 0.2, 0.3, 0.7, 0.9, 1.0], False)
    assert [(round(one.lo, 1), one.n) for one in found.bins] == [
        (0, 1),
        (0.1, 1),
        (0.2, 1),
        (0.3, 1),
        (0.7, 1),
        (0.9, 2),
    ]


def test_no_skill_without_variety_and_no_log_loss_of_a_failed_certainty() -> None:
    assert of([0.5, 0.7], True).brier_skill is None
    assert of([1.0, 0.7], [False, True]).log_loss is None
    assert of([0.0, 0.7], [True, True]).log_loss is None
    assert of([1.0, 0.5], [True, True]).log_loss == pytest.approx(log(2) / 2)


def test_one_group_worked_by_hand() -> None:
    """Of 100 results with probability 1/2, 60 happen: (60 - 50)² / 25 = 4, and P(χ²₁ ≥ 4) = 0.0455."""
    happened = np.arange(100) < 60
    for order in (happened, happened[::-1], np.roll(happened, 33)):
        found = of(0.5, order).diagonal
        assert (found.statistic, found.n_groups, found.n_refuted) == (pytest.approx(4.0), 1, 0)
        assert found.p_value == pytest.approx(0.0455, abs=1e-4)


def test_two_groups_worked_by_hand() -> None:
    """50 at 0.2, of which 14 happen, and 50 at 0.8, of which 38 do: 16/8 + 4/8, and P(χ²₂ ≥ 2.5) = e^-1.25."""
    prob = np.repeat([0.8, 0.2], 50)
    happened = np.concatenate([np.arange(50) < 38, np.arange(50) < 14])
    found = of(prob, happened).diagonal
    assert (found.statistic, found.n_groups) == (pytest.approx(2.5), 2)
    assert found.p_value == pytest.approx(np.exp(-1.25))


def test_a_small_group_joins_its_neighbor() -> None:
    """Ten at 0.1 expect one that happens, too few for a group: 1 + 25 expected of 60, variance 0.9 + 12.5."""
    prob = np.repeat([0.1, 0.5], [10, 50])
    happened = np.concatenate([np.arange(10) < 2, np.arange(50) < 30])
    found = of(prob, happened).diagonal
    assert (found.statistic, found.n_groups) == (pytest.approx(36 / 13.4), 1)


def test_the_error_of_an_estimate_adds_variance() -> None:
    sure = of(0.5, np.arange(100) < 60).diagonal
    unsure = of(0.5, np.arange(100) < 60, error=0.5 * 2.5758).diagonal
    assert unsure.statistic == pytest.approx(sure.statistic / 2)


def test_one_failed_certainty_refutes_and_kept_ones_prove_nothing() -> None:
    assert of(1.0, [True] * 50).diagonal.p_value == 1.0
    assert of([0.0] * 50 + [1.0] * 50, [False] * 50 + [True] * 50).lies_on_diagonal()
    refuted = of(1.0, [True] * 50 + [False])
    assert (refuted.diagonal.n_refuted, refuted.diagonal.p_value) == (1, 0.0)
    assert not refuted.lies_on_diagonal()


def test_few_rare_outcomes_are_judged_exactly() -> None:
    """One failure or more among 51 at 0.999 has the probability 1 - 0.999^51, twice that with both tails."""
    almost = of(0.999, [True] * 50 + [False])
    assert almost.diagonal.p_value == pytest.approx(2 * (1 - 0.999**51))
    assert almost.lies_on_diagonal(), "almost sure is not certain"
    assert of([0.5, 0.25], [True, True]).diagonal.p_value == pytest.approx(2 * 0.125)
    assert of([0.5, 0.25], [False, False]).diagonal.p_value == pytest.approx(2 * 0.375)
    assert not of(0.001, [True] * 2 + [False] * 8).lies_on_diagonal()


def test_right_probabilities_are_rejected_as_often_as_promised_and_wrong_ones_always() -> None:
    random = np.random.default_rng(5)
    p_values = []
    for _ in range(600):
        prob = random.beta(0.8, 0.8, size=300)
        p_values.append(of(prob, random.random(300) < prob).diagonal.p_value)
    rejected = np.mean(np.array(p_values) < 0.05)
    assert 0.025 < rejected < 0.08, "five percent, give or take chance"
    prob = random.beta(0.8, 0.8, size=3_000)
    happened = random.random(3_000) < prob
    assert of(prob, happened).lies_on_diagonal()
    overconfident = prob**2 / (prob**2 + (1 - prob) ** 2)
    assert not of(overconfident, happened).lies_on_diagonal()
    assert not of(0.9 * prob, happened).lies_on_diagonal()


def test_bins_are_at_least_one() -> None:
    with pytest.raises(ValueError, match="at least one bin"):
        calibrate(FOUR, "happened", bins=0)
