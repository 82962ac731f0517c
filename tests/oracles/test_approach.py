"""Forecasts of vessels whose law is known: chances are right where the model looks back as far as the vessels do.

The vessels follow a chain of order 2. Forecasts that do not overlap have independent errors given the past, so that the
binomial limits below hold; the model, too, is an estimate, which adds the share of its data to the variance.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from inkling.examples.approach.scenario import BANDS, law
from scipy.stats import norm

import inkling
from inkling import load
from inkling.forecasting.scoring.scorecard import Scores
from inkling.forecasting.scoring.tally import Tally
from inkling.query import Program
from inkling.scenarios import Truth, scenario

PROGRAM = Path(__file__).parents[2] / "examples" / "approach" / "approach.ink"
EVENTS, SHARE = 60_000, 0.75
LEVEL = 0.001
"""How often the test of one curve may fail by chance; the seed is fixed."""


@pytest.fixture(scope="module")
def program() -> Program:
    return load(PROGRAM)


@pytest.fixture(scope="module")
def data() -> tuple[pa.Table, Truth]:
    source = scenario("approach", events=EVENTS, seed=3)
    rows = pa.Table.from_batches([block["Position"] for block in source.blocks()])
    return rows, source.truth()


@pytest.fixture(scope="module")
def scores(program: Program, data: tuple[pa.Table, Truth]) -> dict[str, Scores]:
    return program.score({"Position": data[0]}, settings=inkling.ScoreSettings(order=range(6), train_share=SHARE))


def test_the_program_finds_what_the_generator_counted(program: Program, data: tuple[pa.Table, Truth]) -> None:
    rows, truth = data
    models = program.fit({"Position": rows}, settings=inkling.FitSettings(order=2))
    found = program.run_local({"Position": rows}, models)
    assert found.rejects.num_rows == 0
    assert {name: found.tables[name].num_rows for name in truth.matches} == truth.matches
    assert truth.matches["approaching_port"] > 1000


def test_vessels_follow_the_law(data: tuple[pa.Table, Truth]) -> None:
    """Shares of the next band, counted from positions, against the law of the module."""
    rows, _ = data
    north, east = (rows["lat"].to_numpy() - 42.0), (rows["lon"].to_numpy() + 8.0) * np.cos(np.radians(42.0))
    away = np.hypot(north, east) * 6_371_000 * np.pi / 180
    band = np.searchsorted([5_000, 7_000, 10_000], away)
    order = np.lexsort((rows["id"].to_numpy(), rows["mmsi"].to_numpy()))
    vessel, path = rows["mmsi"].to_numpy()[order], band[order]
    same = vessel[2:] == vessel[:-2]
    counted = np.zeros((4, 4, 4))
    np.add.at(counted, (path[:-2][same], path[1:-1][same], path[2:][same]), 1)
    expected = law()
    assert np.allclose(expected.sum(axis=2), 1)
    totals = counted.sum(axis=2, keepdims=True)
    assert counted[np.broadcast_to(expected == 0, counted.shape)].sum() == 0
    sigma = np.sqrt(expected * (1 - expected) / np.maximum(totals, 1))
    seen = np.broadcast_to(totals > 0, counted.shape)
    distance = np.abs(counted / np.maximum(totals, 1) - expected)
    assert (distance <= 4.5 * sigma + 1e-9)[seen].all()
    assert len(BANDS) == 4


def off_the_diagonal(tally: Tally) -> list[float]:
    """By chance that was stated often: how many standard deviations the share that came true is off."""
    often = tally.n * np.minimum(tally.chance, 1 - tally.chance) >= 5
    chance, n, n_true = (column[often] for column in (tally.chance, tally.n, tally.n_true))
    learned_from = SHARE / (1 - SHARE)  # times as many events as are judged
    variance = n * chance * (1 - chance) * (1 + 1 / learned_from)
    assert n.sum() > 0.8 * tally.n_forecasts
    return list((n_true - n * chance) / np.sqrt(variance))


@pytest.mark.parametrize("order", [2, 3])
def test_the_right_model_is_calibrated(scores: dict[str, Scores], order: int) -> None:
    card = scores["soon"].card(f"order {order}")
    distances = off_the_diagonal(card.apart)
    limit = norm.ppf(1 - LEVEL / 2 / len(distances))  # for all of them together
    assert len(distances) >= 5
    assert np.abs(distances).max() < limit
    curve = card.calibration()
    assert curve is not None
    assert curve.lies_on_diagonal(LEVEL)


@pytest.mark.parametrize("order", [0, 1])
def test_a_model_that_looks_back_too_little_is_not(scores: dict[str, Scores], order: int) -> None:
    card = scores["soon"].card(f"order {order}")
    distances = off_the_diagonal(card.apart)
    assert np.abs(distances).max() > norm.ppf(1 - LEVEL / 2 / len(distances))
    curve = card.calibration()
    assert curve is not None
    assert not curve.lies_on_diagonal(LEVEL)


def test_orders_beside_each_other(scores: dict[str, Scores]) -> None:
    """Scores get better up to order 2 and no better after it; no simple rule comes close."""
    rows = {row["name"]: row for row in scores["soon"].to_table().to_pylist()}
    assert len({row["forecasts"] for row in rows.values()}) == 1, "all are judged by the same forecasts"
    for score in ("brier_score", "log_loss"):
        loss = [rows[f"order {order}"][score] for order in range(6)]
        assert loss[0] > 1.05 * loss[1] > 1.1 * loss[2]
        assert all(later > 0.995 * loss[2] for later in loss[3:])
        assert all(later < 1.02 * loss[2] for later in loss[3:])
        rules = [row[score] for row in rows.values() if row["order"] is None]
        assert len(rules) == 3
        assert min(rules) > 1.1 * loss[2]
    assert rows["order 2"]["f1"] > rows["order 1"]["f1"]
    assert rows["order 2"]["mcc"] > rows["order 1"]["mcc"] > 0


def test_intervals_hold_what_they_promise(scores: dict[str, Scores]) -> None:
    """The share of intervals that come true is what they state, within what chance explains."""
    right, wrong = (scores["arrival"].card(f"order {order}") for order in (2, 1))
    curve = right.calibration()
    assert curve is not None
    assert curve.lies_on_diagonal(LEVEL)
    assert right.intervals is not None
    assert wrong.intervals is not None
    assert right.intervals.mean_spread is not None
    assert wrong.intervals.mean_spread is not None
    assert right.intervals.mean_spread < 0.7 * wrong.intervals.mean_spread
