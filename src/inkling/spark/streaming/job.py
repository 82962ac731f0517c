"""Everything the workers of a streaming query need to know; small enough to travel with it."""

from __future__ import annotations

import gc
import hashlib
import pickle
from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from inkling.live.feed import Feed
from inkling.live.stage import LiveStage
from inkling.logical.evaluate import Surroundings
from inkling.model.time import Clock
from inkling.physical.plan import PhysicalPlan, Stage


@dataclass(frozen=True, slots=True)
class Job:
    """A planned program, what its tables hold, and how it is divided."""

    plan: PhysicalPlan
    clocks: Mapping[str, Clock]
    tables: Mapping[str, pa.Table]
    around: Surroundings
    clock: Clock
    n_buckets: int
    digest: bytes

    @classmethod
    def of(
        cls,
        plan: PhysicalPlan,
        clocks: Mapping[str, Clock],
        tables: Mapping[str, pa.Table],
        around: Surroundings,
        clock: Clock,
        n_buckets: int,
    ) -> Job:
        digest = hashlib.sha256(pickle.dumps((plan, clocks, tables, around, n_buckets))).digest()
        return cls(plan, clocks, tables, around, clock, n_buckets, digest)

    @property
    def stream_names(self) -> list[str]:
        return [stream.schema.name for stream in self.plan.program.streams]

    @property
    def event_names(self) -> list[str]:
        return [event.name for event in self.plan.program.events]

    def stage_of(self, event: str) -> Stage:
        return next(stage for stage in self.plan.stages if any(step.event.name == event for step in stage.steps))

    def feed(self, stream: str) -> Feed:
        plan = self.plan.program.stream(stream)
        assert plan is not None
        return Feed(self.plan, plan, self.clocks[stream], self.tables, self.around)

    def stage(self, number: int) -> LiveStage:
        """Compiled once per worker."""
        if (self.digest, number) not in _stages:
            for other in [key for key in _stages if key[0] != self.digest]:
                del _stages[other]
            _stages[self.digest, number] = LiveStage.of(self.plan, number, self.tables, self.around)
            # Spark looks for garbage after every task, and need not look through what is loaded by now
            gc.freeze()
        return _stages[self.digest, number]


_stages: dict[tuple[bytes, int], LiveStage] = {}
