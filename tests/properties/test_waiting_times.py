"""Counts, chains, waiting times and forecasts equal their definitions in fractions, on random models and streams."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from tests.reference.markov import meaning
from tests.reference.markov.moments import moments
from tests.reference.markov.suffix_automata import suffix_automaton

from inkling.forecasting.models.chain import MarkovChain
from inkling.forecasting.models.contexts import Contexts, tree_contexts
from inkling.forecasting.models.counts import Histories, WordCounts
from inkling.forecasting.models.forecasts import (
    Argmax,
    Around,
    Asked,
    Fixed,
    ForecastTable,
    Kind,
    PointForecast,
    Shortest,
    Within,
    waiting_times,
)
from inkling.forecasting.models.full_order import full_contexts, independent
from inkling.forecasting.models.prediction_tree import PredictionTree

pytestmark = pytest.mark.long

CLOSE = 1e-12
F = Fraction


@dataclass(frozen=True, slots=True)
class Case:
    """A random automaton and a random model of its symbols, as arrays and as a definition."""

    delta: list[list[int]]
    final: list[bool]
    law: meaning.Law
    contexts: Contexts
    depth: int

    @property
    def n_symbols(self) -> int:
        return len(self.delta[0])

    def chain(self) -> MarkovChain:
        return MarkovChain.of(np.array(self.delta, np.int32), np.array(self.final), self.contexts)

    def state_after(self, history: meaning.Word) -> int:
        state = 0
        for symbol in history:
            state = self.delta[state][symbol]
        return state


def random_law(rnd: Random, n_symbols: int) -> tuple[Fraction, ...]:
    parts = [rnd.choice([0, 1, 1, 2, 3, 5]) for _ in range(n_symbols)]
    parts[rnd.randrange(n_symbols)] += 1
    return tuple(F(part, sum(parts)) for part in parts)


def random_automaton(rnd: Random, n_symbols: int) -> tuple[list[list[int]], list[bool]]:
    n_states = rnd.randint(2, 4)
    delta = [[rnd.randrange(n_states) for _ in range(n_symbols)] for _ in range(n_states)]
    final = [rnd.random() < 0.3 for _ in range(n_states)]
    final[rnd.randrange(1, n_states)] = True
    return delta, final


def random_tree(rnd: Random, n_symbols: int) -> dict[meaning.Word, tuple[Fraction, ...]]:
    words: set[meaning.Word] = {()}
    for _ in range(rnd.randint(0, 4)):
        word = tuple(rnd.randrange(n_symbols) for _ in range(rnd.randint(1, 3)))
        words |= {word[cut:] for cut in range(len(word) + 1)}
    return {word: random_law(rnd, n_symbols) for word in words}


def as_tree(laws: dict[meaning.Word, tuple[Fraction, ...]], n_symbols: int) -> PredictionTree:
    return PredictionTree.of(n_symbols, list(laws), [[float(share) for share in law] for law in laws.values()])


def tree_case(rnd: Random) -> Case:
    n_symbols = rnd.choice([2, 2, 2, 3])
    laws = random_tree(rnd, n_symbols)
    contexts = tree_contexts(as_tree(laws, n_symbols))
    return Case(*random_automaton(rnd, n_symbols), meaning.tree_law(laws), contexts, contexts.depth)


def random_streams(rnd: Random, n_symbols: int, n_keys: int, length: int) -> list[list[int]]:
    kinds = [*range(n_symbols)] * 8 + [-1]
    return [[rnd.choice(kinds) for _ in range(rnd.randint(0, length))] for _ in range(n_keys)]


def counted(
    streams: list[list[int]], delta: list[list[int]], order: int, histories: Histories | None = None
) -> WordCounts:
    symbols = np.array([symbol for stream in streams for symbol in stream], np.int32)
    segments = np.cumsum([0, *(len(stream) for stream in streams)])
    return WordCounts.of(symbols, segments, np.array(delta, np.int32), order, histories or Histories.new(len(streams)))


def full_case(rnd: Random) -> Case:
    n_symbols, order = rnd.choice([2, 2, 3]), rnd.randint(0, 2)
    delta, final = random_automaton(rnd, n_symbols)
    streams = random_streams(rnd, n_symbols, rnd.randint(1, 3), 25)
    contexts = full_contexts(counted(streams, delta, order), len(delta))
    return Case(delta, final, meaning.full_order_law(streams, delta, order), contexts, order)


def histories_of(rnd: Random, case: Case, n: int) -> Iterator[meaning.Word]:
    for _ in range(n):
        yield tuple(rnd.randrange(case.n_symbols) for _ in range(rnd.randint(1, 5)))


def placed(chain: MarkovChain, history: meaning.Word, depth: int, *, early: bool) -> int:
    found = chain.follow(
        np.array(history, np.int32), np.array([0, len(history)]), Histories.new(1), memory=depth, early=early
    )
    return int(found[-1])


@pytest.mark.parametrize("make", [tree_case, full_case], ids=["trees", "full orders"])
def test_merged_waiting_times_eq_paths(make) -> None:  # type: ignore[no-untyped-def]
    rnd = Random(f"waiting {make.__name__}")
    for _ in range(600):
        case = make(rnd)
        chain = case.chain()
        horizon = 5 if case.n_symbols == 2 else 4
        times = np.ascontiguousarray(ForecastTable.of(chain, Asked(Within(horizon))).times)
        exact = exact_merged(case, chain, horizon)
        for history in histories_of(rnd, case, 2):
            expected = meaning.waiting_by_paths(
                case.delta, case.final, case.law, case.state_after(history), history, horizon
            )
            at = placed(chain, history, case.depth, early=True)
            if at < 0:
                assert not any(expected)
                continue
            assert exact[at] == expected
            np.testing.assert_allclose(times[at], [float(one) for one in expected], rtol=0, atol=CLOSE)


def exact_merged(case: Case, chain: MarkovChain, horizon: int) -> list[list[Fraction]]:
    """The recursion over the chain, with the fractions of the definition as weights."""
    words = case.contexts.words()
    weight = [
        case.law(state, words[context])
        for state, context in zip(chain.state.tolist(), chain.context.tolist(), strict=True)
    ]
    for row, law in zip(chain.weight, weight, strict=True):
        np.testing.assert_allclose(row, [float(share) for share in law], rtol=0, atol=CLOSE)
    return meaning.waiting_by_merging(chain.target.tolist(), weight, chain.final.tolist(), horizon)


def test_merged_waiting_times_eq_powers_of_the_matrix() -> None:
    """N^(n - 1) (I - N) 1 from states that are not final, and one step of FN before it from those that are."""
    rnd = Random("powers")
    for _ in range(100):
        chain = tree_case(rnd).chain()
        full = np.zeros((chain.n_states, chain.n_states))
        np.add.at(full, (np.arange(chain.n_states)[:, None], chain.target), chain.weight)
        some, end = np.flatnonzero(~chain.final), np.flatnonzero(chain.final)
        inside = full[np.ix_(some, some)]
        times = ForecastTable.of(chain, Asked(Within(7))).times
        leaves = (np.eye(len(some)) - inside) @ np.ones(len(some))
        powers = [np.linalg.matrix_power(inside, n) @ leaves for n in range(7)]
        np.testing.assert_allclose(times[some], np.stack(powers, axis=1), rtol=0, atol=CLOSE)
        np.testing.assert_allclose(times[end, 0], full[np.ix_(end, end)].sum(axis=1), rtol=0, atol=CLOSE)
        for n in range(1, 7):
            np.testing.assert_allclose(
                times[end, n], full[np.ix_(end, some)] @ powers[n - 1], rtol=0, atol=CLOSE, err_msg=f"{n}"
            )


def test_moments_are_sums_over_waiting_times() -> None:
    rnd = Random("moments")
    never = 0
    for make in (tree_case, full_case):
        for _ in range(100):
            chain = make(rnd).chain()
            known = moments(chain)
            times = waiting_times(chain, 3_000)
            if (times[:, -1] > 1e-14).any():
                continue
            ever, numbers = times.sum(axis=1), np.arange(1, 3_001)
            np.testing.assert_allclose(known.ever, ever, rtol=0, atol=1e-9)
            there = ever > 0
            never += int((~there).sum())
            mean = times[there] @ numbers / ever[there]
            np.testing.assert_allclose(known.mean[there], mean, rtol=1e-7)
            np.testing.assert_allclose(
                known.variance[there], times[there] @ numbers**2 / ever[there] - mean**2, rtol=1e-6, atol=1e-6
            )
            assert np.isnan(known.mean[~there]).all()
    assert never > 10


def test_states_are_used_when_the_unknown_past_cannot_matter() -> None:
    rnd = Random("ready")
    waited = 0
    for _ in range(300):
        case = tree_case(rnd)
        chain = case.chain()
        for history in histories_of(rnd, case, 3):
            older = itertools.product(range(case.n_symbols), repeat=case.depth)
            longest = {_node(case, (*past, *history)) for past in older} | {_node(case, history)}
            usable = placed(chain, history, case.depth, early=False) >= 0
            assert usable == (len(longest) == 1)
            waited += not usable
    assert waited > 50


def _node(case: Case, history: meaning.Word) -> int:
    return int(case.contexts.node[case.contexts.after(history)])


def test_suffix_automata_wait_as_long_as_trees() -> None:
    rnd = Random("suffix automata")
    for _ in range(100):
        n_symbols = rnd.choice([2, 3])
        tree = as_tree(random_tree(rnd, n_symbols), n_symbols)
        delta, final = random_automaton(rnd, n_symbols)
        arrays = np.array(delta, np.int32), np.array(final)
        one, other = (MarkovChain.of(*arrays, contexts) for contexts in (tree_contexts(tree), suffix_automaton(tree)))
        within = Asked(Within(6))
        one_times, other_times = ForecastTable.of(one, within).times, ForecastTable.of(other, within).times
        for _ in range(5):
            history = tuple(rnd.randrange(n_symbols) for _ in range(rnd.randint(0, 6)))
            state = Case(delta, final, lambda *_: (), one.contexts, 0).state_after(history)
            np.testing.assert_allclose(
                one_times[one.at(state, history)], other_times[other.at(state, history)], rtol=0, atol=CLOSE
            )


def test_beliefs_mix_waiting_times() -> None:
    rnd = Random("beliefs")
    for _ in range(100):
        case = tree_case(rnd)
        chain = case.chain()
        parts = [rnd.choice([0, 0, 1, 2]) for _ in range(chain.n_states)]
        parts[0] += 1
        belief = [F(part, sum(parts)) for part in parts]
        exact = exact_merged(case, chain, 5)
        mixed = [sum((share * row[n] for share, row in zip(belief, exact, strict=True)), F(0)) for n in range(5)]
        table = ForecastTable.of(chain, Asked(Shortest(), confidence=0.4, horizon=5, including_final=True))
        got = table.on([float(share) for share in belief])
        np.testing.assert_allclose(got.times[0], [float(one) for one in mixed], rtol=0, atol=CLOSE)
        found = meaning.forecast(Shortest(), mixed, F(2, 5))
        assert (int(got.first[0]), int(got.last[0])) == ((0, 0) if found is None else found[:2])
        sure = table.on(np.eye(chain.n_states))
        assert sure.first.tolist() == table.first.tolist()
        assert sure.issued.tolist() == table.issued.tolist()


HORIZON = 8
KINDS: tuple[Kind, ...] = (Within(5), Around(3), PointForecast(), Shortest(), Argmax(), Fixed(2))


def test_kinds_of_intervals_eq_brute_force() -> None:
    rnd = Random("intervals")
    centers = np.arange(1, 6, dtype=np.int32)
    delta = np.array([[state + 1] for state in range(5)] + [[5]], np.int32)
    final = np.array([False] * 5 + [True])
    chain = MarkovChain.of(delta, final, independent([1.0]))
    assert sorted(chain.distance.tolist()) == [0, *centers]
    issued = dict.fromkeys(KINDS, 0)
    for _ in range(500):
        confidence = F(rnd.choice([0, 2, 3, 5, 6, 8, 9, 10]), 10)
        spread = rnd.choice([None, 0, 2, 4])
        rows = [random_distribution(rnd) for _ in range(chain.n_states)]
        times = np.array([[float(one) for one in row] for row in rows])
        for kind in KINDS:
            asked = Asked(kind, confidence=float(confidence), horizon=HORIZON, spread=spread, including_final=True)
            table = ForecastTable.of(chain, asked, times)
            for at, row in enumerate(rows):
                found = meaning.forecast(kind, row, confidence, spread=spread, center=int(chain.distance[at]))
                assert bool(table.issued[at]) == (found is not None), (kind, row, confidence, spread)
                if found is not None:
                    issued[kind] += 1
                    assert (int(table.first[at]), int(table.last[at])) == found[:2], (kind, row, confidence)
                    assert table.chance[at] == pytest.approx(float(found[2]), abs=CLOSE)
                    mean = float(meaning.expected(row, *found[:2]))
                    assert table.expected[at] == pytest.approx(mean, abs=1e-10)
    assert min(issued.values()) > 500


def random_distribution(rnd: Random) -> list[Fraction]:
    """Many ties, and sums that are exactly what is asked for."""
    parts = [rnd.choice([0, 0, 1, 1, 2, 3]) for _ in range(HORIZON)]
    return [F(part, 10 if sum(parts) <= 10 else 20) for part in parts]


def test_counts_do_not_depend_on_how_a_stream_is_cut() -> None:
    rnd = Random("cuts")
    for _ in range(150):
        n_symbols, order = rnd.randint(1, 4), rnd.randint(0, 4)
        delta, _ = random_automaton(rnd, n_symbols)
        streams = random_streams(rnd, n_symbols, rnd.randint(1, 4), 30)
        whole = counted(streams, delta, order)
        assert whole.occurrences() == dict(meaning.occurrences(streams, order + 1)) or not whole.n_events
        by_key = [counted([stream], delta, order) for stream in streams]
        assert WordCounts.merged(*by_key).to_arrow().equals(whole.to_arrow())
        histories, batches = Histories.new(len(streams)), []
        rest = streams
        while any(rest):
            cuts = [rnd.randint(0, min(6, len(stream))) for stream in rest]
            batches.append(
                counted([stream[:cut] for stream, cut in zip(rest, cuts, strict=True)], delta, order, histories)
            )
            rest = [stream[cut:] for stream, cut in zip(rest, cuts, strict=True)]
        if batches:
            assert WordCounts.merged(*batches).to_arrow().equals(whole.to_arrow())
        assert WordCounts.from_arrow(whole.to_arrow()).to_arrow().equals(whole.to_arrow())


def test_following_does_not_depend_on_how_a_stream_is_cut() -> None:
    rnd = Random("followed")
    for _ in range(100):
        case = rnd.choice([tree_case, full_case])(rnd)
        chain, memory = case.chain(), case.depth + rnd.randint(0, 2)
        stream = random_streams(rnd, case.n_symbols, 1, 40)[0]
        symbols = np.array(stream, np.int32)
        whole = chain.follow(symbols, np.array([0, len(stream)]), Histories.new(1), memory=memory)
        histories, parts = Histories.new(1), [np.empty(0, np.int32)]
        at = 0
        while at < len(stream):
            step = rnd.randint(0, 7)
            part = symbols[at : at + step]
            parts.append(chain.follow(part, np.array([0, len(part)]), histories, memory=memory))
            at += step
        assert np.concatenate(parts).tolist() == whole.tolist()
        for row, found in enumerate(whole.tolist()):
            past = list(meaning.pieces(stream[: row + 1]))[-1]
            if stream[row] < 0:
                assert found == -1
            elif found >= 0:
                assert found == chain.at(case.state_after(past), past)
