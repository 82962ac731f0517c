"""What answers the events over uncertain streams of a program: one part per cohort."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from inkling.analysis.worlds import common_key
from inkling.evaluators import state as codec
from inkling.evaluators.open_matches import OpenMatch
from inkling.evaluators.sampling import Sampling
from inkling.evaluators.worlds.live.marks import marks_of
from inkling.logical.evaluate import Surroundings
from inkling.logical.in_worlds import doubtful_part
from inkling.model.clock import Measure
from inkling.model.schema import StreamSchema
from inkling.model.watermarks import Marks
from inkling.physical.plan import PhysicalPlan
from inkling.runtime.parts import concatenated
from inkling.runtime.registry import Maker
from inkling.runtime.uncertain.cohort import Cohort
from inkling.runtime.uncertain.program import LiveWorlds, Told, WorldsState
from inkling.runtime.uncertain.snapshot import from_bytes, n_kept, to_bytes

States = tuple[WorldsState, ...]
"""Of every cohort one."""


class LiveCohorts:
    """Compiled once; the oldest cohort that reads a stream reports what is late or refused of it."""

    def __init__(
        self,
        plan: PhysicalPlan,
        cohorts: Sequence[Cohort],
        tables: Mapping[str, pa.Table],
        around: Surroundings,
        measure: Measure,
        sampling: Sampling,
        makers: Mapping[str, Maker] | None = None,
    ) -> None:
        self.part = doubtful_part(plan.program)
        self.key = common_key(self.part).conclusion  # what divides the events over uncertain streams, and their states
        self.streams: dict[str, StreamSchema] = {}
        self._numbers, self.live = [one.number for one in cohorts], []
        for one in cohorts:
            live = LiveWorlds(plan, tables, around, measure, sampling, makers, one, frozenset(self.streams))
            self.live.append(live)
            self.streams |= live.streams
        self._scale = max(one.scale for one in cohorts)

    def marks(self, rows: Mapping[str, pa.Table]) -> Marks:
        """How far rows say that time has come, and what they call numbered events."""
        return marks_of(self.streams, rows, self._scale)

    def start(self) -> States:
        return tuple(one.start() for one in self.live)

    def advance(self, states: States, rows: Mapping[str, pa.Table], news: Marks) -> tuple[States, Told]:
        """Take in checked rows of some streams, and news about time."""
        stepped = [one.advance(state, rows, news) for one, state in zip(self.live, states, strict=True)]
        told = [one for _, one in stepped]
        return tuple(state for state, _ in stepped), Told(
            {name: table for one in told for name, table in one.tables.items()},
            concatenated([one.late for one in told]),
            concatenated([one.rejects for one in told]),
        )

    def open_matches(self, states: States, event: str) -> list[OpenMatch]:
        """What has begun of an event and may still be completed."""
        pairs = zip(self.live, states, strict=True)
        return next(one.open_matches(state, event) for one, state in pairs if event in one.events)

    def reconfigured(self, states: States) -> States:
        """States that continue with the windows that the program has now."""
        return tuple(one.reconfigured(state) for one, state in zip(self.live, states, strict=True))

    def migrated(self, states: States, before: LiveCohorts) -> States:
        """States that the cohorts of the program before have left; new cohorts begin where its streams have come to."""
        old = dict(zip(before._numbers, zip(before.live, states, strict=True), strict=True))
        clocks = states[0].clocks  # all cohorts hear the same
        return tuple(
            live.migrated(*old[number]) if number in old else live.beginning(clocks)
            for number, live in zip(self._numbers, self.live, strict=True)
        )

    def n_kept(self, states: States) -> int:
        return sum(n_kept(state, one.exact) for one, state in zip(self.live, states, strict=True))

    def to_bytes(self, states: States) -> bytes:
        pairs = zip(self._numbers, self.live, states, strict=True)
        return codec.to_bytes({str(number): to_bytes(state, live.exact) for number, live, state in pairs})

    def from_bytes(self, data: bytes) -> States:
        parts = codec.from_bytes(data, dict[str, bytes])
        pairs = zip(self._numbers, self.live, strict=True)
        return tuple(from_bytes(parts[str(number)], live.exact) for number, live in pairs)
