"""Rows pushed to a program in this process: a thousand at a time, and one by one."""

from __future__ import annotations

import itertools
import time
from collections import defaultdict
from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa

import inkling
from benchmarks.meter import Measured, best_of, measured
from benchmarks.results import Baseline, Goal, Row, quantity
from benchmarks.sizes import Sizes
from benchmarks.streams import STREAM, Readings

BATCH = 1_000
WINDOW_S = 10
LEAST_RATE = 1e6
MOST_P50_US, MOST_P99_US = 15, 60
LOOP = "a loop in Python over dicts, only counted"
STEPS = "Reading a[kind = 0 AND level > 0.5], Reading b[kind = 1 AND code >= 500], Reading c[kind = 2]"
DICT, ARROW = "a dict", "an Arrow table"
PATTERNS = {
    "automaton": f"EVENT m(device) AS PATTERN SEQ NEXT({STEPS}) PARTITION BY device PER END;",
    "network": f"EVENT m(device) AS PATTERN SEQ NEXT({STEPS}) WITHIN {WINDOW_S} SECONDS PARTITION BY device PER MATCH;",
}


def run(kind: str, devices: int, sizes: Sizes) -> Iterator[Row]:
    data = Readings(sizes.push_events, devices, sizes.seed)
    table = data.table().combine_chunks()
    program = inkling.parse(STREAM + PATTERNS[kind])
    batches = [table.slice(first, BATCH) for first in range(0, len(table), BATCH)]
    rows = table.to_pylist()
    loop = LOOPS[kind]
    pushed, looped = best_of(
        sizes.repeats + 1, lambda: _push_all(program, batches), lambda: _loop_over(loop(), batches)
    )
    if pushed.answer != looped.answer:
        raise AssertionError(f"the ways to the matches disagree: {pushed.answer} and {looped.answer}")
    goals = (Goal("events/s", data.events / pushed.seconds, least=LEAST_RATE),) if kind == "automaton" else ()
    name = f"{kind}, {quantity(devices)} keys"
    found = f"{quantity(pushed.answer)} matches"
    baselines = (Baseline.of(LOOP, looped),)
    yield Row(
        f"{name}, batches of {quantity(BATCH)}",
        str(data),
        pushed.seconds,
        pushed.cpu_seconds,
        data.events,
        found,
        baselines,
        goals,
    )
    one_by_one = rows[: sizes.push_singles]
    tables = [table.slice(number, 1) for number in range(sizes.push_singles)]
    loops = {DICT: lambda: sum(map(loop(), one_by_one)), ARROW: lambda: _loop_over(loop(), tables)}
    for form, single in _single_pushes(program, table, rows, sizes).items():
        p50, p99 = (float(time) for time in np.quantile(single.answer, [0.5, 0.99]) * 1e6)
        looped_singly = measured(loops[form])
        yield Row(
            f"{name}, one by one, {form}",
            str(data),
            single.seconds,
            single.cpu_seconds,
            len(single.answer),
            f"p50 {p50:.0f} µs, p99 {p99:.0f} µs of processor time",
            (Baseline.of(LOOP, looped_singly),),
            (Goal("p50 µs", p50, most=MOST_P50_US), Goal("p99 µs", p99, most=MOST_P99_US)) if form == DICT else (),
        )


def _loop_over(step: Callable[[dict[str, object]], int], batches: list[pa.Table]) -> int:
    return sum(step(row) for batch in batches for row in batch.to_pylist())


def _push_all(program: inkling.Program, batches: list[pa.Table]) -> int:
    stream = program.open()
    return sum(stream.push({"Reading": batch}).n_results for batch in batches) + stream.finish().n_results


def _single_pushes(
    program: inkling.Program, table: pa.Table, rows: list[dict[str, object]], sizes: Sizes
) -> dict[str, Measured[list[float]]]:
    """Processor seconds of each push of one row, after half of the rows were pushed in batches and some one by one."""
    first = len(rows) // 2
    stream = program.open()
    for start in range(0, first, BATCH):
        stream.push({"Reading": table.slice(start, min(BATCH, first - start))})
    numbers = iter(range(first, len(rows)))

    def push(form: str, n: int) -> list[float]:
        times = []
        for number in itertools.islice(numbers, n):
            if form == DICT:
                row = rows[number]
                started = time.process_time()
                _ = stream.push_event("Reading", row).n_results
            else:
                given = {"Reading": table.slice(number, 1)}
                started = time.process_time()
                _ = stream.push(given).n_results
            times.append(time.process_time() - started)
        return times

    found = {}
    for form in (DICT, ARROW):
        push(form, sizes.push_singles // 10)
        found[form] = measured(lambda form=form: push(form, sizes.push_singles))
    return found


def _ends() -> Callable[[dict[str, object]], int]:
    """Counts where the three steps end, one row at a time."""
    has_a: dict[object, bool] = defaultdict(bool)
    has_b: dict[object, bool] = defaultdict(bool)

    def step(row: dict[str, object]) -> int:
        key, kind = row["device"], row["kind"]
        if kind == 0 and row["level"] > 0.5:
            has_a[key] = True
        elif kind == 1 and row["code"] >= 500 and has_a[key]:
            has_a[key], has_b[key] = False, True
        elif kind == 2 and has_b[key]:
            has_b[key] = False
            return 1
        return 0

    return step


def _matches() -> Callable[[dict[str, object]], int]:
    """Counts the matches of the three steps that fit into the window, one row at a time."""
    firsts: dict[object, list[object]] = defaultdict(list)
    pairs: dict[object, list[object]] = defaultdict(list)

    def step(row: dict[str, object]) -> int:
        key, kind = row["device"], row["kind"]
        if kind == 0 and row["level"] > 0.5:
            firsts[key].append(row["t"])
        elif kind == 1 and row["code"] >= 500:
            pairs[key] += firsts.pop(key, [])
        elif kind == 2:
            return sum((row["t"] - start).total_seconds() <= WINDOW_S for start in pairs.pop(key, []))
        return 0

    return step


LOOPS = {"automaton": _ends, "network": _matches}
