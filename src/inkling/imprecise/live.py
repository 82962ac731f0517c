"""The chains of a program on streams without an end: what is kept of the events, and what is told when.

Events come when all events with an earlier first tick have come. A chain that others cannot prevent is told with its
last event; any other one when nothing can happen any more in the window of its first event.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.evaluators.imprecise.evaluator import ImpreciseEvaluator, ProbableMatches
from inkling.evaluators.sources import rows_passing
from inkling.evaluators.stage.derive import derived_after
from inkling.imprecise.program import ImpreciseProgram
from inkling.imprecise.results import results_of
from inkling.imprecise.run import StageEvents, prepared
from inkling.io.normalize import Normalizer
from inkling.logical import expr as e
from inkling.logical.plan import StreamPlan
from inkling.model.batch import FOREVER, Ints

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Kept:
    """Rows of each stage that chains may still need, and the last row of each key where columns look back."""

    stages: tuple[pa.Table, ...] = ()
    last: Mapping[str, pa.Table] = field(default_factory=dict)

    def __len__(self) -> int:
        return sum(map(len, self.stages))


@dataclass(frozen=True, slots=True)
class LiveChains:
    """Takes in checked rows of the streams in the order of their first ticks."""

    program: ImpreciseProgram
    tables: Mapping[str, pa.Table]

    @property
    def streams(self) -> list[str]:
        return [stream.schema.name for stream in self.program.part.streams]

    def start(self) -> Kept:
        """Nothing is kept yet."""
        return Kept(tuple(self._prepared(self.no_rows(), {})[0]))

    def no_rows(self) -> dict[str, pa.Table]:
        """Of each stream none."""
        clock = self.program.measure.clock
        return {
            one.schema.name: Normalizer(one.schema, [column.name for column in one.derived], clock)(pa.table({})).rows
            for one in self.program.part.streams
        }

    def advance(
        self, kept: Kept, fresh: Mapping[str, pa.Table], before: int, now: int
    ) -> tuple[Kept, dict[str, pa.Table]]:
        """Rows whose first ticks lie after `before`, up to `now`, join those that are kept; what is known by that.

        Rows of all streams come, of some none. Conditions on single rows, and columns that look back, are decided now.
        """
        arrived, last = self._prepared(fresh, kept.last)
        left, found = [], {}
        for stage, old, new in zip(self.program.physical.stages, kept.stages, arrived, strict=True):
            rows = pa.concat_tables([old, new])
            events = StageEvents.of(self.program, stage, rows)
            is_new, needed = events.rows >= len(old), np.zeros(len(rows), bool)
            for name, evaluator in self.program.evaluators(stage).items():
                some = self._known(evaluator, events, is_new, before, now)
                if some:
                    found[name] = results_of(evaluator.step.event, some, stage.id_type, self.program.measure.clock)
                needed[events.rows] |= self._needed(evaluator, events, now)
            left.append(rows if needed.all() else rows.filter(pa.array(needed)).combine_chunks())
        return Kept(tuple(left), last), found

    def _prepared(
        self, rows: Mapping[str, pa.Table], last: Mapping[str, pa.Table]
    ) -> tuple[list[pa.Table], dict[str, pa.Table]]:
        """Rows of streams as rows of each stage, and the last rows of keys where columns look back."""
        program, ready, after = self.program, dict(rows), dict(last)
        for stream in program.physical.program.streams:
            name = stream.schema.name
            if stream.derived:
                ready[name], latest = derived_after(stream, last.get(name), rows[name], program.around)
                if self._looks_back(stream):
                    after[name] = latest
        return [prepared(program, stage, ready, self.tables) for stage in program.physical.stages], after

    @staticmethod
    def _looks_back(stream: StreamPlan) -> bool:
        parts = (part for column in stream.derived for part in e.walk(column.expr))
        return any(isinstance(part, e.PreviousColumn | e.SinceChange) for part in parts)

    def _known(
        self, evaluator: ImpreciseEvaluator, events: StageEvents, is_new: Mask, before: int, now: int
    ) -> list[ProbableMatches]:
        if not evaluator.chain.depends_on_others:
            if not is_new.any():
                return []
            return evaluator.evaluate(events.batch, events.moments, events.n_keys, newest=is_new)
        settled = self._settled(evaluator, events)
        due = (settled > before) & (settled <= now)
        if not due.any():
            return []
        return evaluator.evaluate(events.batch, events.moments, events.n_keys, first=due)

    def _settled(self, evaluator: ImpreciseEvaluator, events: StageEvents) -> Ints:
        """When nothing can join or prevent a chain any more that begins with each event."""
        if evaluator.window <= 0:
            return np.full(len(events.moments), FOREVER)
        return (events.moments.upper + evaluator.window - 1) * evaluator.grid

    def _needed(self, evaluator: ImpreciseEvaluator, events: StageEvents, now: int) -> Mask:
        """The events that chains may still have to do with of which nothing was told yet."""
        grid, window = evaluator.grid, evaluator.window
        waiting = self._settled(evaluator, events) > now
        if not evaluator.chain.depends_on_others:
            return waiting
        begins = np.zeros(len(waiting), bool)
        for link in evaluator.chain.links:
            begins[rows_passing(evaluator.step.leaf(link.slot), events.batch)] = True
            if link.low > 0:
                break
        waiting &= begins
        earliest = np.full(events.n_keys, now)
        np.minimum.at(earliest, events.batch.key[waiting], events.moments.lower[waiting] * grid)
        if evaluator.chain.looks_before:
            earliest -= window * grid
        return waiting | (events.moments.upper * grid > earliest[events.batch.key])
