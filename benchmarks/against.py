"""A pattern on Spark against the same pattern written by hand, and the goals for both."""

from __future__ import annotations

from pyspark.sql import SparkSession

from benchmarks.meter import Measured, best_of
from benchmarks.queries.query import Found, Query
from benchmarks.results import Baseline, Goal, Row, quantity
from benchmarks.sizes import Sizes
from benchmarks.streams import Readings

OURS = "inkling"


def run(query: Query, spark: SparkSession, sizes: Sizes) -> Row:
    """Warm up on fewer events, see that all find the same, then take turns."""
    data = Readings(sizes.events, sizes.devices, sizes.seed)
    _costs(query, spark, Readings(sizes.fewer_events, sizes.devices, sizes.seed), sizes, repeats=1)
    costs = _costs(query, spark, data, sizes, repeats=sizes.repeats)
    own = costs.pop(OURS)
    ratios = (
        Goal(f"× {one.name}", costs[one.name].seconds / own.seconds, least=one.least_ratio) for one in query.by_hand
    )
    return Row(
        query.name,
        str(data),
        own.seconds,
        own.cpu_seconds,
        data.events,
        f"{quantity(own.answer.matches)} matches",
        tuple(Baseline.of(name, cost) for name, cost in costs.items()),
        (Goal("events/s", data.events / own.seconds, least=query.least_rate), *ratios),
    )


def _costs(
    query: Query, spark: SparkSession, data: Readings, sizes: Sizes, *, repeats: int
) -> dict[str, Measured[Found]]:
    path = data.parquet(sizes.folder)
    calls = {OURS: lambda: query.run(spark, path)}
    calls |= {one.name: lambda one=one: one.run(spark, path) for one in query.by_hand}
    calls |= {name: lambda call=call: call(path) for name, call in query.elsewhere.items()}
    costs = dict(zip(calls, best_of(repeats, *calls.values()), strict=True))
    if len({cost.answer for cost in costs.values()}) != 1:
        found = {name: cost.answer for name, cost in costs.items()}
        raise AssertionError(f"{query.name}, {data}: the ways to the matches disagree: {found}")
    return costs
