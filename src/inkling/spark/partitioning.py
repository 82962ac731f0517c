"""How rows are divided on Spark: the number of partitions, and overlapping slices of time.

There are enough partitions for all cores, and each is small enough for the memory of a worker. A slice of time finds
the matches that begin in it, and has all rows that these matches need, so rows near a border are in several slices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from inkling.evaluators.division import ByTime, Piece, Slice
from inkling.physical.groups import TaskLayout, chosen_layout, groups_in
from inkling.physical.plan import Stage
from inkling.spark.stage_frame import named

BYTES_PER_PARTITION = 32 << 20
"""Bytes of compressed input, as Spark estimates it: about a million events. A worker holds one partition at a time."""


@dataclass(frozen=True, slots=True)
class Partitioning:
    """The number of partitions, and how the events of a stage are divided."""

    cores: int
    fixed: int | None = None  # partitions, if the user gives a number
    layout: TaskLayout | None = None  # of all stages, if it is not left to the planner
    n_groups: int | None = None  # groups of patterns that run in parallel; as many as cores by default

    def for_frames(self, frames: list[DataFrame]) -> int:
        """The number of partitions for rows that come from these frames."""
        if self.fixed is not None:
            return self.fixed
        size = sum(estimated_bytes(frame) for frame in frames)
        rounds = max(1, -(-size // (BYTES_PER_PARTITION * self.cores)))
        return rounds * self.cores

    def for_all(self, frames: list[DataFrame]) -> Partitioning:
        """The same number of partitions for everything that is computed from these frames."""
        return replace(self, fixed=self.for_frames(frames))

    def groups_of(self, stage: Stage) -> list[Stage]:
        """The groups of steps of a stage that run in parallel, each as a stage."""
        return groups_in(stage, chosen_layout(stage, self.layout), self.n_groups or self.cores)


def partitioning_of(spark: SparkSession, partitions: int | None, layout: TaskLayout | None = None) -> Partitioning:
    return Partitioning(spark.sparkContext.defaultParallelism, partitions, layout, partitions)


def estimated_bytes(frame: DataFrame) -> int:
    """Size of the files behind a frame; 0 when Spark does not know it."""
    statistics = frame._jdf.queryExecution().optimizedPlan().stats()
    size = int(str(statistics.sizeInBytes()))
    return size if size < 1 << 50 else 0


SLICE = "@slice"

LEAST_LENGTH = 8
"""A slice is at least this many times as long as its overlap with the next one, so that few rows are copied."""


Pieces = Callable[[pa.Table], Iterable[tuple[pa.Table, Piece | None]]]
"""Divides the rows of a partition into pieces of work."""


def slices_of(length: int, rows: pa.Table) -> Iterator[tuple[pa.Table, Slice]]:
    """Slice n has the matches that begin from n * length up to (n + 1) * length - 1, in units of the clock."""
    number = rows[SLICE].to_numpy()
    rows = rows.drop_columns([SLICE])
    for one in np.unique(number).tolist():
        yield rows.filter(pa.array(number == one)), Slice(one * length, (one + 1) * length)


@dataclass(frozen=True, slots=True)
class TimeExtent:
    """The first and the last tick at which a row begins, and the number of possible ticks of the widest row."""

    low: int
    high: int
    widest: int

    @classmethod
    def of(cls, rows: DataFrame, start: Column, end: Column, grid: int) -> TimeExtent | None:
        """The extent of some rows, or None without rows; this runs a job."""
        first = floored(start, grid)
        width = floored(end, grid) - first + F.lit(1)
        found = rows.agg(F.min(first).alias("low"), F.max(first).alias("high"), F.max(width).alias("widest")).first()
        return None if found is None or found["low"] is None else cls(found["low"], found["high"], found["widest"])


def cut(
    rows: DataFrame, start: Column, end: Column, division: ByTime, n_slices: int
) -> tuple[DataFrame, Pieces] | None:
    """Each row once for every slice that needs it, in about `n_slices` slices, or fewer if they would be too short.

    The result is None without rows.
    """
    extent, grid = TimeExtent.of(rows, start, end, division.grid), division.grid
    if extent is None:
        return None
    overlap = division.window + max(division.before, 0) + 2 * extent.widest
    length = division.length or max(LEAST_LENGTH * overlap, (extent.high - extent.low) // n_slices + 1)
    n_partitions = min(n_slices, extent.high // length - extent.low // length + 1)
    first, last = _needing(floored(start, grid), floored(end, grid), division, extent, length)
    sliced = rows.withColumn(SLICE, F.explode(F.sequence(first, last)))
    place = F.pmod(named(SLICE), F.lit(n_partitions)).cast("int")
    return sliced.repartitionById(n_partitions, place), partial(slices_of, length * grid)


def _needing(lower: Column, upper: Column, division: ByTime, extent: TimeExtent, length: int) -> tuple[Column, Column]:
    """The first and the last slice that need a row; the slice in which the row begins is among them."""
    own = floored(lower, length)
    # the first event of a match of this slice happens before the next slice begins, or at most widest - 1 ticks later
    first = floored(lower - F.lit(extent.widest + division.window - 2), length)
    last = floored(upper + F.lit(division.before), length)
    least, most = F.lit(extent.low // length), F.lit(extent.high // length)
    return F.greatest(F.least(first, own), least), F.least(F.greatest(last, own), most)


def floored(number: Column, by: int) -> Column:
    """The number divided and rounded down, in integers."""
    if by == 1:
        return number
    whole = F.lit(by).cast("bigint")
    return F.call_function("div", number - F.pmod(number, whole), whole)
