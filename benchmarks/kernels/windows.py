"""Sliding windows over one batch of one key: what an event costs in a short window and in one of a million events."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl
import pyarrow as pa

from benchmarks.kernels.prepared import prepared
from benchmarks.meter import Measured, best_of
from benchmarks.results import Baseline, Goal, Row, quantity
from benchmarks.streams import Readings
from inkling.evaluators.windows.event import WindowEvent
from inkling.model.batch import FOREVER

NAME = "windows"
SHORT, LONG = 100, 1_000_000
LEAST_RATE = 1e6
MOST_RATIO = 2.0
ASKED = {
    "count, sum, average": "COUNT(w) AS n, SUM(w.level) AS s, AVG(w.level) AS a",
    "least, greatest": "MIN(w.level) AS l, MAX(w.level) AS h",
    "median": "MEDIAN(w.level) AS m",
    "deviation": "STDDEV(w.level) AS d",
}


def run(data: Readings, repeats: int) -> Iterator[Row]:
    table = data.table().slice(0, min(data.events, 3 * LONG))
    frame = pl.from_arrow(table.select(["level"]))
    assert isinstance(frame, pl.DataFrame)
    for what, outputs in ASKED.items():
        short, long = (_measured(table, outputs, size, repeats) for size in (SHORT, LONG))
        for size, cost in ((SHORT, short), (LONG, long)):
            baselines = ()
            if what == "count, sum, average" and size == SHORT:
                (rolling,) = best_of(repeats, lambda: frame.select(pl.col("level").rolling_mean(SHORT)).height)
                baselines = (Baseline.of("polars, rolling mean alone, rounded at every step", rolling),)
            goals = [Goal("events/s", len(table) / cost.seconds, least=LEAST_RATE)]
            if size == LONG:
                goals.append(Goal(f"cost beside {SHORT}", long.seconds / short.seconds, most=MOST_RATIO))
            yield Row(
                f"{what}, last {quantity(size)} events",
                f"{quantity(len(table))} events, one key",
                cost.seconds,
                cost.cpu_seconds,
                len(table),
                f"{quantity(cost.answer)} results",
                baselines,
                tuple(goals),
            )


def _measured(table: pa.Table, outputs: str, size: int, repeats: int) -> Measured[int]:
    ready = prepared(f"EVENT x AS PATTERN WINDOW Reading w LAST {size} EVENTS RETURN {outputs};", table)
    (step,) = ready.engine.stage.steps
    evaluator = WindowEvent(step, ready.context)
    (cost,) = best_of(repeats + 1, lambda: len(evaluator.evaluate(ready.batch, ready.n_keys, FOREVER)))
    return cost
