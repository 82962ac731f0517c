"""The session that all Spark tests share: its settings hold, and its Python workers come up ready."""

import json
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

from inkling.kernels.columns.lists import lengths


def test_bad_arithmetic_and_casts_are_null(spark: SparkSession) -> None:
    row = spark.sql("SELECT 1 / 0 AS ratio, CAST('ten' AS INT) AS number").first()
    assert row is not None
    assert (row.ratio, row.number) == (None, None)


def test_times_are_read_as_utc(spark: SparkSession) -> None:
    row = spark.sql("SELECT unix_micros(TIMESTAMP '1970-01-02 00:00:00') AS micros").first()
    assert row is not None
    assert row.micros == 86_400_000_000


def test_shuffle_makes_one_partition_per_core(spark: SparkSession) -> None:
    assert spark.range(100).groupBy("id").count().rdd.getNumPartitions() == 2


def report_worker(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    import sys

    from inkling.kernels.columns import lists

    loaded = "numba" in sys.modules
    tails = pa.array([1, -1], pa.int64()).to_numpy()
    parent = pa.array([-1, 0], pa.int64()).to_numpy()
    found = lists.lengths(tails, parent)
    stats = lists.lengths.stats
    report = {
        "loaded": loaded,
        "found": found.tolist(),
        "hits": sum(stats.cache_hits.values()),
        "misses": sum(stats.cache_misses.values()),
    }
    for _ in batches:
        pass
    yield pa.RecordBatch.from_pydict({"report": [json.dumps(report)]})


def test_workers_have_numba_and_take_kernels_from_its_cache(spark: SparkSession) -> None:
    tails, parent = np.array([1, -1]), np.array([-1, 0])
    tails.setflags(write=False)
    parent.setflags(write=False)
    lengths(tails, parent)
    rows = spark.range(2, numPartitions=2).mapInArrow(report_worker, "report string").collect()
    reports = [json.loads(row.report) for row in rows]
    assert len(reports) == 2
    for report in reports:
        assert report.pop("hits") >= 1
        assert report == {"loaded": True, "found": [2, 0], "misses": 0}
