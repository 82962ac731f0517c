"""The suites by name: what belongs together, and can run in one process without warming up or slowing down the rest."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from benchmarks.results import Row
from benchmarks.sizes import Sizes
from benchmarks.streams import Readings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CORES = 2


@dataclass(frozen=True, slots=True)
class Benchmark:
    """Something to measure; it yields a row for each figure."""

    name: str
    run: Callable[[], Iterable[Row]]


@dataclass(frozen=True, slots=True)
class Suite:
    title: str
    benchmarks: Callable[[Sizes], Iterator[Benchmark]]


def _kernels(sizes: Sizes) -> Iterator[Benchmark]:
    # read by polars when it is loaded
    os.environ["POLARS_MAX_THREADS"] = "1"
    from benchmarks.kernels import automaton, network
    from benchmarks.meter import on_one_core

    data = Readings(sizes.kernel_events, sizes.kernel_devices, sizes.seed)
    for module in (automaton, network):
        yield Benchmark(module.NAME, lambda run=module.run: on_one_core(lambda: list(run(data, sizes.repeats))))


def _queries(sizes: Sizes) -> Iterator[Benchmark]:
    from benchmarks import against
    from benchmarks.queries import QUERIES

    for query in QUERIES:
        yield Benchmark(query.name, lambda query=query: [against.run(query, _spark(), sizes)])


def _growth(sizes: Sizes) -> Iterator[Benchmark]:
    from benchmarks import growth

    for name, run in growth.BENCHMARKS.items():
        yield Benchmark(name, lambda run=run: [run(_spark(), sizes)])


def _memory(sizes: Sizes) -> Iterator[Benchmark]:
    from benchmarks import memory

    yield Benchmark(memory.NAME, lambda: memory.run(_spark(), sizes))


def _prompt(sizes: Sizes) -> Iterator[Benchmark]:
    from benchmarks import commands

    for name, run in commands.BENCHMARKS.items():
        if sizes.demo_events or run is not commands.second_demo:
            yield Benchmark(name, lambda run=run: [run(sizes)])


SUITES = {
    "kernels": Suite("Evaluators alone, one core", _kernels),
    "queries": Suite("Spark, from Parquet to matches, two cores", _queries),
    "growth": Suite("Spark, when there is more of everything", _growth),
    "memory": Suite("Memory of Python workers on Spark", _memory),
    "prompt": Suite("At the prompt", _prompt),
}


@cache
def _spark() -> SparkSession:
    from inkling.spark.session import spark_session

    return spark_session(master=f"local[{CORES}]", app_name="inkling benchmarks")
