"""A whole program that never ends, in one process: push rows, receive what they prove."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from inkling.io.rejects import NO_REJECTS
from inkling.live import snapshot
from inkling.live.chain import StageChain, concatenated
from inkling.live.clocks import NEVER, Marks
from inkling.live.feed import Feed
from inkling.live.late import reported
from inkling.live.parts import Part
from inkling.live.stage import LiveStage, LiveState
from inkling.logical.evaluate import Surroundings
from inkling.model.batch import MatchBatch
from inkling.model.time import Clock
from inkling.physical.plan import PhysicalPlan


@dataclass(frozen=True, slots=True)
class Outcome:
    """What some rows led to: results per event, rows that came too late, and rows that were refused."""

    matches: Mapping[str, MatchBatch]
    late: pa.Table
    rejects: pa.Table
    tables: Mapping[str, pa.Table] | None = None  # results in the public columns, where they have probabilities


@dataclass(frozen=True, slots=True)
class ProgramState:
    """One state per stage, and how many rows of each stream have come."""

    stages: tuple[LiveState, ...]
    n_read: Mapping[str, int]


class LiveProgram:
    """Drives all stages of a program in order; its state is a value of its own."""

    def __init__(
        self,
        plan: PhysicalPlan,
        clocks: Mapping[str, Clock],
        tables: Mapping[str, pa.Table],
        around: Surroundings,
    ) -> None:
        self._clock = next(iter(clocks.values()), Clock.TICKS)  # what times count is the same for all streams
        self._chain = StageChain(plan, tables, around)
        self._feeds = {
            stream.schema.name: Feed(plan, stream, clocks[stream.schema.name], tables, around)
            for stream in plan.program.streams
            if stream.schema.name in clocks
        }

    @property
    def stages(self) -> Sequence[LiveStage]:
        return self._chain.stages

    def start(self) -> ProgramState:
        return self.at({})

    def at(self, n_read: Mapping[str, int]) -> ProgramState:
        """Nothing is known yet, but so many rows were read."""
        return ProgramState(self._chain.start(), n_read)

    def watermark(self, state: ProgramState) -> int:
        """The time up to which everything is decided."""
        return min((stage.clocks.watermark for stage in state.stages), default=NEVER)

    def viewed(self, state: ProgramState) -> list[tuple[LiveStage, LiveState]]:
        """The stages with what they remember."""
        return list(zip(self.stages, state.stages, strict=True))

    def dumped(self, state: ProgramState) -> list[bytes]:
        return [snapshot.to_bytes(stage) for stage in state.stages]

    def loaded(self, parts: Sequence[bytes], n_read: Mapping[str, int]) -> ProgramState:
        return ProgramState(tuple(snapshot.from_bytes(part) for part in parts), n_read)

    def rewindowed(self, state: ProgramState) -> ProgramState:
        """A state that goes on with the windows of the program as it is compiled now."""
        stages = (stage.rewindowed(held) for stage, held in zip(self.stages, state.stages, strict=True))
        return replace(state, stages=tuple(stages))

    def step(
        self, state: ProgramState, raw: Mapping[str, pa.Table], said: Marks | None = None
    ) -> tuple[ProgramState, Outcome]:
        """Take in raw rows of some streams, and what was `said` about time."""
        parts: list[Part] = []
        marks, rejects = [said or Marks()], [NO_REJECTS]
        n_read = dict(state.n_read)
        for name, rows in raw.items():
            first = n_read.get(name, 0) + 1
            n_read[name] = first + len(rows) - 1
            fed = self._feeds[name](rows, np.arange(first, first + len(rows)))
            parts += fed.parts
            marks.append(fed.marks)
            rejects.append(fed.rejects)
        states, moved = self._chain.advance(state.stages, parts, Marks.together(marks))
        late, refused = reported(moved.late, self._clock), concatenated([*rejects, moved.rejects])
        return ProgramState(states, n_read), Outcome(moved.matches, late, refused)
