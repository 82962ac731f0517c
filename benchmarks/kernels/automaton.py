"""Automata over one batch: where patterns end, with the first match that ends there; one pattern and sixteen."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from benchmarks.kernels.prepared import prepared
from benchmarks.meter import best_of
from benchmarks.results import Baseline, Goal, Row, quantity
from benchmarks.streams import N_KINDS, Readings

NAME = "automaton"
LEAST_RATES = {1: 50e6, 16: 10e6}


def run(data: Readings, repeats: int) -> Iterator[Row]:
    table = data.table()
    for n_patterns, least in LEAST_RATES.items():
        yield from _measure(n_patterns, least, data, table, repeats)


def _measure(n_patterns: int, least: float, data: Readings, table: pa.Table, repeats: int) -> Iterator[Row]:
    kinds = [(n % N_KINDS, (n + 1) % N_KINDS, (3 * n + 2) % N_KINDS) for n in range(n_patterns)]
    ready = prepared("\n".join(_event(number, three) for number, three in enumerate(kinds)), table)
    (evaluator,) = ready.engine.automata
    batch = ready.batch
    rows = (batch.key, batch.source, evaluator._compressed(batch))
    numbers = np.arange(len(batch))
    kind = table["kind"].to_numpy()[batch.ids.to_numpy()]
    patterns = evaluator.patterns
    track, evaluate, shifted = costs = best_of(
        repeats + 1,
        lambda: len(patterns.step(patterns.initial_state(), *rows, numbers)[1]),
        lambda: sum(len(matches) for matches in evaluator.evaluate(batch)),
        lambda: sum(_shifted(batch.key, kind, three) for three in kinds),
    )
    if len({cost.answer for cost in costs}) != 1:
        raise AssertionError(f"the ways to the matches disagree: {[cost.answer for cost in costs]}")
    for what, cost, goals in (("with matches", track, (least,)), ("as evaluator, with results", evaluate, ())):
        yield Row(
            f"{NAME}, {n_patterns} pattern{'s' if n_patterns > 1 else ''}, {what}",
            str(data),
            cost.seconds,
            cost.cpu_seconds,
            data.events,
            f"{quantity(cost.answer)} matches",
            (Baseline.of("NumPy, shifted columns, only counted", shifted),),
            tuple(Goal("events/s", data.events / cost.seconds, least=goal) for goal in goals),
        )


def _event(number: int, kinds: tuple[int, int, int]) -> str:
    steps = ", ".join(f"Reading[kind = {kind}]" for kind in kinds)
    return f"EVENT e{number}(device) AS PATTERN SEQ STRICT({steps}) PARTITION BY device PER END;"


def _shifted(key: np.ndarray, kind: np.ndarray, wanted: tuple[int, int, int]) -> int:
    """Rows are sorted by key, so three neighbors with one key are consecutive."""
    hit = (kind[:-2] == wanted[0]) & (kind[1:-1] == wanted[1]) & (kind[2:] == wanted[2])
    return int(np.count_nonzero(hit & (key[:-2] == key[2:])))
