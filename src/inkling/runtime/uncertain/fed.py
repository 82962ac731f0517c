"""Raw rows of uncertain streams all the way to results with probabilities: checked, typed, evaluated."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from inkling.evaluators.sampling import Sampling
from inkling.live.chain import concatenated
from inkling.live.clocks import Marks
from inkling.live.late import reported
from inkling.live.program import Outcome
from inkling.live.reading import Reading
from inkling.logical.evaluate import Surroundings
from inkling.logical.plan import EventPlan
from inkling.model.clock import Measure
from inkling.model.time import Clock
from inkling.physical.plan import PhysicalPlan
from inkling.results import result_schema
from inkling.runtime.uncertain.program import LiveWorlds, WorldsState
from inkling.runtime.uncertain.snapshot import from_bytes, to_bytes


@dataclass(frozen=True, slots=True)
class FedState:
    worlds: WorldsState
    n_read: Mapping[str, int]


class FedWorlds:
    """The events of a program that depend on uncertain streams."""

    n_parts = 1  # of `dumped`

    def __init__(
        self,
        plan: PhysicalPlan,
        tables: Mapping[str, pa.Table],
        around: Surroundings,
        measure: Measure,
        sampling: Sampling,
    ) -> None:
        self._live = LiveWorlds(plan, tables, around, measure, sampling)
        self._plan, self._clock = plan, measure.clock
        names = [stream.schema.name for stream in plan.program.streams]
        self._read = Reading(plan.program.streams, dict.fromkeys(names, measure.clock))

    @property
    def streams(self) -> Collection[str]:
        return self._live.streams

    def start(self) -> FedState:
        return FedState(self._live.start(), {})

    def step(self, state: FedState, raw: Mapping[str, pa.Table], said: Marks | None = None) -> tuple[FedState, Outcome]:
        """Take in raw rows of some streams, and what was `said` about time."""
        read = self._read(raw, state.n_read)
        news = Marks.together([said or Marks(), self._live.marks(read.rows)])
        worlds, told = self._live.advance(state.worlds, read.rows, news)
        tables = {
            event.name: told.tables.get(event.name, no_results(self._plan, event, self._clock))
            for event in self._plan.program.events
            if event.name in self._plan.uncertain
        }
        refused = concatenated([reported_here(self._live, read.rejects), told.rejects])
        return FedState(worlds, read.n_read), Outcome({}, reported(told.late, self._clock), refused, tables)

    def at(self, n_read: Mapping[str, int]) -> FedState:
        return FedState(self._live.start(), n_read)

    def watermark(self, state: FedState) -> int:
        return state.worlds.decided

    def rewindowed(self, state: FedState) -> FedState:
        """Windows of streams that nobody revises only say how late rows may be."""
        return replace(state, worlds=self._live.rewindowed(state.worlds))

    def dumped(self, state: FedState) -> list[bytes]:
        return [to_bytes(state.worlds, self._live.exact)]

    def loaded(self, parts: Sequence[bytes], n_read: Mapping[str, int]) -> FedState:
        return FedState(from_bytes(parts[0], self._live.exact), n_read)


def reported_here(live: LiveWorlds, rejects: pa.Table) -> pa.Table:
    """Without the rejects that certain events report, because they read the same stream."""
    if not len(rejects):
        return rejects
    return rejects.filter(pc.invert(pc.is_in(rejects["stream"], pa.array(live.reported_elsewhere, pa.string()))))


def no_results(plan: PhysicalPlan, event: EventPlan, clock: Clock) -> pa.Table:
    """The columns of an event that found nothing."""
    stage = next(one for one in plan.stages if any(step.event.name == event.name for step in one.steps))
    return result_schema(event, stage.id_type, clock).empty_table()
