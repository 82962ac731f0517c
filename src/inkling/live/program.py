"""A whole program that never ends, in one process: push rows, receive what they prove."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from inkling.evaluators.stage.engine import source_table
from inkling.io.rejects import NO_REJECTS
from inkling.live.clocks import Marks
from inkling.live.feed import Feed
from inkling.live.late import no_late_rows, reported
from inkling.live.parts import Part, SourceReader
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
        self._plan, self._tables, self._around = plan, tables, around
        self._clock = next(iter(clocks.values()), Clock.TICKS)  # what times count is the same for all streams
        self._stages = [LiveStage.of(plan, stage.number, tables, around) for stage in plan.stages]
        self._readers: dict[str, SourceReader] = {}  # of derived events
        self._feeds = {
            stream.schema.name: Feed(plan, stream, clocks[stream.schema.name], tables, around)
            for stream in plan.program.streams
            if stream.schema.name in clocks
        }

    @property
    def stages(self) -> Sequence[LiveStage]:
        return self._stages

    def start(self) -> ProgramState:
        return ProgramState(tuple(stage.start() for stage in self._stages), {})

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
        news = Marks.together(marks)
        matches: dict[str, MatchBatch] = {}
        states, late = [], [no_late_rows()]
        for stage, before in zip(self._stages, state.stages, strict=True):
            after, step = stage.advance(before, [part for part in parts if part.stage == stage.number], news)
            states.append(after)
            late.append(step.late)
            rejects.append(step.rejects)
            matches.update(step.found.matches)
            parts += self._passed_on(step.found.matches)
        return ProgramState(tuple(states), n_read), Outcome(
            matches, reported(_together(late), self._clock), _together(rejects)
        )

    def _passed_on(self, matches: Mapping[str, MatchBatch]) -> Iterable[Part]:
        for name, found in matches.items():
            if len(found):
                if name not in self._readers:
                    self._readers[name] = SourceReader(self._plan, name, self._tables, self._around)
                if self._readers[name].has_readers:
                    yield from self._readers[name](source_table(found))


def _together(tables: Sequence[pa.Table]) -> pa.Table:
    """Tables of one schema one after the other; most of them are empty."""
    some = [table for table in tables if len(table)] or [tables[0]]
    return some[0] if len(some) == 1 else pa.concat_tables(some)
