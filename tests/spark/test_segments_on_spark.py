"""Random relations between segments on Spark: exactly what the definition gives, with and without PARTITION BY."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

import inkling
from inkling.testing.arrow import arrow_streams
from inkling.testing.comparison import same_results
from inkling.testing.oracle import bound, oracle
from inkling.testing.segments import segments_cases

N_EVENTS = 40


@pytest.mark.parametrize("partitions", [1, 3])
def test_segments_on_spark_eq_definition(spark: SparkSession, partitions: int) -> None:
    case = max(segments_cases(11, 12, n_events=N_EVENTS, ids=True), key=lambda one: len(one.rows["S"]))
    plan = bound(case.text)
    expected = oracle(plan, case.rows)
    assert sum(len(some) > 0 for some in expected.values()) >= N_EVENTS // 2
    found = inkling.parse(case.text).run(spark, arrow_streams(plan, case.rows), partitions=partitions)
    same_results(plan, expected, {name: frame.toArrow().to_pylist() for name, frame in found.frames.items()})
    found.close()
