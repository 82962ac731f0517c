"""Overlapping slices of time: each finds the chains whose first event may begin in it, among all rows these need."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from inkling.evaluators.imprecise.conditions import Mask
from inkling.evaluators.imprecise.evaluator import ImpreciseEvaluator
from inkling.imprecise.run import StageEvents
from inkling.model.batch import Ints
from inkling.spark.stage_frame import named

SLICE = "@slice"

LEAST_LENGTH = 8
"""So many times as long as what may reach into a slice from outside: copies of rows stay few."""


@dataclass(frozen=True, slots=True)
class Extent:
    """First and last of the ticks with which rows begin, and of how many ticks the widest one has a choice."""

    low: int
    high: int
    widest: int

    @classmethod
    def of(cls, rows: DataFrame, start: Column, end: Column, grid: int) -> Extent | None:
        """None where there are no rows; this runs a job."""
        first = _floored(start, grid)
        width = _floored(end, grid) - first + F.lit(1)
        found = rows.agg(F.min(first).alias("low"), F.max(first).alias("high"), F.max(width).alias("widest")).first()
        return None if found is None or found["low"] is None else cls(found["low"], found["high"], found["widest"])


@dataclass(frozen=True, slots=True)
class Slices:
    """Slice n has the chains whose first event may first have happened at tick n * length up to (n + 1) * length - 1.

    `window` is the longest one, in ticks; `before` is how many ticks before their first event chains look at.
    """

    length: int
    window: int
    before: int
    grid: int
    extent: Extent

    @classmethod
    def of(
        cls, evaluators: list[ImpreciseEvaluator], extent: Extent, n_slices: int, length: int | None = None
    ) -> Slices:
        """About `n_slices` slices, or fewer where they would get too short; a `length` overrules that."""
        grid = evaluators[0].grid
        window = max(one.window for one in evaluators)
        before = max(one.window - 1 if one.chain.looks_before else -1 for one in evaluators)
        if length is None:
            overlap = window + max(before, 0) + 2 * extent.widest
            length = max(LEAST_LENGTH * overlap, (extent.high - extent.low) // n_slices + 1)
        return cls(length, window, before, grid, extent)

    @property
    def count(self) -> int:
        return self.extent.high // self.length - self.extent.low // self.length + 1

    def cut(self, rows: DataFrame, start: Column, end: Column, n_partitions: int) -> DataFrame:
        """Each row once for every slice that needs it, slices in turn in so many partitions."""
        first, last = self._needing(_floored(start, self.grid), _floored(end, self.grid))
        cut = rows.withColumn(SLICE, F.explode(F.sequence(first, last)))
        return cut.repartitionById(n_partitions, F.pmod(named(SLICE), F.lit(n_partitions)).cast("int"))

    def _needing(self, lower: Column, upper: Column) -> tuple[Column, Column]:
        """The first and the last slice that need a row; one of them is its own."""
        length, extent = self.length, self.extent
        own = _floored(lower, length)
        # the first event of a chain of this slice has happened before the next one began, or widest - 1 ticks later
        first = _floored(lower - F.lit(extent.widest + self.window - 2), length)
        last = _floored(upper + F.lit(self.before), length)
        least, most = F.lit(extent.low // length), F.lit(extent.high // length)
        return F.greatest(F.least(first, own), least), F.least(F.greatest(last, own), most)

    def owned(self, number: int, events: StageEvents) -> Mask:
        """The events that chains of a slice may begin with."""
        lower: Ints = events.batch.start // self.grid
        mine: Mask = lower // self.length == number
        return mine


def _floored(number: Column, by: int) -> Column:
    """Divided and rounded down, exactly."""
    if by == 1:
        return number
    whole = F.lit(by).cast("bigint")
    return F.call_function("div", number - F.pmod(number, whole), whole)
