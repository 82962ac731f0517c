"""What a run on Spark leaves of some events, whatever evaluator found them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from pyspark.sql import DataFrame

from inkling.evaluators.protocol import Context
from inkling.physical.plan import PhysicalPlan
from inkling.spark.partitioning import Partitioning

if TYPE_CHECKING:
    from inkling.spark.worlds.frames import WorldNotes


@dataclass(frozen=True, slots=True)
class Frames:
    """Per event, results with internal column names; `cached` frames can be freed."""

    events: Mapping[str, DataFrame]
    cached: tuple[DataFrame, ...] = ()
    notes: WorldNotes | None = None  # about worlds, where some were needed


class Run(Protocol):
    """Plans the results of the events that one evaluator answers; None where there are none."""

    def __call__(
        self, plan: PhysicalPlan, context: Context, sources: Mapping[str, DataFrame], partitioning: Partitioning
    ) -> Frames | None: ...
