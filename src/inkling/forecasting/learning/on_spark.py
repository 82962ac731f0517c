"""Learning on Spark: tasks count the words of their keys, Spark adds the counts, and the driver collects the sums."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from inkling.forecasting.learning.program import LearningProgram
from inkling.forecasting.learning.rejected_rows import RejectedRows
from inkling.io import Data
from inkling.io.normalize import END, stored_columns
from inkling.logical.forecasts import COUNT_COLUMNS
from inkling.model.time import Clock
from inkling.spark import batch
from inkling.spark.read.inputs import read_frame
from inkling.spark.read.normalize import normalize_frame

EVENT = "event"
"""The column with the event of a result."""

ACCURACY = 1_000_000
"""The accuracy of `percentile_approx`: an error of one row in this many."""


@dataclass(frozen=True, slots=True)
class SparkRun:
    """Data on Spark; nothing is computed before counts are requested."""

    spark: SparkSession
    program: LearningProgram
    inputs: Mapping[str, Data]
    tables: Mapping[str, Data]
    partitions: int | None

    @property
    def clock(self) -> Clock:
        return next(iter(self._normalized().values()))[1]

    def earliest(self, share: float, until: int | None) -> int | None:
        times = reduce(DataFrame.unionAll, (frame for frame, _ in self._normalized().values()))
        if until is not None:
            times = times.where(F.col(f"`{END}`") <= until)
        (found,) = times.agg(F.percentile_approx(f"`{END}`", share, ACCURACY).alias("time")).collect()
        return None if found["time"] is None else int(found["time"])

    def counts(self, program: LearningProgram, events: Sequence[str]) -> tuple[Mapping[str, pa.Table], RejectedRows]:
        results = batch.run(program, self.spark, self.inputs, self.tables, partitions=self.partitions)
        *what, count = (column.name for column in COUNT_COLUMNS)
        try:
            every = reduce(DataFrame.unionByName, (results[event].select(EVENT, *what, count) for event in events))
            summed = every.groupBy(EVENT, *what).agg(F.sum(count).alias(count)).toArrow()
            rejected = rejected_among(results.rejects)
        finally:
            results.close()
        return {event: summed.filter(pc.equal(summed[EVENT], event)) for event in events}, rejected

    def _normalized(self) -> dict[str, tuple[DataFrame, Clock]]:
        read = {}
        for stream in self.program.plan.streams:
            schema = stream.schema
            if schema.name in self.inputs:
                derived = [column.name for column in stream.derived]
                stored = [column.name for column in stored_columns(schema, derived)]
                raw = read_frame(self.spark, self.inputs[schema.name], what=schema.name, columns=stored)
                one = normalize_frame(raw, schema, derived)
                read[schema.name] = (one.rows.select(f"`{END}`"), one.clock)
        return read


def rejected_among(rejects: DataFrame) -> RejectedRows:
    """Rejected rows by stream and reason, from a frame of rejects."""
    found = rejects.groupBy("stream", "reason").count().toArrow().to_pylist()
    return RejectedRows.of((row["stream"], row["reason"], row["count"]) for row in found)
