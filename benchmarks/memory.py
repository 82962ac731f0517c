"""How much memory a Python worker of Spark needs when the events become ten times as many."""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql import SparkSession

from benchmarks.meter import WorkerMemory, measured
from benchmarks.queries import strict
from benchmarks.results import Goal, Row, quantity
from benchmarks.sizes import Sizes
from benchmarks.streams import Readings

NAME = "memory of a worker"
MOST_GROWTH = 1.25
"""Tenfold events may add what a fuller partition holds, and no more."""


def run(spark: SparkSession, sizes: Sizes) -> Iterator[Row]:
    before: int | None = None
    for events in (sizes.fewer_events, sizes.events):
        data = Readings(events, sizes.devices, sizes.seed)
        path = data.parquet(sizes.folder)
        with WorkerMemory() as memory:
            cost = measured(lambda path=path: strict.QUERY.run(spark, path))
        growth = () if before is None else (Goal("× memory", memory.peak_bytes / before, most=MOST_GROWTH),)
        before = memory.peak_bytes
        yield Row(
            f"{strict.QUERY.name}: {NAME}",
            str(data),
            cost.seconds,
            cost.cpu_seconds,
            events,
            f"{quantity(memory.peak_bytes)}B in the largest worker",
            goals=growth,
        )
