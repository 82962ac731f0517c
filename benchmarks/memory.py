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
MOST_BYTES = 1.5 * 2**30
"""What a worker may hold at any size: a partition of the default size, with room for its working copies."""


def run(spark: SparkSession, sizes: Sizes) -> Iterator[Row]:
    for events in (sizes.fewer_events, sizes.events):
        data = Readings(events, sizes.devices, sizes.seed)
        path = data.parquet(sizes.folder)
        with WorkerMemory() as memory:
            cost = measured(lambda path=path: strict.QUERY.run(spark, path))
        yield Row(
            f"{strict.QUERY.name}: {NAME}",
            str(data),
            cost.seconds,
            cost.cpu_seconds,
            events,
            f"{quantity(memory.peak_bytes)}B in the largest worker",
            goals=(Goal("bytes", memory.peak_bytes, most=MOST_BYTES),),
        )
