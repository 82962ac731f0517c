"""How long micro-batches take, one file each, once a query has warmed up."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

import inkling
from benchmarks.meter import ProcessorTime
from inkling.query import Program
from inkling.spark.streaming.sinks.outputs import BatchTally

LOOK_S = 0.02


@dataclass(frozen=True, slots=True)
class Pace:
    """Wall time of each micro-batch, and the mean processor time of those after the warm-up."""

    all_seconds: tuple[float, ...]
    warm_up: int
    cpu_seconds: float

    @property
    def seconds(self) -> float:
        """The median, without the warm-up."""
        return median(self.all_seconds[self.warm_up :])


def stateless(spark: SparkSession, folder: Path, n: int, warm_up: int) -> Pace:
    """Read the files and do nothing with them."""
    with _checkpoint() as checkpoint:
        writer = arriving(spark, folder).writeStream.format("noop").option("checkpointLocation", str(checkpoint))
        return watched(writer.start(), n, warm_up)


def arriving(spark: SparkSession, folder: Path) -> DataFrame:
    """The files as Spark itself reads them, one at a time."""
    schema = spark.read.parquet(str(folder)).schema
    return spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder))


def streamed(
    spark: SparkSession,
    program: Program,
    folder: Path,
    n: int,
    warm_up: int,
    *,
    finish: bool = False,
    others: Mapping[str, Path] | None = None,
) -> tuple[Pace, list[BatchTally]]:
    """A program over the files, with other streams in `others`; results are counted and go nowhere."""
    folders = {"Reading": folder, **(others or {})}
    tallies: list[BatchTally] = []
    with _checkpoint() as checkpoint:
        live = program.stream(
            spark,
            {name: f"{one}?format=parquet&maxFilesPerTrigger=1" for name, one in folders.items()},
            checkpoint=checkpoint,
            to=lambda name, frame, batch: None,
            settings=inkling.StreamSettings(on_tally=tallies.append),
        )
        pace = watched(live.query, n, warm_up)
        if finish:
            live.finish()
        else:
            live.stop()
    return pace, tallies


def collected(spark: SparkSession, found: DataFrame, n: int, warm_up: int) -> tuple[Pace, list[tuple[object, ...]]]:
    """Any streaming query, with what it found."""
    rows: list[tuple[object, ...]] = []

    def take(frame: DataFrame, batch: int) -> None:
        rows.extend(map(tuple, frame.collect()))

    with _checkpoint() as checkpoint:
        writer = found.writeStream.foreachBatch(take).option("checkpointLocation", str(checkpoint))
        return watched(writer.outputMode("append").start(), n, warm_up), rows


def watched(query: StreamingQuery, n: int, warm_up: int) -> Pace:
    """Wait for n micro-batches with rows and stop the query."""
    seconds: dict[int, float] = {}
    spent, since = ProcessorTime(), 0
    while len(seconds) < n:
        if problem := query.exception():
            raise problem
        for one in query.recentProgress:
            if one["numInputRows"]:
                seconds[one["batchId"]] = one["durationMs"]["triggerExecution"] / 1000
        if len(seconds) <= warm_up and len(seconds) > since:
            spent, since = ProcessorTime(), len(seconds)
        time.sleep(LOOK_S)
    cpu_seconds = spent.seconds() / max(n - since, 1)
    query.stop()
    return Pace(tuple(seconds[batch] for batch in sorted(seconds)), warm_up, cpu_seconds)


@contextmanager
def _checkpoint() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="checkpoint-", ignore_cleanup_errors=True) as folder:
        yield Path(folder) / "checkpoint"
