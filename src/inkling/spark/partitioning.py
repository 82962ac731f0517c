"""Into how many parts keyed rows are divided: enough for all cores, and so many that each fits a worker."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pyspark.sql import DataFrame, SparkSession

from inkling.physical.groups import Layout, chosen_layout, groups_in
from inkling.physical.plan import Stage

BYTES_PER_PARTITION = 32 << 20
"""Of input as Spark estimates it, compressed: about a million events. A worker holds one partition at a time."""


@dataclass(frozen=True, slots=True)
class Partitioning:
    cores: int
    fixed: int | None = None
    layout: Layout | None = None  # of all stages, if it is not left to the planner
    n_groups: int | None = None  # of patterns that run beside each other; as many as cores unless told

    def for_frames(self, frames: list[DataFrame]) -> int:
        """Number of partitions for rows that come from these frames."""
        if self.fixed is not None:
            return self.fixed
        size = sum(estimated_bytes(frame) for frame in frames)
        rounds = max(1, -(-size // (BYTES_PER_PARTITION * self.cores)))
        return rounds * self.cores

    def settled(self, frames: list[DataFrame]) -> Partitioning:
        """The same number for everything that is computed from these frames, whose size Spark knows best."""
        return replace(self, fixed=self.for_frames(frames))

    def groups_of(self, stage: Stage) -> list[Stage]:
        """The stages that run beside each other."""
        return groups_in(stage, chosen_layout(stage, self.layout), self.n_groups or self.cores)


def partitioning_of(spark: SparkSession, partitions: int | None, layout: Layout | None = None) -> Partitioning:
    return Partitioning(spark.sparkContext.defaultParallelism, partitions, layout, partitions)


def estimated_bytes(frame: DataFrame) -> int:
    """Size of the files behind a frame; 0 when Spark cannot tell."""
    statistics = frame._jdf.queryExecution().optimizedPlan().stats()
    size = int(str(statistics.sizeInBytes()))
    return size if size < 1 << 50 else 0
