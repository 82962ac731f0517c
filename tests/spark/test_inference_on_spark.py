"""Inference on Spark says what it says in this process, however keys are divided."""

from collections.abc import Callable

import pyarrow as pa
import pytest
from inkling.examples.building import corridor
from pyspark.sql import SparkSession

from inkling import infer
from inkling.infer.model import Model

MODEL = Model.of(corridor.movement(), corridor.readers(), corridor.prior())
READINGS = corridor.walk(people=23, seconds=40, seed=4).readings
WAYS: dict[str, Callable[[object], pa.Table]] = {
    "smoothed": lambda rows: infer.smoothed(rows, MODEL, key="person", prune=0.001),
    "viterbi": lambda rows: infer.viterbi(rows, MODEL, key="person", state="room"),
    "particles": lambda rows: infer.particles(rows, MODEL, key="person", n=30, seed=2),
}


def in_order(rows: pa.Table) -> pa.Table:
    return rows.sort_by([(name, "ascending") for name in rows.column_names if name not in ("p", "left_out")])


def test_the_same_on_spark(spark: SparkSession) -> None:
    for name, way in WAYS.items():
        expected = in_order(way(READINGS))
        found = in_order(way(spark.createDataFrame(READINGS).repartition(3, "t")).toArrow())
        assert found.schema.names == expected.schema.names
        assert found.combine_chunks().cast(expected.schema).equals(expected.combine_chunks()), name


def test_timestamps_and_names_with_dots(spark: SparkSession) -> None:
    frame = spark.sql("""
        SELECT * FROM VALUES (1, TIMESTAMP '2026-03-01 12:00:00', 'A1'), (1, TIMESTAMP '2026-03-01 12:00:21', 'A4'),
        (2, TIMESTAMP '2026-03-01 12:00:03', 'A9') AS t(`a.b`, `when`, reader)""")
    options = {"key": "a.b", "time": "when", "every": "10 seconds"}
    expected = infer.filtered(frame.toArrow(), MODEL, **options)
    found = infer.filtered(frame, MODEL, **options).toArrow()
    assert in_order(found.cast(expected.schema)).equals(in_order(expected))


def test_what_a_worker_rejects_is_told(spark: SparkSession) -> None:
    frame = spark.createDataFrame(pa.table({"key": ["k"], "t": [1], "reader": ["B7"]}))
    with pytest.raises(Exception, match=r"INK0663.*no reader `B7`"):
        infer.filtered(frame, MODEL).toArrow()
