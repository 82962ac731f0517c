"""Waiting times and forecasts of small models are the fractions that were worked out by hand."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
from tests.oracles.wayeb_models import T1, T2, Laws, automaton, chain, counted, exact, letters, tree, word
from tests.oracles.wayeb_numbers import DEMO
from tests.reference.markov import meaning
from tests.reference.markov.moments import moments
from tests.reference.markov.suffix_automata import label_waiting_times

from inkling.forecasting.models.chain import MarkovChain
from inkling.forecasting.models.contexts import Contexts, tree_contexts
from inkling.forecasting.models.counts import Histories
from inkling.forecasting.models.forecasts import (
    Argmax,
    Around,
    Asked,
    Fixed,
    ForecastTable,
    PointForecast,
    Shortest,
    Within,
    waiting_times,
)
from inkling.forecasting.models.full_order import full_contexts, independent
from inkling.forecasting.models.prediction_tree import CounterTree, Thresholds, learn_tree
from inkling.forecasting.models.public_engine import label_contexts

F = Fraction
CLOSE = 1e-12


def fractions(text: str) -> list[Fraction]:
    return [F(one) for one in text.split(",")]


def assert_times(times: npt.NDArray[np.float64], expected: list[Fraction]) -> None:
    np.testing.assert_allclose(times[: len(expected)], [float(one) for one in expected], rtol=0, atol=CLOSE)


def by_paths(steps: list[str], laws: Laws, state: int, history: str, horizon: int) -> list[Fraction]:
    delta, final = automaton(steps, "ab")
    law = meaning.tree_law(exact(laws))
    return meaning.waiting_by_paths(delta.tolist(), final.tolist(), law, state, word(history), horizon)


O20 = {
    (1, "aa"): "1/4, 3/16, 9/64, 27/256, 81/1024, 243/4096, 729/16384, 2187/65536",
    (1, "ba"): "9/10, 1/40, 3/160, 9/640, 27/2560, 81/10240, 243/40960, 729/163840",
    (0, "bb"): "0, 9/20, 19/80, 41/320, 91/1280, 209/5120, 499/20480, 1241/81920",
    (2, "aab"): "0, 9/20, 19/80, 41/320, 91/1280, 209/5120, 499/20480, 1241/81920",
}


def test_O20_waiting_times() -> None:
    model = chain(["a", "b"], T1)
    times = waiting_times(model, 8)
    for (state, history), text in O20.items():
        expected = fractions(text)
        assert by_paths(["a", "b"], T1, state, history, 8) == expected
        assert_times(times[model.at(state, word(history))], expected)


def test_O20_means_and_variances() -> None:
    model = chain(["a", "b"], T1)
    known = moments(model)
    np.testing.assert_allclose(known.ever, 1.0, atol=CLOSE)
    for state, history, mean, variance in (
        (1, "aa", F(4), F(12)),
        (1, "ba", F(7, 5), F(66, 25)),
        (0, "bb", F(17, 5), F(116, 25)),
        (2, "ab", F(17, 5), F(116, 25)),
    ):
        at = model.at(state, word(history))
        assert known.mean[at] == pytest.approx(float(mean), abs=1e-10)
        assert known.variance[at] == pytest.approx(float(variance), abs=1e-10)


def test_O20_a_pair_that_the_stream_cannot_reach() -> None:
    """After two `a` the automaton is never in its start state; the example asks for it all the same."""
    delta, final = automaton(["a", "b"], "ab")
    contexts = tree_contexts(tree(T1))
    seeded = MarkovChain.of(delta, final, contexts, also=[(0, contexts.after(word("aa")))])
    at = seeded.at(0, word("aa"))
    assert moments(seeded).mean[at] == pytest.approx(97 / 20, abs=1e-10)
    sums = waiting_times(seeded, 5)[at].cumsum()
    for within, chance in ((1, F(0)), (2, F(3, 16)), (3, F(141, 320)), (5, F(3669, 5120))):
        assert sums[within - 1] == pytest.approx(float(chance), abs=CLOSE)


def test_O20_within() -> None:
    model = chain(["a", "b"], T1)
    expected = {
        (1, "aa"): "1/4, 7/16, 37/64, 781/1024",
        (1, "ba"): "9/10, 37/40, 151/160, 2479/2560",
        (0, "bb"): "0, 9/20, 11/16, 227/256",
    }
    for (state, history), text in expected.items():
        at = model.at(state, word(history))
        for within, chance in zip((1, 2, 3, 5), fractions(text), strict=True):
            table = ForecastTable.of(model, Asked(Within(within), confidence=0.5))
            assert table.chance[at] == pytest.approx(float(chance), abs=CLOSE)
            assert (table.first[at], table.last[at]) == (1, within)
            assert table.issued[at] == (chance >= F(1, 2))


@pytest.mark.parametrize(
    ("confidence", "state", "history", "first", "last", "chance"),
    [
        (F(1, 2), 1, "aa", 1, 3, F(37, 64)),
        (F(1, 2), 1, "ba", 1, 1, F(9, 10)),
        (F(1, 2), 0, "bb", 2, 3, F(11, 16)),
        (F(4, 5), 1, "aa", 1, 6, F(3367, 4096)),
        (F(4, 5), 1, "ba", 1, 1, F(9, 10)),
        (F(4, 5), 0, "bb", 2, 4, F(261, 320)),
    ],
)
def test_O20_shortest_intervals(
    confidence: Fraction, state: int, history: str, first: int, last: int, chance: Fraction
) -> None:
    model = chain(["a", "b"], T1)
    table = ForecastTable.of(model, Asked(Shortest(), confidence=float(confidence), horizon=8))
    at = model.at(state, word(history))
    assert (table.first[at], table.last[at], bool(table.issued[at])) == (first, last, True)
    assert table.chance[at] == pytest.approx(float(chance), abs=CLOSE)
    times = by_paths(["a", "b"], T1, state, history, 8)
    assert meaning.forecast(Shortest(), times, confidence) == (first, last, chance)


def test_O20_fundamental_matrix_sums_to_the_means() -> None:
    model = chain(["a", "b"], T1)
    rows = {(0, "bb"): (F(2), F(2, 5), F(1)), (1, "aa"): (F(0), F(4), F(0)), (1, "ba"): (F(0), F(2, 5), F(1))}
    for (state, history), visits in rows.items():
        assert moments(model).mean[model.at(state, word(history))] == pytest.approx(float(sum(visits)), abs=1e-10)


EXACT = {
    (0, "bb"): "0, 9/20, 19/80, 41/320, 91/1280, 209/5120",
    (2, "aab"): "0, 1/20, 27/80, 13/64, 163/1280, 85/1024",
    (1, "aaa"): "1/4, 3/16, 9/64, 27/256",
}
BY_LABEL = {
    (0, "bb"): "0, 1/10, 3/20, 3/20, 21/160, 69/640",
    (2, "aab"): "0, 1/10, 3/20, 3/20, 21/160, 69/640",
    (1, "aaa"): "1/4, 3/16, 9/64, 27/256",
}


def test_O21_exact_and_label_contexts() -> None:
    delta, final = automaton(["a", "b"], "ab")
    exactly = chain(["a", "b"], T2)
    labels = label_contexts(tree(T2))
    pairs = {(int(q), int(n)) for q, n in zip(exactly.state, exactly.contexts.node[exactly.context], strict=True)}
    by_label = MarkovChain.of(delta, final, labels, also=sorted(pairs))
    times, label_times = waiting_times(exactly, 6), label_waiting_times(exactly, by_label, 6)
    for (state, history), text in EXACT.items():
        assert by_paths(["a", "b"], T2, state, history, 6)[: len(fractions(text))] == fractions(text)
        assert_times(times[exactly.at(state, word(history))], fractions(text))
        assert_times(label_times[exactly.at(state, word(history))], fractions(BY_LABEL[state, history]))


O22 = {
    (F(1, 2), 0): ("0,0,0,1/16,1/16,1/16,1/16,15/256", F(16), (4, 12, F(2065, 4096))),
    (F(1, 2), 1): ("0,0,1/8,1/16,1/16,1/16,7/128,13/256", F(14), (3, 10, F(65, 128))),
    (F(1, 2), 2): ("0,1/4,0,1/16,1/16,3/64,3/64,11/256", F(12), (2, 8, F(131, 256))),
    (F(1, 2), 3): ("1/2,0,0,1/16,1/32,1/32,1/32,7/256", F(8), (1, 1, F(1, 2))),
    (F(7, 10), 0): ("0,0,0", F(10000, 1029), None),
    (F(7, 10), 1): ("0,0,343/1000,1029/10000,1029/10000,1029/10000", F(2190, 343), (3, 5, F(343, 625))),
    (F(7, 10), 2): ("0,49/100,0,1029/10000,1029/10000", F(1700, 343), (2, 4, F(5929, 10000))),
    (F(7, 10), 3): ("7/10", F(1000, 343), (1, 1, F(7, 10))),
}


@pytest.mark.parametrize(("chance", "state"), O22)
def test_O22_three_in_a_row(chance: Fraction, state: int) -> None:
    text, mean, interval = O22[chance, state]
    delta, final = automaton(["a", "b", "b", "b"], "ab")
    assert delta[4].tolist() == delta[0].tolist()
    model = MarkovChain.of(delta, final, independent([float(1 - chance), float(chance)]))
    at = model.at(state, ())
    assert_times(waiting_times(model, 20)[at], fractions(text))
    exact_times = meaning.waiting_by_merging(delta.tolist(), [[1 - chance, chance]] * 5, final.tolist(), 20)[state]
    assert exact_times[: len(fractions(text))] == fractions(text)
    assert moments(model).mean[at] == pytest.approx(float(mean), rel=CLOSE)
    if interval:
        table = ForecastTable.of(model, Asked(Shortest(), confidence=0.5, horizon=20))
        assert (table.first[at], table.last[at]) == interval[:2]
        assert table.chance[at] == pytest.approx(float(interval[2]), abs=CLOSE)
        assert meaning.forecast(Shortest(), exact_times, F(1, 2)) == interval


def test_O23_law_of_final_states() -> None:
    start = fractions("0, 1/9, 2/27, 2/27, 16/243, 44/729")
    after_one = fractions("1/3, 0, 2/27, 4/81, 4/81, 32/729")
    for restart in (False, True):
        delta, final = automaton(["H", "H"], "HL", restart=restart)
        model = MarkovChain.of(delta, final, independent([1 / 3, 2 / 3]))
        for state, expected in ((0, start), (1, after_one), (2, start if restart else after_one)):
            assert_times(waiting_times(model, 6)[model.at(state, ())], expected)
            law = meaning.waiting_by_merging(delta.tolist(), [[F(1, 3), F(2, 3)]] * 3, final.tolist(), 6)
            assert law[state] == expected


O24 = [F(one, 100) for one in (0, 20, 30, 10, 10, 10, 10, 5, 5, 0)]


def table_of(times: list[Fraction], asked: Asked) -> ForecastTable:
    """Forecasts of one distribution, as that of a belief that is sure of it."""
    model = MarkovChain.of(np.zeros((2, 1), np.int32), np.array([False, True]), independent([1.0]), also=[(1, 0)])
    rows = np.array([[float(one) for one in times]] * model.n_states)
    return ForecastTable.of(model, asked, rows)


@pytest.mark.parametrize(
    ("percent", "ends"),
    [(30, (3, 3)), (50, (2, 3)), (60, (2, 4)), (70, (2, 5)), (80, (2, 6)), (95, (2, 8)), (100, (2, 9))],
)
def test_O24_interval_search(percent: int, ends: tuple[int, int]) -> None:
    assert meaning.forecast(Shortest(), O24, F(percent, 100)) == (*ends, F(percent, 100))
    table = table_of(O24, Asked(Shortest(), confidence=percent / 100, horizon=10))
    assert (table.first[0], table.last[0]) == ends
    assert table.chance[0] == pytest.approx(percent / 100, abs=CLOSE)


def test_O24_other_kinds() -> None:
    for asked, expected in (
        (Asked(PointForecast(), horizon=10), (3, 3, F(3, 10))),
        (Asked(Argmax(), confidence=0.7, horizon=10), (1, 5, F(7, 10))),
        (Asked(Fixed(2), confidence=0.6, horizon=10), (2, 4, F(6, 10))),
        (Asked(Within(4), confidence=0.6), (1, 4, F(6, 10))),
    ):
        assert meaning.forecast(asked.kind, O24, F(str(asked.confidence))) == expected
        table = table_of(O24, asked)
        assert (table.first[0], table.last[0]) == expected[:2]
        assert table.chance[0] == pytest.approx(float(expected[2]), abs=CLOSE)


def demo_chain(contexts: Contexts) -> MarkovChain:
    alphabet = "ABC" if contexts.n_symbols == 3 else "ABCx"
    return MarkovChain.of(*automaton(["A", "BC"], alphabet, restart=True), contexts)


def demo_full(order: int) -> MarkovChain:
    delta, _ = automaton(["A", "BC"], "ABC", restart=True)
    return demo_chain(full_contexts(counted(DEMO, "ABC", order, delta), 3))


def demo_tree(order: int) -> MarkovChain:
    learned = learn_tree(CounterTree.of(counted(DEMO, "ABCx", order)), order, Thresholds.of())
    return demo_chain(tree_contexts(learned))


def outcomes(model: MarkovChain, within: int) -> tuple[int, int, int, int]:
    """Forecasts of the demo stream that a detection comes within so many events: true and false, right and wrong."""
    symbols = letters(DEMO, "ABC")
    after = model.follow(symbols, np.array([0, len(DEMO)]), Histories.new(1), memory=model.contexts.depth)
    table = ForecastTable.of(model, Asked(Within(within), confidence=0.5))
    detections = [3, 7, 20, 22, 26, 29, 33, 37, 44, 48, 52, 59, 62, 66, 70, 72, 85, 90, 94, 98]
    score = {(said, came): 0 for said in (True, False) for came in (True, False)}
    for number, state in enumerate(after.tolist(), start=1):
        if state >= 0 and table.eligible[state]:
            came = any(number < one <= number + within for one in detections)
            score[bool(table.issued[state]), came] += 1
    return score[True, True], score[False, False], score[True, False], score[False, True]


def test_O25_order_0() -> None:
    model = demo_full(0)
    times = waiting_times(model, 20)
    assert_times(times[model.at(0, ())], fractions("0, 340/1551, 544340/2405601, 665825740/3731087151"))
    assert_times(times[model.at(1, ())], fractions("20/33, 260/1089, 3380/35937, 43940/1185921"))
    assert [outcomes(model, within) for within in (1, 2, 10)] == [(20, 46, 14, 0), (29, 37, 5, 9), (74, 0, 6, 0)]


def test_O25_intervals() -> None:
    model = demo_full(0)
    half, most = (
        ForecastTable.of(model, Asked(Shortest(), confidence=confidence, horizon=20)) for confidence in (0.5, 0.9)
    )
    for table, state, first, last, chance in (
        (half, 0, 2, 4, 0.623947210500),
        (half, 1, 1, 1, 0.606060606),
        (most, 0, 2, 8, 0.932518404),
        (most, 1, 1, 3, 0.938865236),
    ):
        at = model.at(state, ())
        assert (table.first[at], table.last[at], bool(table.issued[at])) == (first, last, True)
        assert table.chance[at] == pytest.approx(chance, abs=1e-9)
    assert half.expected[model.at(0, ())] == pytest.approx(2.934674180740, abs=1e-12)


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
def test_O27_outcomes_of_trees(order: int, within: int, expected: tuple[int, int, int, int]) -> None:
    assert outcomes(demo_tree(order), within) == expected


def test_around_and_remaining_follow_the_shortest_way() -> None:
    delta, final = automaton(["a", "b", "b", "b"], "ab")
    model = MarkovChain.of(delta, final, independent([0.5, 0.5]))
    table = ForecastTable.of(model, Asked(Around(3), confidence=0.1))
    at = [model.at(state, ()) for state in range(5)]
    assert [(int(table.first[one]), int(table.last[one])) for one in at] == [(3, 5), (2, 4), (1, 3), (1, 2), (1, 1)]
    assert table.chance[at[1]] == pytest.approx(3 / 16)
    assert [bool(table.issued[one]) for one in at] == [True, True, True, True, False]
    some = ForecastTable.of(model, Asked(Within(9), remaining=(0.5, 0.75), including_final=True))
    assert [bool(some.issued[one]) for one in at] == [False, True, True, False, False]
