"""Everything the workers of a streaming query need to know; small enough to travel with it."""

from __future__ import annotations

import gc
import hashlib
import pickle
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.analysis.clock import measure_for
from inkling.evaluators.sampling import Sampling
from inkling.live.adaptation.counting import counts_for, is_counting
from inkling.live.feed import Fed, Feed
from inkling.live.migrate import migrated
from inkling.live.parts import Part, divided
from inkling.live.revision.chain import AnyStage, any_stage
from inkling.live.stage import LiveStage, LiveState
from inkling.logical.evaluate import Surroundings
from inkling.model.clock import Measure
from inkling.model.time import Clock
from inkling.physical.plan import PhysicalPlan, Stage
from inkling.physical.planner import certain_plan
from inkling.runtime.registry import EXACT, Maker
from inkling.runtime.uncertain.program import LiveWorlds
from inkling.runtime.uncertain.revised import RevisedWorlds
from inkling.spark.streaming.messages import LEDGERS, UNCERTAIN


@dataclass(frozen=True, slots=True)
class Job:
    """A planned program, what its tables hold, and how it is divided."""

    plan: PhysicalPlan
    staged: PhysicalPlan  # of its certain events: all that runs in stages
    clocks: Mapping[str, Clock]
    tables: Mapping[str, pa.Table]
    around: Surroundings
    clock: Clock
    n_buckets: int
    digest: bytes
    definition: int = 0  # its number
    earlier: Job | None = None  # the definition before, of which states may be left
    sampling: Sampling = field(default_factory=Sampling)
    makers: Mapping[str, Maker] = field(default_factory=dict)  # of evaluators that need no worlds

    @classmethod
    def of(
        cls,
        plan: PhysicalPlan,
        clocks: Mapping[str, Clock],
        tables: Mapping[str, pa.Table],
        around: Surroundings,
        clock: Clock,
        n_buckets: int,
        sampling: Sampling,
    ) -> Job:
        plan = plan.on_clock(clock)
        digest = hashlib.sha256(pickle.dumps((plan, clocks, tables, around, n_buckets, sampling))).digest()
        staged, makers = certain_plan(plan), dict(EXACT) if plan.uncertain else {}
        return cls(plan, staged, clocks, tables, around, clock, n_buckets, digest, sampling=sampling, makers=makers)

    @property
    def is_doubtful(self) -> bool:
        """Whether some event depends on an uncertain stream; it then runs in an operator behind all stages."""
        return bool(self.plan.uncertain)

    @property
    def revises(self) -> bool:
        """Whether results can be withdrawn, so that ledgers of the streams stand before all else."""
        return self.plan.program.revises

    @property
    def n_operators(self) -> int:
        return len(self.staged.stages) + self.is_doubtful + self.revises

    def worlds(self) -> LiveWorlds:
        """Compiled once per worker."""
        if self.digest not in _worlds:
            _worlds.clear()
            _worlds[self.digest] = LiveWorlds(*self._uncertain_inputs())
            gc.freeze()
        return _worlds[self.digest]

    def _uncertain_inputs(
        self,
    ) -> tuple[PhysicalPlan, Mapping[str, pa.Table], Surroundings, Measure, Sampling, Mapping[str, Maker]]:
        measure = measure_for(self.plan.program, self.clocks)
        return self.plan, self.tables, self.around, measure, self.sampling, self.makers

    def revised_worlds(self) -> RevisedWorlds:
        """Compiled once per worker."""
        if self.digest not in _revised_worlds:
            _revised_worlds.clear()
            _revised_worlds[self.digest] = RevisedWorlds(*self._uncertain_inputs())
            gc.freeze()
        return _revised_worlds[self.digest]

    def divided(self, part: Part) -> Iterator[tuple[int, Part]]:
        """A part cut by bucket."""
        if part.stage == LEDGERS:
            from inkling.spark.streaming.ledgers import ledger_pieces

            return ledger_pieces(part, self.n_buckets)
        if part.stage == UNCERTAIN:
            from inkling.spark.streaming.worlds import world_pieces

            return world_pieces(part, self.uncertain(), self.n_buckets)
        return divided(part, self.staged, self.n_buckets)

    def uncertain(self) -> LiveWorlds:
        """What answers the events over uncertain streams, whether or not their past may change."""
        return self.revised_worlds().live if self.revises else self.worlds()

    @property
    def stream_names(self) -> list[str]:
        return [stream.schema.name for stream in self.plan.program.streams]

    @property
    def event_names(self) -> list[str]:
        return [event.name for event in self.plan.program.events]

    @property
    def reported(self) -> list[tuple[int, str]]:
        """Events of the program with their numbers, without those that only count for models."""
        return [(number, name) for number, name in enumerate(self.event_names) if not is_counting(name)]

    @property
    def counted(self) -> dict[int, str]:
        """By number of the event that counts for it, the model."""
        found = enumerate(map(counts_for, self.plan.program.events))
        return {number: model for number, model in found if model is not None}

    def stage_of(self, event: str) -> Stage:
        return next(stage for stage in self.plan.stages if any(step.event.name == event for step in stage.steps))

    def feed(self, stream: str) -> Callable[[pa.Table, NDArray[np.int64]], Fed]:
        if self.revises:
            from inkling.spark.streaming.ledgers import LedgerFeed

            return LedgerFeed(self, stream)
        plan = self.plan.program.stream(stream)
        assert plan is not None
        if self.is_doubtful:
            from inkling.spark.streaming.worlds import UncertainFeed

            return UncertainFeed(self, plan)
        return Feed(self.plan, plan, self.clocks[stream], self.tables, self.around)

    def stage(self, number: int) -> LiveStage:
        """Compiled once per worker."""
        if (self.digest, number) not in _stages:
            known = {self.digest} if self.earlier is None else {self.digest, self.earlier.digest}
            for other in [key for key in _stages if key[0] not in known]:
                del _stages[other]
            _stages[self.digest, number] = LiveStage.of(self.staged, number, self.tables, self.around)
            # Spark looks for garbage after every task, and need not look through what is loaded by now
            gc.freeze()
        return _stages[self.digest, number]

    def revised_stage(self, number: int) -> AnyStage:
        """Compiled once per worker."""
        if (self.digest, number) not in _revised_stages:
            for other in [key for key in _revised_stages if key[0] != self.digest]:
                del _revised_stages[other]
            _revised_stages[self.digest, number] = any_stage(self.staged, number, self.tables, self.around)
            gc.freeze()
        return _revised_stages[self.digest, number]

    def without_facts(self) -> Job:
        """What is needed to understand states that it left."""
        return replace(self, tables={}, around=replace(self.around, tables={}), earlier=None)

    def taken_over(self, number: int, state: LiveState, definition: int) -> LiveState:
        """A state that may have been left by the definition before this one."""
        if definition == self.definition:
            return state
        earlier = self.earlier
        assert earlier is not None, f"a state of definition {definition}, of which nothing is known"
        assert earlier.definition == definition, f"a state of definition {definition}, not of {earlier.definition}"
        if (earlier.digest, number) not in _stages:
            _stages[earlier.digest, number] = LiveStage.of(earlier.staged, number, earlier.tables, earlier.around)
        return migrated(_stages[earlier.digest, number], self.stage(number), state)


_stages: dict[tuple[bytes, int], LiveStage] = {}
_revised_stages: dict[tuple[bytes, int], AnyStage] = {}
_worlds: dict[bytes, LiveWorlds] = {}
_revised_worlds: dict[bytes, RevisedWorlds] = {}
