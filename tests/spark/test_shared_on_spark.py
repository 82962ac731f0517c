"""Moments, exceptions and shared patterns on Spark: what this process finds."""

from __future__ import annotations

import random

import pytest
from pyspark.sql import SparkSession

import inkling

pytestmark = pytest.mark.spark

PROGRAM = """
STREAM A(id STRING, k STRING, t INT) ID id TIME t;
STREAM B(id STRING, k STRING, t INT) ID id TIME t;
EVENT pair(k) AS PATTERN SEQ(A a, B b) WITHIN 30 TICKS PARTITION BY k;
EVENT twin(k AS key) AS PATTERN SEQ(A x, B y) WITHIN 30 TICKS PARTITION BY k;
EVENT chain(k) AS PATTERN SEQ(A a, B b, A c) WITHIN 30 TICKS PARTITION BY k;
EVENT free(k) AS PATTERN SEQ(A a, B b) EXCEPT SEQ(A, B, B) WITHIN 30 TICKS PARTITION BY k PER INTERVAL;
EVENT noon(k) AS PATTERN SEQ(A a, AT 50, B b) WITHIN 30 TICKS PARTITION BY k;
EVENT anyone AS PATTERN SEQ(A a, AT 50) WITHIN 20 TICKS;
"""


@pytest.mark.long
def test_spark_finds_what_this_process_finds(spark: SparkSession) -> None:
    rng = random.Random(5)
    rows = {
        name: [{"id": f"{name}{i}", "k": rng.choice("pqr"), "t": rng.randint(0, 100)} for i in range(60)]
        for name in "AB"
    }
    program = inkling.parse(PROGRAM)
    here = program.run_local(rows).tables
    there = program.run(spark, rows).collect().tables
    assert {name: len(table) for name, table in here.items() if not len(table)} == {}
    for name, table in here.items():
        assert sorted(map(repr, there[name].to_pylist())) == sorted(map(repr, table.to_pylist())), name
    shared = [stage.sharing for stage in program.physical.stages]
    assert ("twin", "pair") in [twin for one in shared for twin in one.twins]
    assert any({"pair", "chain"} <= set(part.events) for one in shared for part in one.parts)
