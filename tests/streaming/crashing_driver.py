"""A process that runs several streaming jobs, to be killed and started again: `python -m … FOLDER JOBS [MASTER]`."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from pyspark.sql import SparkSession
from tests.streaming.doors import PROGRAM, read_files
from tests.streaming.faults import Faults, FragileSink, make_fragile

import inkling
from inkling.spark.session import java_options, spark_session
from inkling.spark.streaming.failures import StreamError
from inkling.spark.streaming.query import LiveQuery
from inkling.spark.streaming.sinks.protocol import FileSink

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


def start(spark: SparkSession, folder: Path, name: str) -> LiveQuery:
    """The name of a job says how it is cut: files per micro-batch, then buckets."""
    files_per_batch, buckets = map(int, name.split("-")[1:])
    return inkling.parse(PROGRAM).stream(
        spark,
        read_files(spark, folder / "in", files_per_batch),
        checkpoint=folder / name / "checkpoint",
        to=FragileSink(FileSink(str(folder / name / "out")), Faults(folder / "faults")),
        settings=inkling.StreamSettings(available_now=True, buckets=buckets, idle_after=None),
    )


def finish(query: LiveQuery, again: Callable[[], LiveQuery]) -> None:
    """See a query to its end. Spark gives a Python process ten seconds to start, too few on a very busy machine."""
    while True:
        try:
            query.await_end()
            query.finish()
        except StreamError as problem:
            if "waiting for the Python worker to connect back" not in str(problem):
                raise
            query = again()
        else:
            return


def main(folder: Path, names: list[str], master: str) -> None:
    make_fragile(Faults(folder / "faults"))
    spark = spark_session(
        master=master, app_name="inkling-crashes", partitions=2, config=CLUSTER if "://" in master else {}, quick=True
    )
    starts = [partial(start, spark, folder, name) for name in names]
    for query, again in [(begin(), begin) for begin in starts]:
        finish(query, again)
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2].split(","), master=sys.argv[3] if sys.argv[3:] else LOCAL)
