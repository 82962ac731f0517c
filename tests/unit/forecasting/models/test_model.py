"""Models as files, models of groups, and how well models predict."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from inkling.automata.compiled import CompiledPattern
from inkling.automata.dfa import Dfa
from inkling.automata.guards import Guard
from inkling.automata.policies import strict
from inkling.automata.regex import RegexPattern, Symbol
from inkling.forecasting.models.chain import moves
from inkling.forecasting.models.counts import Histories, WordCounts
from inkling.forecasting.models.full_order import full_contexts, independent
from inkling.forecasting.models.gaps import GapCounts
from inkling.forecasting.models.model import ForecastModel, Learning, best_order, log_loss


def automaton(*steps: int) -> Dfa:
    letters = [Symbol(Guard(frozenset({step})), at) for at, step in enumerate(steps)]
    return CompiledPattern.of(RegexPattern(strict(letters)), 2).dfa()


def counted(dfa: Dfa, keys: list[str], order: int, groups: tuple[str, ...] = ("",)) -> WordCounts:
    symbols = np.array(["ab".index(letter) for key in keys for letter in key], np.int32)
    return WordCounts.of(
        symbols,
        np.cumsum([0, *map(len, keys)]),
        moves(dfa),
        order,
        Histories.new(len(keys)),
        group=groups,
        group_of_key=np.arange(len(keys), dtype=np.int32) % len(groups),
    )


AB = automaton(0, 1)
KEYS = ["aababbabaab", "bbbabbbabba"]


def model(kind: str = "tree", **learning: float) -> ForecastModel:
    counts = counted(AB, KEYS, 3, ("calm", "wild"))
    gaps = GapCounts.of(np.array([0, 1], np.int32), np.array([7, 700]))
    return ForecastModel("ab", ("a", "b"), AB.fingerprint, 3, counts, gaps, Learning(kind, 2, **learning), version=4)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["tree", "full", "weighted"])
def test_a_model_comes_back_from_its_file(kind: str, tmp_path: Path) -> None:
    saved = model(kind, shrinkage=2.5)
    saved.save(tmp_path / "ab.model")
    loaded = ForecastModel.load(tmp_path / "ab.model")
    for name in ("event", "alphabet", "fingerprint", "n_states", "learning", "version", "n_events"):
        assert getattr(loaded, name) == getattr(saved, name)
    assert loaded.counts.to_arrow().equals(saved.counts.to_arrow())
    assert loaded.gaps.to_arrow().equals(saved.gaps.to_arrow())
    one, other = saved.chain(AB, "wild"), loaded.chain(AB, "wild")
    assert np.array_equal(one.weight, other.weight)
    assert np.array_equal(one.target, other.target)


def test_files_that_are_no_models_are_rejected(tmp_path: Path) -> None:
    path = tmp_path / "x.model"
    path.write_bytes(b"nothing")
    with pytest.raises(ValueError, match="is not a model"):
        ForecastModel.load(path)
    pq.write_table(pa.table({"a": [1]}), path)
    with pytest.raises(ValueError, match="does not name its event"):
        ForecastModel.load(path)
    table = model().to_arrow()
    states = pa.array([9] * table.num_rows, pa.int32())
    with pytest.raises(ValueError, match="damaged"):
        ForecastModel.from_arrow(table.set_column(table.column_names.index("state"), "state", states))


def test_another_automaton_is_rejected() -> None:
    with pytest.raises(ValueError, match="learned with another automaton"):
        model().chain(automaton(0, 0))
    with pytest.raises(ValueError, match="order 5 needs words that were not counted"):
        ForecastModel("ab", ("a", "b"), "", 3, model().counts, learning=Learning("tree", 5))


@pytest.mark.parametrize("kind", ["tree", "full"])
def test_groups_are_shrunk_toward_the_model_of_all(kind: str) -> None:
    """γ of a group = (its count + κ γ of all) / (its counts + κ)."""
    shared = model(kind, shrinkage=3.0)
    everyone, own = shared.contexts(), shared.contexts("wild")
    history = (1, 1)
    state = 0
    at = everyone.after(history)
    symbols = [sum(KEYS[1][i : i + 3] == "bb" + letter for i in range(9)) for letter in "ab"]
    law = everyone.law(state, at)
    expected = (np.array(symbols) + 3.0 * law) / (sum(symbols) + 3.0)
    np.testing.assert_allclose(own.law(state, own.after(history)), expected, atol=1e-12)
    unseen = shared.contexts("never seen")
    np.testing.assert_allclose(unseen.gamma, everyone.gamma, atol=1e-12)


def test_without_shrinkage_groups_share_one_model() -> None:
    assert np.array_equal(model().contexts("wild").gamma, model().contexts().gamma)


def test_log_loss_of_a_model_that_does_not_look_back() -> None:
    counts = counted(AB, ["aaab"], 0)
    expected = -(3 * math.log2(0.5) + math.log2(0.125)) / 4
    assert log_loss(independent([0.5, 0.125]), counts) == pytest.approx(expected)
    assert log_loss(independent([1.0, 0.0]), counts) == math.inf
    floored = -(3 * math.log2(0.9) + math.log2(0.1)) / 4
    assert log_loss(independent([1.0, 0.0]), counts, floor=0.1) == pytest.approx(floored)


def cross_validated(parts: list[WordCounts], order: int) -> float:
    """The log-loss on each part of a model learned from the other parts; all parts have as many events."""
    losses = []
    for at, part in enumerate(parts):
        others = WordCounts.merged(*parts[:at], *parts[at + 1 :]).total()
        losses.append(log_loss(full_contexts(others.shallower(order), 3), part.total(), floor=0.001))
    return sum(losses) / len(losses)


def test_cross_validation_finds_the_order_of_a_source() -> None:
    """The source repeats the symbol before the last one nine times out of ten: order 2."""
    rng = np.random.default_rng(11)
    parts = []
    for _ in range(4):
        text = "ab"
        for keep in rng.random(2_000) < 0.9:
            text += text[-2] if keep else "ab"[text[-2] == "a"]
        parts.append(counted(AB, [text], 5))
    losses = {order: cross_validated(parts, order) for order in range(6)}
    assert best_order(losses) == 2
    entropy = -(0.9 * math.log2(0.9) + 0.1 * math.log2(0.1))
    assert losses[2] == pytest.approx(entropy, abs=0.03)
    assert losses[1] > losses[2] + 0.2
