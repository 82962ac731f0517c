"""A sequence of two triple patterns with one subject: in this process, and on Spark from a Parquet file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

import inkling
from benchmarks.knowledge.triples import PREFIXES, STREAM, iri, iris
from benchmarks.meter import Measured, best_of
from benchmarks.results import Goal, Row, quantity
from benchmarks.sizes import Sizes

LEAST_LOCAL, LEAST_SPARK, CORES = 3_000_000, 1_000_000, 2
SPAN, ROADS, CAUSES = 600, 20_000, 2_000
PREDICATES = ("slowDueTo", "closedDueTo", "checkedFor")
QUERY = f"""
SELECT ?road ?first ?second
WHERE {{ ?road :slowDueTo ?first }} SEQ {{ ?road :closedDueTo ?second }}
FILTER (getDURATION() < "PT{SPAN}S"^^xsd:duration)
"""


def triples(n: int, seed: int) -> pa.Table:
    """One triple per second, about a random road with one of three predicates."""
    rng = np.random.default_rng(seed)
    roads, predicates, causes = (rng.integers(0, most, n) for most in (ROADS, len(PREDICATES), CAUSES))
    return pa.table(
        {
            "s": iris("road", np.arange(ROADS)).take(pa.array(roads)),
            "p": pa.array([iri(name) for name in PREDICATES]).take(pa.array(predicates)),
            "o": iris("cause", np.arange(CAUSES)).take(pa.array(causes)),
            "t": np.arange(n),
        }
    )


def run(sizes: Sizes) -> Iterator[Row]:
    program = _program()
    rows = triples(sizes.triples, sizes.seed)
    _found(program, rows.slice(0, 1_000))
    (own,) = best_of(sizes.repeats, lambda: _found(program, rows))
    yield _row("in this process", len(rows), own, Goal("triples/s", len(rows) / own.cpu_seconds, least=LEAST_LOCAL))


def on_spark(spark: SparkSession, sizes: Sizes) -> Iterator[Row]:
    program = _program()
    paths = [_parquet(n, sizes) for n in (sizes.triples, sizes.spark_triples)]
    small, path = (_on_spark(program, spark, path) for path in paths)
    small()
    (own,) = best_of(sizes.repeats, path)
    n = sizes.spark_triples
    goal = Goal("triples/s on two cores", CORES * n / own.cpu_seconds, least=LEAST_SPARK)
    yield _row("on Spark, from Parquet", n, own, goal)


def _program() -> inkling.Program:
    return inkling.parse(STREAM + PREFIXES + QUERY, name="sequence.epsparql")


def _row(where: str, n: int, own: Measured[int], goal: Goal) -> Row:
    data = f"{quantity(n)} triples, {quantity(ROADS)} subjects"
    name = f"sequence of two patterns {where}"
    return Row(name, data, own.seconds, own.cpu_seconds, n, f"{quantity(own.answer)} results", (), (goal,))


def _found(program: inkling.Program, rows: pa.Table) -> int:
    return len(program.run_local({"triple": rows}).tables["query1"])


def _on_spark(program: inkling.Program, spark: SparkSession, path: Path) -> Callable[[], int]:
    def run() -> int:
        results = program.run(spark, {"triple": path})
        try:
            return results["query1"].count()
        finally:
            results.close()

    return run


def _parquet(n: int, sizes: Sizes) -> Path:
    path = sizes.folder / f"triples-{n}-{sizes.seed}.parquet"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(triples(n, sizes.seed), path, row_group_size=max(1, n // 8))
    return path
