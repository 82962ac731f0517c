"""Automata over one batch: where patterns end, and with the first match that ends there; one pattern and sixteen."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.kernels.prepared import Prepared, prepared
from benchmarks.meter import best_of
from benchmarks.results import Baseline, Goal, Row, quantity
from benchmarks.streams import N_KINDS, Readings
from inkling.automata.detector import Detector
from inkling.automata.engine import PatternSet
from inkling.evaluators.automaton.evaluator import AutomatonEvaluator

NAME = "automaton"
LEAST_RATES = {1: 50e6, 16: 10e6}


def run(data: Readings, repeats: int) -> Iterator[Row]:
    table = data.table()
    for n_patterns, least in LEAST_RATES.items():
        kinds = [(n % N_KINDS, (n + 1) % N_KINDS, (3 * n + 2) % N_KINDS) for n in range(n_patterns)]
        ready = prepared("\n".join(_event(number, three) for number, three in enumerate(kinds)), table)
        (evaluator,) = ready.engine.automata
        batch = ready.batch
        numbers = np.arange(len(batch))
        kind = table["kind"].to_numpy()[batch.ids.to_numpy()]
        bits = evaluator._compressed(batch)
        detector = Detector.of(evaluator.patterns)
        detect, track, evaluate, shifted = best_of(
            repeats + 1,
            lambda: len(detector.step(detector.initial_state(), batch.key, batch.source, bits)[1].row),
            lambda: len(_tracked(evaluator.patterns, ready, bits, numbers)),
            lambda: _n_results(evaluator, ready),
            lambda: sum(_shifted(batch.key, kind, three) for three in kinds),
        )
        found = {detect.answer, track.answer, evaluate.answer, shifted.answer}
        if len(found) != 1:
            raise AssertionError(f"the ways to count matches disagree: {found}")
        baseline = (Baseline.of("NumPy, shifted columns", shifted),)
        for what, cost, goal in (
            ("ends only", detect, least),
            ("with matches", track, least),
            ("as evaluator, with results", evaluate, None),
        ):
            yield Row(
                f"automaton, {n_patterns} pattern{'s' if n_patterns > 1 else ''}, {what}",
                str(data),
                cost.seconds,
                cost.cpu_seconds,
                data.events,
                f"{quantity(cost.answer)} matches",
                baseline,
                () if goal is None else (Goal("events/s", data.events / cost.seconds, least=goal),),
            )


def _event(number: int, kinds: tuple[int, int, int]) -> str:
    steps = ", ".join(f"Reading[kind = {kind}]" for kind in kinds)
    return f"EVENT e{number}(device) AS PATTERN SEQ STRICT({steps}) PARTITION BY device PER END;"


def _tracked(patterns: PatternSet, ready: Prepared, bits: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    batch = ready.batch
    return patterns.step(patterns.initial_state(), batch.key, batch.source, bits, numbers)[1].row


def _n_results(evaluator: AutomatonEvaluator, ready: Prepared) -> int:
    return sum(len(matches) for matches in evaluator.evaluate(ready.batch))


def _shifted(key: np.ndarray, kind: np.ndarray, wanted: tuple[int, int, int]) -> int:
    """Rows are sorted by key, so three neighbors with one key are consecutive."""
    hit = (kind[:-2] == wanted[0]) & (kind[1:-1] == wanted[1]) & (kind[2:] == wanted[2])
    return int(np.count_nonzero(hit & (key[:-2] == key[2:])))
