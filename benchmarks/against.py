"""A pattern on Spark against the same pattern written by hand, and the goals for both."""

from __future__ import annotations

from pyspark.sql import SparkSession

from benchmarks.meter import best_of
from benchmarks.queries.query import Query
from benchmarks.results import Baseline, Goal, Row, quantity
from benchmarks.sizes import Sizes
from benchmarks.streams import Readings


def run(query: Query, spark: SparkSession, sizes: Sizes) -> Row:
    """Warm up on fewer events, see that all find the same, then take turns."""
    data = Readings(sizes.events, sizes.devices, sizes.seed)
    names = ["inkling", *query.by_hand, *query.elsewhere]
    for small in (Readings(sizes.fewer_events, sizes.devices, sizes.seed), data):
        path = small.parquet(sizes.folder)
        calls = [
            lambda path=path: query.run(spark, path),
            *(lambda path=path, name=name: query.run_by_hand(name, spark, path) for name in query.by_hand),
            *(lambda path=path, call=call: call(path) for call in query.elsewhere.values()),
        ]
        costs = best_of(sizes.repeats if small is data else 1, *calls)
        found = {name: cost.answer for name, cost in zip(names, costs, strict=True)}
        if len(set(found.values())) != 1:
            raise AssertionError(f"{query.name}, {small}: the ways to the matches disagree: {found}")
    own, *others = costs
    n_by_hand = len(query.by_hand)
    by_hand = sorted(zip(query.by_hand, others[:n_by_hand], strict=True), key=lambda pair: pair[1].seconds)
    elsewhere = zip(query.elsewhere, others[n_by_hand:], strict=True)
    return Row(
        query.name,
        str(data),
        own.seconds,
        own.cpu_seconds,
        data.events,
        f"{quantity(own.answer.matches)} matches",
        tuple(Baseline.of(name, cost) for name, cost in (*by_hand, *elsewhere)),
        (
            Goal("events/s", data.events / own.seconds, least=query.least_rate),
            Goal(f"times as fast as {by_hand[0][0]}", by_hand[0][1].seconds / own.seconds, least=query.least_ratio),
        ),
    )
