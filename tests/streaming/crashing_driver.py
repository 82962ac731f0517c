"""A process that runs several streaming jobs, to be killed and started again: `python -m … FOLDER JOBS`."""

from __future__ import annotations

import sys
from pathlib import Path

import inkling
from inkling.spark.session import spark_session
from inkling.spark.streaming.query import LiveQuery
from inkling.spark.streaming.sinks import FileSink
from pyspark.sql import SparkSession

from tests.streaming.doors import PROGRAM, read_files
from tests.streaming.faults import Faults, FragileSink, make_fragile


def start(spark: SparkSession, folder: Path, name: str, trigger: dict[str, object]) -> LiveQuery:
    """The name of a job says how it is cut: files per micro-batch, then buckets."""
    files_per_batch, buckets = map(int, name.split("-")[1:])
    return inkling.parse(PROGRAM).stream(
        spark,
        read_files(spark, folder / "in", files_per_batch),
        checkpoint=folder / name / "checkpoint",
        to=FragileSink(FileSink(str(folder / name / "out")), Faults(folder / "faults")),
        trigger=trigger,
        buckets=buckets,
        idle_after=None,
    )


def main(folder: Path, names: list[str]) -> None:
    make_fragile(Faults(folder / "faults"))
    # a task may fail three times, so that one worker's death is none of the query's
    spark = spark_session(master="local[2,4]", app_name="inkling-crashes", quick=True)
    trigger: dict[str, object] = {"availableNow": True}
    queries = [start(spark, folder, name, trigger) for name in names]
    for query in queries:
        query.await_end()
        query.finish()
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2].split(","))
