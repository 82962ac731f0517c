"""Records Spark's class archive for this machine; run once as ``python -m inkling.spark.jvm.prepare``."""

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
from pyspark import SparkContext
from pyspark.sql import SparkSession
from pyspark.sql import functions as fn

from inkling.caches import cache_directory
from inkling.spark.jvm.class_archive import ClassArchive, class_archive, discard_orphans
from inkling.spark.jvm.java import find_java
from inkling.spark.session import (
    environment,
    java_options,
    launch_environment,
    session_settings,
    start_session,
    worker_environment,
)

_MASTER = "local[2]"


def prepare() -> str:
    """Record the archive unless it exists; returns a message. If recording fails, Spark runs without an archive."""
    cache = cache_directory()
    try:
        archive = class_archive(find_java(), cache)
        if archive.recorded:
            return f"Spark's class archive is in place: {archive.directory}"
        discard_orphans(cache)
        with archive.sole_recorder() as sole:
            if not sole:
                return "another process is recording Spark's class archive"
            started = time.monotonic()
            record(archive, cache)
            return f"recorded Spark's class archive in {time.monotonic() - started:.0f} s: {archive.directory}"
    except Exception as problem:
        reason = (str(problem).splitlines() or [type(problem).__name__])[0]
        return f"no class archive, so Spark will start more slowly: {reason}"


def record(archive: ClassArchive, cache: Path) -> None:
    """Run typical jobs in a new virtual machine and archive the classes that it has loaded."""
    archive.record_base()
    scratch = archive.directory / f"spark.{os.getpid()}.scratch"
    options = [*java_options(quick=True), *archive.recording_options(scratch)]
    with environment(launch_environment(archive.java, cache) | worker_environment(_MASTER)):
        spark = start_session(_MASTER, "prepare", session_settings(master=_MASTER, quick=True), options)
    exercise(spark)
    end_virtual_machine(spark)
    archive.keep(scratch)


def exercise(spark: SparkSession) -> None:
    """Use the parts of Spark that programs use: files, expressions, shuffles, Arrow, Python."""

    def unchanged(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from batches

    with tempfile.TemporaryDirectory(prefix="inkling-") as directory:
        parquet, csv = f"{directory}/rows.parquet", f"{directory}/rows.csv"
        rows = spark.createDataFrame(pa.table({"key": ["a", "b"], "at": [1, 2], "value": [0.5, None]}))
        rows.write.parquet(parquet)
        rows.write.option("header", True).csv(csv)
        read = spark.read.parquet(parquet).unionByName(
            spark.read.schema("key string, at bigint, value double").option("header", True).csv(csv)
        )
        marked = read.withColumn(
            "mask", fn.when((fn.col("value") > 0.1) & fn.col("key").isin("a", "b"), fn.lit(1)).otherwise(fn.lit(0))
        ).withColumn("seen", fn.timestamp_micros("at"))
        kept = marked.filter("mask > 0 or value is null").repartition(2, "key").sortWithinPartitions("key", "at")
        passed = kept.mapInArrow(unchanged, kept.schema).select("key", fn.col("at").alias("passed_at"))
        totals = passed.join(marked, "key").groupBy("key").agg(fn.count("*"), fn.sum("value"))
        totals.orderBy("key").toArrow()
        kept.collect()


def end_virtual_machine(spark: SparkSession) -> None:
    """Stop Spark and wait until its virtual machine has written the archive and exited."""
    gateway = SparkContext._gateway
    assert gateway is not None
    spark.stop()
    process = gateway.proc
    process.stdin.close()
    if code := process.wait(timeout=300):
        raise RuntimeError(f"the virtual machine ended with status {code}")


if __name__ == "__main__":
    print(prepare())
