"""Numbers of a micro-batch inside Spark's own progress, where listeners and monitors of Spark find them."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from inkling.spark.streaming.job import Job
from inkling.spark.streaming.messages import Kind

NAME = "inkling"
"""Key in `StreamingQueryProgress.observedMetrics`."""


def observed(job: Job, messages: DataFrame) -> DataFrame:
    """The messages; what passes is counted as `read`, `results`, `late`, `rejects`, and states are summed up.

    `late` counts a row once for every stage that missed it. `watermark` is null before anything is complete.
    """
    return messages.observe(
        NAME,
        *(_sum(Kind.READ, number).alias(f"read {name}") for number, name in enumerate(job.stream_names)),
        *(_sum(Kind.RESULTS, number).alias(f"results {name}") for number, name in job.reported),
        _sum(Kind.LATE).alias("late"),
        _sum(Kind.REJECTS).alias("rejects"),
        F.sum(_of_state("rows")).alias("state rows"),
        F.sum(_of_state("bytes")).alias("state bytes"),
        F.min(_of_state("watermark")).alias("watermark"),
        F.max(_of_state("latest")).alias("latest"),
    )


def _sum(kind: Kind, about: int | None = None) -> Column:
    counts = F.col("kind") == int(kind)
    if about is not None:
        counts &= F.col("about") == about
    return F.sum(F.when(counts, F.col("n")).otherwise(0))


def _of_state(name: str) -> Column:
    said = F.when(F.col("kind") == int(Kind.STATE), F.col("payload").cast("string"))
    return F.get_json_object(said, f"$.{name}").cast("bigint")
