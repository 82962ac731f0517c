"""Paths that are followed one by one come to the same waiting times, and with a cutoff they lose some."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from tests.oracles.wayeb_models import T2, automaton, counted, letters, tree, word
from tests.oracles.wayeb_numbers import DEMO, DEMO_PAIRS

from inkling.forecasting.models import public_engine
from inkling.forecasting.models.chain import MarkovChain
from inkling.forecasting.models.contexts import tree_contexts
from inkling.forecasting.models.counts import Histories
from inkling.forecasting.models.forecasts import Asked, ForecastTable, Within, waiting_times
from inkling.forecasting.models.full_order import independent
from inkling.forecasting.models.prediction_tree import CounterTree, PredictionTree, Thresholds, learn_tree
from inkling.forecasting.models.public_engine import CUTOFF, label_contexts, path_waiting_times


def random_chain(random: np.random.Generator) -> MarkovChain:
    """Probabilities are eighths, so that sums and products of a few of them are exact."""
    n_states, n_symbols = random.integers(2, 5), random.integers(2, 4)
    laws = random.multinomial(8, [1 / n_symbols] * n_symbols, size=n_symbols + 1) / 8
    nodes = PredictionTree.of(n_symbols, [(), *((symbol,) for symbol in range(n_symbols))], laws.tolist())
    delta = random.integers(0, n_states, (n_states, n_symbols)).astype(np.int32)
    return MarkovChain.of(delta, random.random(n_states) < 0.4, tree_contexts(nodes))


def test_nothing_is_lost_without_a_cutoff() -> None:
    random = np.random.default_rng(36)
    for _ in range(60):
        chain = random_chain(random)
        followed = path_waiting_times(chain, 6, cutoff=0)
        assert (followed.times == waiting_times(chain, 6)).all()
        assert not followed.lost.any()


def test_what_arrives_what_is_lost_and_what_is_under_way_are_everything() -> None:
    random = np.random.default_rng(29)
    n_lossy = 0
    for _ in range(60):
        chain = random_chain(random)
        followed = path_waiting_times(chain, 12, cutoff=0.01)
        whole = followed.times.sum(axis=1) + followed.lost.sum(axis=1) + followed.under_way
        np.testing.assert_allclose(whole, 1.0, atol=1e-12)
        exact = waiting_times(chain, 12)
        assert (followed.times <= exact + 1e-12).all()
        # only what was lost earlier can be missing
        missing = exact.cumsum(axis=1)[:, 1:] - followed.times.cumsum(axis=1)[:, 1:]
        assert (missing <= followed.lost.cumsum(axis=1)[:, :-1] + 1e-12).all()
        n_lossy += bool((missing > 1e-6).any())
    assert n_lossy > 10


def test_a_path_is_dropped_when_it_is_not_above_the_cutoff() -> None:
    delta, final = automaton(["b"], "ab")
    followed = path_waiting_times(MarkovChain.of(delta, final, independent([0.5, 0.5])), 5, cutoff=1 / 8)
    assert followed.times[0].tolist() == [1 / 2, 1 / 4, 1 / 8, 0, 0]
    assert followed.lost[0].tolist() == [0, 0, 1 / 8, 0, 0]


def test_paths_to_one_state_are_not_merged() -> None:
    delta, final = automaton(["b"], "abc")
    chain = MarkovChain.of(delta, final, independent([0.25, 0.5, 0.25]))
    followed = path_waiting_times(chain, 3, cutoff=1 / 8)
    # together `a` and `c` would be half of what may come, and an eighth after three events
    assert followed.times[0].tolist() == [1 / 2, 1 / 4, 0]
    assert followed.lost[0].tolist() == [0, 1 / 4, 0]
    assert waiting_times(chain, 3)[0].tolist() == [1 / 2, 1 / 4, 1 / 8]


def test_O21_with_labels() -> None:
    delta, final = automaton(["a", "b"], "ab")
    nodes = tree(T2)
    chain = MarkovChain.of(
        delta, final, label_contexts(nodes), also=[(q, n) for q in range(3) for n in range(len(nodes))]
    )
    followed = path_waiting_times(chain, 6, cutoff=0)
    for state, label, text in (
        (0, "b", "0, 1/10, 3/20, 3/20, 21/160, 69/640"),
        (2, "b", "0, 1/10, 3/20, 3/20, 21/160, 69/640"),
        (1, "aa", "1/4, 3/16, 9/64, 27/256"),
    ):
        expected = [float(Fraction(one)) for one in text.split(",")]
        row = followed.times[chain.index[state, nodes.words().index(word(label))]]
        assert row[: len(expected)] == pytest.approx(expected, abs=1e-12)


def demo_chain(order: int) -> MarkovChain:
    learned = learn_tree(CounterTree.of(counted(DEMO, "ABCx", order)), order, Thresholds.of())
    return MarkovChain.of(*automaton(["A", "BC"], "ABCx", restart=True), label_contexts(learned))


@pytest.mark.parametrize(
    ("order", "within", "expected"),
    [
        (1, 1, (20, 46, 14, 0)),
        (1, 2, (29, 37, 5, 9)),
        (1, 3, (32, 25, 2, 21)),
        (1, 5, (62, 0, 18, 0)),
        (2, 1, (20, 46, 13, 0)),
        (2, 2, (28, 37, 5, 9)),
        (2, 3, (37, 20, 7, 15)),
        (2, 5, (61, 0, 18, 0)),
    ],
)
def test_O27_outcomes_with_labels_and_cutoff(order: int, within: int, expected: tuple[int, int, int, int]) -> None:
    chain = demo_chain(order)
    followed = path_waiting_times(chain, within)
    table = ForecastTable.of(chain, Asked(Within(within), confidence=0.5), followed.times)
    ends = np.array([0, len(DEMO)])
    after = chain.follow(letters(DEMO, "ABC"), ends, Histories.new(1), memory=chain.contexts.depth)
    score = {(said, came): 0 for said in (True, False) for came in (True, False)}
    for number, state in enumerate(after.tolist(), start=1):
        if state >= 0 and table.eligible[state]:
            score[bool(table.issued[state]), any(number < end <= number + within for end in DEMO_PAIRS)] += 1
    assert (score[True, True], score[False, False], score[True, False], score[False, True]) == expected


def test_chances_are_biased_low_on_the_demo_stream() -> None:
    chain = demo_chain(2)
    followed, exact = path_waiting_times(chain, 20), waiting_times(chain, 20)
    assert CUTOFF == 0.001
    short = exact.sum(axis=1) - followed.times.sum(axis=1)
    assert (short > 0.001).all()
    np.testing.assert_allclose(followed.times.sum(axis=1) + followed.lost.sum(axis=1) + followed.under_way, 1.0)


def test_nonsense_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    chain = MarkovChain.of(np.zeros((1, 2), np.int32), np.array([False]), independent([0.5, 0.5]))
    with pytest.raises(ValueError, match="a cutoff is at least 0 and below 1, not 1"):
        path_waiting_times(chain, 3, cutoff=1)
    with pytest.raises(ValueError, match="a horizon is at least one event, not 0"):
        path_waiting_times(chain, 0)
    monkeypatch.setattr(public_engine, "MOST_PATHS", 100)
    with pytest.raises(ValueError, match="more than 100 paths of 7 events"):
        path_waiting_times(chain, 40, cutoff=0)
