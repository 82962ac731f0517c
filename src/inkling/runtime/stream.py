"""A program with uncertain streams in one process: its certain events run in stages as ever, the others beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from inkling.evaluators.sampling import Sampling
from inkling.live.adaptation.counting import is_counting
from inkling.live.chain import concatenated
from inkling.live.clocks import Marks
from inkling.live.late import each_once
from inkling.live.program import LiveProgram, Outcome
from inkling.live.revision.books import Books
from inkling.live.revision.program import RevisedProgram
from inkling.live.stage import LiveStage, LiveState
from inkling.logical.evaluate import Surroundings
from inkling.model.clock import Measure
from inkling.physical.plan import PhysicalPlan
from inkling.physical.planner import certain_plan
from inkling.results import result_table
from inkling.runtime.uncertain.fed import FedWorlds
from inkling.runtime.uncertain.fed_revised import FedRevisedWorlds


@dataclass(frozen=True, slots=True)
class MixedState:
    """What the certain and the uncertain events keep."""

    certain: Any  # `ProgramState` or `RevisedState`
    uncertain: Any  # `FedState` or `FedRevisedState`

    @property
    def n_read(self) -> Mapping[str, int]:
        return {**self.certain.n_read, **self.uncertain.n_read}


class MixedProgram:
    """Takes the place of `LiveProgram` where some streams are uncertain.

    A stream that both kinds of events read is read by both; its rejects are reported once.
    """

    def __init__(
        self,
        plan: PhysicalPlan,
        tables: Mapping[str, pa.Table],
        around: Surroundings,
        measure: Measure,
        sampling: Sampling,
    ) -> None:
        self._plan, self._clock = certain_plan(plan), measure.clock
        clocks = {stream.schema.name: measure.clock for stream in self._plan.program.streams}
        revises = plan.program.revises
        self._certain = (RevisedProgram if revises else LiveProgram)(self._plan, clocks, tables, around)
        self._uncertain = (FedRevisedWorlds if revises else FedWorlds)(plan, tables, around, measure, sampling)
        self._certain_streams = frozenset(clocks)

    def start(self) -> MixedState:
        return self.at({})

    def at(self, n_read: Mapping[str, int]) -> MixedState:
        """Nothing is known yet, but so many rows were read."""
        return MixedState(self._certain.at(self._of_certain(n_read)), self._uncertain.at(self._of_others(n_read)))

    def watermark(self, state: MixedState) -> int:
        """The time up to which everything is decided."""
        marks = [self._uncertain.watermark(state.uncertain)]
        if self._plan.stages:
            marks.append(self._certain.watermark(state.certain))
        return min(marks)

    def viewed(self, state: MixedState) -> list[tuple[LiveStage, LiveState]]:
        """The stages of certain events with what they keep."""
        return self._certain.viewed(state.certain)

    def dumped(self, state: MixedState) -> list[bytes]:
        return [*self._uncertain.dumped(state.uncertain), *self._certain.dumped(state.certain)]

    def loaded(self, parts: Sequence[bytes], n_read: Mapping[str, int]) -> MixedState:
        n = self._uncertain.n_parts
        return MixedState(
            self._certain.loaded(parts[n:], self._of_certain(n_read)),
            self._uncertain.loaded(parts[:n], self._of_others(n_read)),
        )

    def rewindowed(self, state: MixedState) -> MixedState:
        """A state that continues with the windows of the program as it is compiled now."""
        return MixedState(self._certain.rewindowed(state.certain), self._uncertain.rewindowed(state.uncertain))

    def step(
        self, state: MixedState, raw: Mapping[str, pa.Table], said: Marks | None = None
    ) -> tuple[MixedState, Outcome]:
        """Take in raw rows of some streams, and what was `said` about time."""
        certain, found = self._certain.step(state.certain, self._of_certain(raw), said)
        uncertain, others = self._uncertain.step(state.uncertain, self._of_others(raw), said)
        assert others.tables is not None
        return MixedState(certain, uncertain), Outcome(
            found.matches,
            each_once(concatenated([found.late, others.late])),
            concatenated([found.rejects, others.rejects]),
            {**others.tables, **self._tables(found)},
        )

    def _tables(self, found: Outcome) -> Mapping[str, pa.Table]:
        if found.tables is not None:
            return found.tables
        return {
            event.name: result_table(event, found.matches[event.name], self._clock)
            for event in self._plan.program.events
            if not is_counting(event.name)
        }

    def _of_certain(self, by_stream: Mapping[str, Any]) -> dict[str, Any]:
        return {name: one for name, one in by_stream.items() if name in self._certain_streams}

    def _of_others(self, by_stream: Mapping[str, Any]) -> dict[str, Any]:
        """Of the streams that events over uncertain streams read, and of those that nobody reads."""
        wanted = self._uncertain.streams
        return {name: one for name, one in by_stream.items() if name in wanted or name not in self._certain_streams}


def books_of(state: Any) -> tuple[Books, ...]:
    """The ledgers in a state: of streams whose past may change."""
    if isinstance(state, MixedState):
        return (*books_of(state.certain), *books_of(state.uncertain))
    books = getattr(state, "books", None)
    return () if books is None else (books,)
