"""Models of symbols: counting words, looking up forecasts and waiting times, beside plain Python and NumPy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from benchmarks.meter import best_of
from benchmarks.results import Baseline, Goal, Row, quantity
from inkling.forecasting.models.chain import MarkovChain
from inkling.forecasting.models.contexts import tree_contexts
from inkling.forecasting.models.counts import Histories, WordCounts
from inkling.forecasting.models.forecasts import Asked, ForecastTable, Shortest, waiting_times
from inkling.forecasting.models.full_order import every_context
from inkling.forecasting.models.prediction_tree import CounterTree, Thresholds, learn_tree

NAME = "forecasts"
N_SYMBOLS = 6
ORDER = 3
DEEP = 5
HORIZON = 200
LEAST_COUNTED, LEAST_LOOKED_UP, MOST_WAITING_S = 5e6, 20e6, 5.0
PLAIN_EVENTS = 200_000

# symbol 0, later symbol 1, later symbol 2
DELTA = np.array([[1, 0, 0, 0, 0, 0], [1, 2, 1, 1, 1, 1], [2, 2, 3, 2, 2, 2], [1, 0, 0, 0, 0, 0]], np.int32)
FINAL = np.array([False, False, False, True])


def run(n_events: int, n_keys: int, repeats: int, seed: int) -> Iterator[Row]:
    symbols = np.random.default_rng(seed).integers(0, N_SYMBOLS, n_events).astype(np.int32)
    segments = np.linspace(0, n_events, n_keys + 1).astype(np.int64)
    few = min(n_events, PLAIN_EVENTS)
    data = f"{quantity(n_events)} events, {quantity(n_keys)} keys, {N_SYMBOLS} symbols"
    yield _counting(symbols, segments, few, data, repeats)
    yield _looking_up(symbols, segments, few, data, repeats)
    yield _waiting(repeats)


def _counting(
    symbols: npt.NDArray[np.int32], segments: npt.NDArray[np.int64], few: int, data: str, repeats: int
) -> Row:
    plain = symbols[:few].tolist()

    def by_hand() -> int:
        found: Counter[tuple[int, tuple[int, ...]]] = Counter()
        state = 0
        for at, symbol in enumerate(plain):
            found[state, tuple(plain[max(0, at - ORDER) : at + 1])] += 1
            state = int(DELTA[state, symbol])
        return len(found)

    def counted() -> int:
        return len(WordCounts.of(symbols, segments, DELTA, ORDER, Histories.new(len(segments) - 1)).code)

    counted()
    ours, hand = best_of(repeats, counted, by_hand)
    factor = len(symbols) / few
    return Row(
        f"learn: words of order {ORDER}",
        data,
        ours.seconds,
        ours.cpu_seconds,
        len(symbols),
        f"{quantity(ours.answer)} words",
        (Baseline("a dictionary in plain Python", hand.seconds * factor, hand.cpu_seconds * factor),),
        (Goal("events/s", len(symbols) / ours.seconds, least=LEAST_COUNTED),),
    )


def _looking_up(
    symbols: npt.NDArray[np.int32], segments: npt.NDArray[np.int64], few: int, data: str, repeats: int
) -> Row:
    counts = WordCounts.of(symbols, segments, DELTA, ORDER, Histories.new(len(segments) - 1))
    tree = learn_tree(CounterTree.of(counts), ORDER, Thresholds.of(ratio=1.0))
    chain = MarkovChain.of(DELTA, FINAL, tree_contexts(tree))
    table = ForecastTable.of(chain, Asked(Shortest(), confidence=0.5, horizon=HORIZON))
    issued, first = table.issued, table.first

    def looked_up() -> int:
        at = chain.follow(symbols, segments, Histories.new(len(segments) - 1), memory=ORDER)
        said = issued[at] & (at >= 0)
        return int(first[at[said]].sum())

    plain, target = symbols[:few].tolist(), chain.target.tolist()

    def by_hand() -> int:
        here, total = 0, 0
        for symbol in plain:
            here = target[here][symbol]
            if issued[here]:
                total += int(first[here])
        return total

    looked_up()
    ours, hand = best_of(repeats, looked_up, by_hand)
    factor = len(symbols) / few
    return Row(
        f"forecast: look-up by state and context, {chain.n_states} of them",
        data,
        ours.seconds,
        ours.cpu_seconds,
        len(symbols),
        "a forecast after each event",
        (Baseline("the same look-ups in plain Python", hand.seconds * factor, hand.cpu_seconds * factor),),
        (Goal("events/s", len(symbols) / ours.seconds, least=LEAST_LOOKED_UP),),
    )


def _waiting(repeats: int) -> Row:
    contexts = every_context(N_SYMBOLS, DEEP)
    law = np.random.default_rng(1).dirichlet(np.ones(N_SYMBOLS), contexts.n_contexts)
    chain = MarkovChain.of(DELTA, FINAL, replace(contexts, gamma=law[None]))

    def ours_() -> float:
        return float(waiting_times(chain, HORIZON).sum())

    def in_numpy() -> float:
        ends = chain.final[chain.target]
        now = (chain.weight * ends).sum(axis=1)
        onward, total = np.where(ends, 0.0, chain.weight), float(now.sum())
        for _ in range(HORIZON - 1):
            now = (onward * now[chain.target]).sum(axis=1)
            total += float(now.sum())
        return total

    ours_()
    ours, numpy_ = best_of(repeats, ours_, in_numpy)
    assert abs(ours.answer - numpy_.answer) < 1e-6 * numpy_.answer
    return Row(
        f"waiting times of all states, {HORIZON} events ahead",
        f"order {DEEP}, {N_SYMBOLS} symbols, {quantity(chain.n_states)} states",
        ours.seconds,
        ours.cpu_seconds,
        None,
        "probabilities of each number of events",
        (Baseline.of("NumPy, one event ahead at a time", numpy_),),
        (Goal("seconds", ours.seconds, most=MOST_WAITING_S),),
    )
