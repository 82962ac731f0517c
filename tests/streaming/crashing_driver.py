"""A process that runs several streaming jobs, to be killed and started again: `python -m … FOLDER JOBS [MASTER]`."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

from pyspark.sql import SparkSession
from tests.streaming.doors import PROGRAM, read_files
from tests.streaming.faults import Faults, FragileSink, make_fragile

import inkling
from inkling.spark.session import java_options, spark_session
from inkling.spark.streaming.query import LiveQuery
from inkling.spark.streaming.sinks import FileSink

LOCAL = "local[2,4]"
"""A task may fail three times, so that one worker's death is none of the query's."""
CLUSTER = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.executor.memory": "512m",
    "spark.executor.extraJavaOptions": shlex.join(java_options(quick=True)),
    "spark.executorEnv.SPARK_LOCAL_IP": "127.0.0.1",
    "spark.executorEnv.PYTHONPATH": os.environ.get("PYTHONPATH", ""),
}


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


def main(folder: Path, names: list[str], master: str) -> None:
    make_fragile(Faults(folder / "faults"))
    spark = spark_session(
        master=master, app_name="inkling-crashes", partitions=2, config=CLUSTER if "://" in master else {}, quick=True
    )
    trigger: dict[str, object] = {"availableNow": True}
    queries = [start(spark, folder, name, trigger) for name in names]
    for query in queries:
        query.await_end()
        query.finish()
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2].split(","), master=sys.argv[3] if sys.argv[3:] else LOCAL)
