"""Spark's shuffles mean the same by a key as all that groups rows in one process."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pytest
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from tests.kit.hard_keys import HARD_KEYS

import inkling
from inkling.evaluators.division import Carried
from inkling.spark.shuffle import UnionLayout
from inkling.spark.stage_frame import named

pytestmark = pytest.mark.spark

STREAM = inkling.parse("STREAM S(t BIGINT) TIME t; EVENT e AS PATTERN S;").physical.program.streams[0]
ROW = "row"
N_PARTITIONS = 64


@pytest.mark.parametrize("kind", HARD_KEYS)
def test_rows_of_one_key_come_together(spark: SparkSession, kind: str) -> None:
    hard = HARD_KEYS[kind]
    names, given = hard.rows.column_names, hard.rows.append_column(ROW, pa.array(range(len(hard.rows))))
    rows, layout = spark.createDataFrame(given), UnionLayout((Carried(STREAM, given.schema),))
    united, keys = layout.united([rows]), layout.keys({"S": tuple(names)})
    assert _grouped(united, keys, f"{ROW}|int64") == hard.groups
    for frame, key, row in ((united, keys, f"{ROW}|int64"), (rows, list(map(named, names)), ROW)):
        place = _partitions(frame, key, row)
        assert len(set(place.values())) > 1
        assert all(len({place[row] for row in group}) == 1 for group in hard.groups)


def _grouped(rows: DataFrame, keys: Sequence[Column], row: str) -> frozenset[tuple[int, ...]]:
    """Which rows Spark takes for those of one key."""
    found = rows.groupBy(*keys).agg(F.sort_array(F.collect_list(named(row))).alias("rows")).toArrow()
    return frozenset(map(tuple, found["rows"].to_pylist()))


def _partitions(rows: DataFrame, keys: Sequence[Column], row: str) -> dict[int, int]:
    """Where each row is after a shuffle by key."""
    shuffled = rows.repartition(N_PARTITIONS, *keys).select(
        named(row).alias(ROW), F.spark_partition_id().alias("place")
    )
    found = shuffled.toArrow().to_pydict()
    return dict(zip(found[ROW], found["place"], strict=True))
