"""The chains of a program on streams without an end: what is kept of the events, and what is told when.

Events come when all events with an earlier first tick have come. A chain that others cannot prevent is told with its
last event; any other one when nothing can happen any more in the window of its first event.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.evaluators.imprecise.evaluator import ImpreciseEvaluator, ProbableMatches
from inkling.evaluators.imprecise.places import rows_of
from inkling.imprecise.program import ImpreciseProgram
from inkling.imprecise.results import results_of
from inkling.imprecise.run import StageEvents, events_of, with_derived
from inkling.io.normalize import Normalizer
from inkling.model.batch import FOREVER, Ints

Mask = NDArray[np.bool_]
Kept = Mapping[str, pa.Table]


@dataclass(frozen=True, slots=True)
class LiveChains:
    """Takes in checked rows of the streams in the order of their first ticks."""

    program: ImpreciseProgram
    tables: Mapping[str, pa.Table]

    @property
    def streams(self) -> list[str]:
        return [stream.schema.name for stream in self.program.part.streams]

    def start(self) -> dict[str, pa.Table]:
        """Nothing is kept yet."""
        clock = self.program.measure.clock
        return {
            one.schema.name: Normalizer(one.schema, [column.name for column in one.derived], clock)(pa.table({})).rows
            for one in self.program.part.streams
        }

    def advance(self, kept: Kept, fresh: Kept, before: int, now: int) -> tuple[Kept, dict[str, pa.Table]]:
        """Rows whose first ticks lie after `before`, up to `now`, join those that are kept; what is known by that."""
        rows = {name: pa.concat_tables([kept[name], fresh[name]]) if name in fresh else kept[name] for name in kept}
        is_new = np.concatenate([np.arange(len(rows[name])) >= len(kept[name]) for name in self.streams])
        needed, found = np.zeros(len(is_new), bool), {}
        ready = with_derived(self.program, rows)
        for stage in self.program.physical.stages:
            events = events_of(self.program, stage, ready, self.tables)
            for name, evaluator in self.program.evaluators(stage).items():
                some = self._known(evaluator, events, is_new, before, now)
                if some:
                    clock = self.program.measure.clock
                    found[name] = results_of(evaluator.step.event, some, stage.id_type, clock)
                needed[events.lines] |= self._needed(evaluator, events, now)
        return self._split(rows, needed), found

    def _known(
        self, evaluator: ImpreciseEvaluator, events: StageEvents, is_new: Mask, before: int, now: int
    ) -> list[ProbableMatches]:
        newest = is_new[events.lines]
        if not evaluator.chain.depends_on_others:
            if not newest.any():
                return []
            return evaluator.evaluate(events.batch, events.moments, events.n_keys, newest=newest)
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
            begins[rows_of(evaluator.step.leaf(link.slot), events.batch)] = True
            if link.low > 0:
                break
        waiting &= begins
        earliest = np.full(events.n_keys, now)
        np.minimum.at(earliest, events.batch.key[waiting], events.moments.lower[waiting] * grid)
        if evaluator.chain.looks_before:
            earliest -= window * grid
        return waiting | (events.moments.upper * grid > earliest[events.batch.key])

    def _split(self, rows: Kept, needed: Mask) -> dict[str, pa.Table]:
        found, at = {}, 0
        for name in self.streams:
            mine = needed[at : at + len(rows[name])]
            found[name] = rows[name] if mine.all() else rows[name].filter(pa.array(mine)).combine_chunks()
            at += len(mine)
        return found
