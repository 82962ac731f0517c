"""What ten times the events, a hundred times the devices and ten times the patterns cost on Spark."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from pyspark.sql import SparkSession

from benchmarks.meter import Measured, best_of
from benchmarks.queries import next_match, strict
from benchmarks.queries.query import Query
from benchmarks.results import Baseline, Goal, Row, quantity
from benchmarks.sizes import Sizes
from benchmarks.streams import STREAM, Readings
from inkling.query import Program, parse

MOST_FOR_EVENTS, MOST_FOR_DEVICES, MOST_FOR_PATTERNS = 11.0, 1.5, 4.0


def in_events(query: Query, spark: SparkSession, sizes: Sizes) -> Row:
    few = Readings(sizes.fewer_events, sizes.devices, sizes.seed)
    many = Readings(sizes.events, sizes.devices, sizes.seed)
    small, large = best_of(sizes.repeats, *(_query(spark, query, data, sizes) for data in (few, many)))
    times = sizes.events / sizes.fewer_events
    return _row(f"{query.name}: {quantity(times)} × the events", many, large, few, small, MOST_FOR_EVENTS * times / 10)


def in_devices(query: Query, spark: SparkSession, sizes: Sizes) -> Row:
    few = Readings(sizes.events // 4, sizes.few_devices, sizes.seed)
    many = Readings(sizes.events // 4, sizes.many_devices, sizes.seed)
    small, large = best_of(sizes.repeats, *(_query(spark, query, data, sizes) for data in (few, many)))
    times = quantity(sizes.many_devices / sizes.few_devices)
    return _row(f"{query.name}: {times} × the devices", many, large, few, small, MOST_FOR_DEVICES)


def in_patterns(name: str, events: Callable[[int], str], spark: SparkSession, sizes: Sizes) -> Row:
    most = MOST_FOR_PATTERNS * sizes.more_patterns / sizes.patterns / 10
    return _patterns(name, events, sizes.patterns, sizes.more_patterns, most, spark, sizes)


def one_and_most(name: str, events: Callable[[int], str], spark: SparkSession, sizes: Sizes) -> Row:
    return _patterns(name, events, 1, sizes.most_patterns, MOST_FOR_PATTERNS, spark, sizes)


def _patterns(
    name: str, events: Callable[[int], str], n_few: int, n_many: int, most: float, spark: SparkSession, sizes: Sizes
) -> Row:
    data = Readings(sizes.events // 4, sizes.devices, sizes.seed)
    path = data.parquet(sizes.folder)
    few, many = (parse(STREAM + events(n)) for n in (n_few, n_many))
    warm_up = Readings(sizes.fewer_events, sizes.devices, sizes.seed).parquet(sizes.folder)
    for one in (few, many):
        _matches(spark, one, warm_up)
    small, large = best_of(sizes.repeats, *(lambda one=one: _matches(spark, one, path) for one in (few, many)))
    less = f"{n_few} pattern{'' if n_few == 1 else 's'}"
    return _row(f"{name}: {quantity(n_many / n_few)} × the patterns", data, large, less, small, most)


def _query(spark: SparkSession, query: Query, data: Readings, sizes: Sizes) -> Callable[[], object]:
    path = data.parquet(sizes.folder)
    return lambda: query.run(spark, path)


def _matches(spark: SparkSession, program: Program, path: Path) -> int:
    """The number of matches of all patterns, fetched in one job."""
    results = program.run(spark, {"Reading": path})
    try:
        return sum(map(len, results.to_arrow().values()))
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


def _row(name: str, data: Readings, large: Measured[object], less: object, small: Measured[object], most: float) -> Row:
    return Row(
        name,
        str(data),
        large.seconds,
        large.cpu_seconds,
        data.events,
        baselines=(Baseline.of(str(less), small),),
        goals=(Goal("× cost", large.seconds / small.seconds, most=most),),
    )


BENCHMARKS: dict[str, Callable[[SparkSession, Sizes], Row]] = {
    **{f"{query.name}: events": partial(in_events, query) for query in (strict.QUERY, next_match.QUERY)},
    **{f"{query.name}: devices": partial(in_devices, query) for query in (strict.QUERY, next_match.QUERY)},
    "strict: 1 and 100 patterns": partial(one_and_most, "strict", _strict_patterns),
    "strict: patterns": partial(in_patterns, "strict", _strict_patterns),
    "next match: patterns": partial(in_patterns, "next match", _next_patterns),
}
