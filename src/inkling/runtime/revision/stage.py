"""Replay of a stage of certain events whose input may be withdrawn: the stage as a `ReplayMachine`."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.analysis.bounds.lag import settled_after
from inkling.evaluators.open_matches import OpenMatch
from inkling.evaluators.stage.engine import source_table
from inkling.evaluators.stage.rows import format as r
from inkling.evaluators.stage.rows.batches import source_numbers
from inkling.evaluators.stage.rows.format import STAGE_ROWS
from inkling.logical.plan import EventPlan, ProgramPlan
from inkling.model.batch import FOREVER, UNORDERED, MatchBatch
from inkling.model.hashes import combined, hashes_of
from inkling.model.schema import StreamSchema
from inkling.model.time import Clock
from inkling.model.watermarks import Clocks, Watermarks
from inkling.physical.plan import PhysicalPlan, Stage
from inkling.physical.streams import streams_behind
from inkling.results import result_schema, result_table
from inkling.runtime.buffered import BufferedState
from inkling.runtime.revision.contents import content_hashes
from inkling.runtime.revision.delta import own_columns
from inkling.runtime.revision.machine import EXACT, OWNER, Owners, Rows, StepResults, Times
from inkling.runtime.routing import RoutedRows
from inkling.runtime.stage import BufferedStage

TIME = "time"
"""The only clock of the stage inside a replay: it gets rows that are complete, so it buffers none."""


@dataclass(frozen=True)
class StageMachine:
    """A stage of certain events that can be replayed."""

    live: BufferedStage
    clock: Clock

    rounding = EXACT
    is_read_by_others = True

    @property
    def streams(self) -> Mapping[str, StreamSchema]:
        return {}

    def start(self) -> BufferedState:
        return replace(self.live.start(), clocks=Clocks({TIME: 0}))

    def advance(self, state: BufferedState, rows: Rows, until: int) -> tuple[BufferedState, StepResults]:
        number = self.live.number
        parts = [
            RoutedRows(number, name if name != STAGE_ROWS else None, some) for name, some in rows.items() if len(some)
        ]
        watermarks = Watermarks(finished=True) if until >= FOREVER else Watermarks({TIME: until + 1})
        state, moved = self.live.advance(state, parts, watermarks)
        results = {name: found_table(matches) for name, matches in moved.matches.items() if len(matches)}
        return state, StepResults(results, moved.rejects)

    def times(self, name: str, rows: pa.Table) -> Times:
        """The end of a row of a stream; for a derived event, the time at which it is final."""
        ends = np.asarray(rows[r.END].to_numpy(), np.int64)
        if name != STAGE_ROWS or r.KNOWN not in rows.column_names:
            return ends
        numbers = source_numbers(rows)
        derived = self._derived[numbers]
        known = rows[r.KNOWN].fill_null(0).to_numpy() + self._delays[numbers]
        return np.where(derived, np.minimum(known, FOREVER), ends)

    def identities(self, name: str, rows: pa.Table) -> tuple[Owners, NDArray[np.bool_]]:
        """Rows of streams with OP are identified by their ids, other rows by their content without table facts."""
        ids = hashes_of(rows[r.ID].combine_chunks())
        if name != STAGE_ROWS:
            by_id = np.full(len(rows), self._withdraws(name))
            return (ids if by_id.all() else content_hashes(rows, own_columns(rows))), by_id
        numbers = source_numbers(rows)
        codes = combined(np.asarray(numbers, np.uint64), ids)
        for number in np.unique(numbers):
            if not self._by_id[number]:
                mine = numbers == number
                codes[mine] = content_hashes(rows.filter(pa.array(mine)), self._columns_of(number))
        return codes, self._by_id[numbers]

    def _columns_of(self, number: int) -> list[str]:
        """The columns that distinguish rows of an input."""
        given = self._stage.inputs[number]
        keys = [r.key_name(place) for place in range(len(self._stage.key_types))]
        own = [r.SOURCE, *keys, r.START, r.END, r.PLACE, r.END_PLACE, r.KNOWN, r.ID, r.IDS]
        held = r.stage_schema(self._stage).names
        return [name for name in (*own, *given.identity, *given.values) if name in held]

    @cached_property
    def is_divisible(self) -> bool:
        return self.live.evaluator.is_divisible

    def owners(self, name: str, rows: pa.Table) -> Owners:
        if not self.is_divisible:
            return np.zeros(len(rows), np.uint64)
        return self.live.owners(name, rows)

    def watermark(self, state: BufferedState) -> int:
        return state.clocks.watermark

    def shown(self, name: str, rows: pa.Table, op: str) -> pa.Table:
        event = next(step.event for step in self._stage.steps if step.event.name == name)
        schema = result_schema(event, self._stage.id_type, self.clock)
        return shown_table(event, rows, self.clock, op).cast(schema)

    def open_matches(
        self, state: BufferedState, waiting: Rows, latest: Mapping[str, int], event: str
    ) -> list[OpenMatch]:
        nothing = {STAGE_ROWS: state.waiting[STAGE_ROWS]}
        return self.live.open_matches(replace(state, waiting={**nothing, **waiting}), event)

    @property
    def _stage(self) -> Stage:
        return self.live.stage

    @cached_property
    def _derived(self) -> NDArray[np.bool_]:
        return np.array([given.is_derived for given in self._stage.inputs], bool)

    @cached_property
    def _by_id(self) -> NDArray[np.bool_]:
        return np.array([self._withdraws(given.source) for given in self._stage.inputs], bool)

    def _withdraws(self, source: str) -> bool:
        stream = self.live.plan.program.stream(source)
        return stream is not None and stream.schema.op is not None

    @cached_property
    def _delays(self) -> NDArray[np.int64]:
        """By input, how long after they are known the results of an event are delayed."""
        return np.array([self._delay(given.source) for given in self._stage.inputs], np.int64)

    def _delay(self, source: str) -> int:
        event = self.live.plan.program.event(source)
        if event is None:
            return 0
        return min(settled_after(event, self.live.plan.program, self.live.evaluator.context.unit), FOREVER)


def is_revised(number: int, plan: PhysicalPlan) -> bool:
    """Whether rows that a stage reads can be withdrawn, or arrive after results were emitted."""
    return any(revises(plan.program, name) for name in streams_behind(plan.stages[number], plan))


def revises(program: ProgramPlan, stream: str) -> bool:
    found = program.stream(stream)
    return found is not None and (found.schema.op is not None or found.schema.speculative)


_ABOUT = (r.START, r.END, r.PLACE, r.END_PLACE, r.KNOWN, r.IDS, OWNER)


def found_table(matches: MatchBatch) -> pa.Table:
    """Matches as rows of a derived event, with the hashes of their keys."""
    assert matches.owner is not None, "results that may be withdrawn have owners"
    return source_table(matches).append_column(OWNER, pa.array(matches.owner))


def shown_table(event: EventPlan, found: pa.Table, clock: Clock, op: str) -> pa.Table:
    """Matches in the form of `found_table` in the public columns."""
    nowhere = np.full(len(found), UNORDERED)
    matches = MatchBatch(
        event.name,
        np.zeros(len(found), np.int64),
        found[r.START].to_numpy(),
        nowhere,
        found[r.END].to_numpy(),
        nowhere,
        found[r.KNOWN].to_numpy(),
        {name: found[name].combine_chunks() for name in found.column_names if name not in _ABOUT},
        found[r.IDS].combine_chunks(),
    )
    return result_table(event, matches, clock, op)
