"""What ten times the events, a hundred times the devices and ten times the patterns cost on Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from benchmarks.meter import Measured, best_of
from benchmarks.queries import next_match, strict
from benchmarks.queries.query import Query
from benchmarks.results import Baseline, Goal, Row, quantity
from benchmarks.sizes import Sizes
from benchmarks.streams import STREAM, Readings
from inkling.query import Program, parse

MOST_FOR_EVENTS, MOST_FOR_DEVICES, MOST_FOR_PATTERNS = 11.0, 1.5, 4.0
QUERIES = (strict.QUERY, next_match.QUERY)


def run(spark: SparkSession, sizes: Sizes) -> Iterator[Row]:
    for query in QUERIES:
        yield from _in_events(spark, query, sizes)
        yield from _in_devices(spark, query, sizes)
    yield from _in_patterns(spark, "strict", _strict_patterns, sizes)
    yield from _in_patterns(spark, "next match", _next_patterns, sizes)


def _in_events(spark: SparkSession, query: Query, sizes: Sizes) -> Iterator[Row]:
    few = Readings(sizes.fewer_events, sizes.devices, sizes.seed)
    many = Readings(sizes.events, sizes.devices, sizes.seed)
    small, large = best_of(sizes.repeats, *(_query(spark, query, data, sizes) for data in (few, many)))
    times = sizes.events / sizes.fewer_events
    # a run has fixed costs, so fewer than ten times as many events may cost more than their share
    most = MOST_FOR_EVENTS * times / 10
    yield _row(f"{query.name}: {quantity(times)} × the events", many, large, str(few), small, most)


def _in_devices(spark: SparkSession, query: Query, sizes: Sizes) -> Iterator[Row]:
    few = Readings(sizes.events // 4, sizes.few_devices, sizes.seed)
    many = Readings(sizes.events // 4, sizes.many_devices, sizes.seed)
    small, large = best_of(sizes.repeats, *(_query(spark, query, data, sizes) for data in (few, many)))
    times = quantity(sizes.many_devices / sizes.few_devices)
    yield _row(f"{query.name}: {times} × the devices", many, large, str(few), small, MOST_FOR_DEVICES)


def _in_patterns(
    spark: SparkSession, name: str, events: Callable[[int], str], sizes: Sizes
) -> Iterator[Row]:
    data = Readings(sizes.events // 4, sizes.devices, sizes.seed)
    path = data.parquet(sizes.folder)
    few, many = (parse(STREAM + events(n)) for n in (sizes.patterns, sizes.more_patterns))
    small, large = best_of(sizes.repeats, *(lambda one=one: _matches(spark, one, path) for one in (few, many)))
    times = sizes.more_patterns / sizes.patterns
    most = MOST_FOR_PATTERNS * times / 10
    baseline = f"{sizes.patterns} patterns"
    yield _row(f"{name}: {quantity(times)} × the patterns", data, large, baseline, small, most)


def _query(spark: SparkSession, query: Query, data: Readings, sizes: Sizes) -> Callable[[], object]:
    path = data.parquet(sizes.folder)
    return lambda: query.run(spark, path)


def _matches(spark: SparkSession, program: Program, path: Path) -> int:
    """The matches of all patterns, counted in one job."""
    results = program.run(spark, {"Reading": path})
    try:
        return reduce(DataFrame.union, (frame.select("end") for frame in results.frames.values())).count()
    finally:
        results.close()


def _strict_patterns(n: int) -> str:
    """Each its own three kinds; no two are the same."""
    kinds = [(i % 10, (i // 10 + i + 1) % 10, (3 * i + 2) % 10) for i in range(n)]
    return "\n".join(
        f"EVENT e{number}(device) AS PATTERN SEQ STRICT(Reading[kind = {a}], Reading[kind = {b}], Reading[kind = {c}])"
        " PARTITION BY device PER END;"
        for number, (a, b, c) in enumerate(kinds)
    )


def _next_patterns(n: int) -> str:
    """The three steps of the query, each pattern with its own limits; the first has the widest ones."""
    return "\n".join(
        f"EVENT e{number}(device) AS PATTERN SEQ NEXT(Reading[kind = 0 AND level > {0.5 + number / 1000}],"
        f" Reading[kind = 1 AND code >= {500 + number}], Reading[kind = 2])"
        " WITHIN 60 SECONDS PARTITION BY device;"
        for number in range(n)
    )


def _row(
    name: str, data: Readings, large: Measured[object], less: str, small: Measured[object], most: float
) -> Row:
    return Row(
        name,
        str(data),
        large.seconds,
        large.cpu_seconds,
        data.events,
        baselines=(Baseline.of(less, small),),
        goals=(Goal("times the cost", large.seconds / small.seconds, most=most),),
    )
