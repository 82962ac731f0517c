"""Random relations between segments on Spark: exactly what the definition gives, with and without PARTITION BY."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession
from tests.kit.arrow import arrow_streams
from tests.kit.comparison import same_results
from tests.kit.derived_segments import derived_segments_cases
from tests.kit.oracle import bound, oracle
from tests.kit.segments import SegmentsCase, segments_cases
from tests.spark.one_job import results_in_one_job

import inkling

N_EVENTS = 40
N_OF_EVENTS = 8


@pytest.mark.long
@pytest.mark.parametrize("partitions", [1, 3])
def test_segments_on_spark_eq_definition(spark: SparkSession, partitions: int) -> None:
    case = max(segments_cases(11, 12, n_events=N_EVENTS, ids=True), key=lambda one: len(one.rows["S"]))
    plan = bound(case.text)
    expected = oracle(plan, case.rows)
    assert sum(len(some) > 0 for some in expected.values()) >= N_EVENTS // 2
    found = inkling.parse(case.text).run(spark, arrow_streams(plan, case.rows), partitions=partitions)
    same_results(plan, expected, {name: frame.toArrow().to_pylist() for name, frame in found.items()})
    found.close()


def test_segments_of_events_on_spark_eq_definition(spark: SparkSession) -> None:
    def n_related(case: SegmentsCase) -> int:
        expected = oracle(bound(case.text), case.rows)
        return sum(len(some) > 0 for name, some in expected.items() if name.startswith("e"))

    case = max(derived_segments_cases(11, 8, n_events=N_OF_EVENTS, ids=True), key=n_related)
    assert n_related(case) >= N_OF_EVENTS // 2
    plan, program = bound(case.text), inkling.parse(case.text)
    found = program.run(spark, arrow_streams(plan, case.rows), partitions=2)
    same_results(plan, oracle(plan, case.rows), results_in_one_job(found))
