"""The suites by name; each runs in a process of its own, so that none warms up or slows down another."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from benchmarks import commands
from benchmarks.results import Row
from benchmarks.sizes import Sizes
from benchmarks.streams import Readings

CORES = 2


def kernels(sizes: Sizes) -> Iterator[Row]:
    """Evaluators alone, one core"""
    os.environ["POLARS_MAX_THREADS"] = "1"
    import pyarrow as pa

    from benchmarks.kernels import automaton, network
    from benchmarks.meter import on_one_core

    pa.set_cpu_count(1)
    data = Readings(sizes.kernel_events, sizes.kernel_devices, sizes.seed)
    with on_one_core():
        yield from automaton.run(data, sizes.repeats)
        yield from network.run(data, sizes.repeats)


def queries(sizes: Sizes) -> Iterator[Row]:
    """Spark from Parquet to matches, two cores"""
    from benchmarks import against
    from benchmarks.queries import QUERIES

    spark = _spark()
    for query in QUERIES:
        yield against.run(query, spark, sizes)
    spark.stop()


def growth(sizes: Sizes) -> Iterator[Row]:
    """Spark, when there is more of everything"""
    from benchmarks import growth

    spark = _spark()
    yield from growth.run(spark, sizes)
    spark.stop()


def memory(sizes: Sizes) -> Iterator[Row]:
    """Memory of Python workers on Spark"""
    from benchmarks import memory

    spark = _spark()
    yield from memory.run(spark, sizes)
    spark.stop()


def prompt(sizes: Sizes) -> Iterator[Row]:
    """At the prompt"""
    yield from commands.run(sizes)


SUITES: dict[str, Callable[[Sizes], Iterator[Row]]] = {
    "kernels": kernels,
    "queries": queries,
    "growth": growth,
    "memory": memory,
    "prompt": prompt,
}


def _spark():
    from inkling.spark.session import spark_session

    return spark_session(master=f"local[{CORES}]", app_name="inkling benchmarks")
