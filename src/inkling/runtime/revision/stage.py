"""A stage whose past may change, as a machine that can go back: rows are added and withdrawn, and so are results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.analysis.lag import settled_after
from inkling.evaluators import state as codec
from inkling.evaluators.hashes import combined, hashes_of
from inkling.evaluators.open_matches import OpenMatch
from inkling.evaluators.stage import rows as r
from inkling.evaluators.stage.batches import source_numbers
from inkling.evaluators.stage.chosen import Chosen
from inkling.evaluators.stage.engine import source_table
from inkling.logical.plan import EventPlan, ProgramPlan
from inkling.model.batch import FOREVER, UNORDERED, MatchBatch
from inkling.model.schema import StreamSchema
from inkling.model.time import Clock
from inkling.model.watermarks import Clocks, Marks
from inkling.physical.plan import PhysicalPlan, Stage
from inkling.physical.streams import streams_behind
from inkling.results import result_schema, result_table
from inkling.runtime.open_matches import open_matches
from inkling.runtime.parts import Part, is_divisible, owners_of_part
from inkling.runtime.revision.contents import content_hashes
from inkling.runtime.revision.held import own_columns
from inkling.runtime.revision.machine import OWNER, STAGE_ROWS, Found, Owners, Rows, Times
from inkling.runtime.revision.rounding import EXACT
from inkling.runtime.stage import LiveStage, LiveState

TIME = "time"
"""The one stream on which the machine inside waits: it is given rows when their time has come."""


@dataclass(frozen=True)
class StageMachine:
    """The evaluators of a stage as something that can go back."""

    stage: LiveStage
    clock: Clock

    rounding = EXACT
    is_read_by_others = True

    @property
    def streams(self) -> Mapping[str, StreamSchema]:
        return {}

    def start(self) -> LiveState:
        return replace(self.stage.start(), clocks=Clocks({TIME: 0}))

    def advance(self, state: LiveState, rows: Rows, until: int) -> tuple[LiveState, Found]:
        number = self.stage.number
        parts = [Part(number, name if name != STAGE_ROWS else None, some) for name, some in rows.items() if len(some)]
        news = Marks(finished=True) if until >= FOREVER else Marks({TIME: until + 1})
        state, moved = self.stage.advance(state, parts, news)
        results = {name: found_table(matches) for name, matches in moved.found.matches.items() if len(matches)}
        return state, Found(results, moved.rejects)

    def times(self, name: str, rows: pa.Table) -> Times:
        """Derived events come when nothing changes them any more, so far as is known."""
        ends = np.asarray(rows[r.END].to_numpy(), np.int64)
        if name != STAGE_ROWS or r.KNOWN not in rows.column_names:
            return ends
        numbers = source_numbers(rows)
        derived = self._derived[numbers]
        known = rows[r.KNOWN].fill_null(0).to_numpy() + self._holds[numbers]
        return np.where(derived, np.minimum(known, FOREVER), ends)

    def identities(self, name: str, rows: pa.Table) -> tuple[Owners, NDArray[np.bool_]]:
        """Rows of streams that withdraw are known by their ids, others by what they say; tables have no part in it."""
        ids = hashes_of(rows[r.ID].combine_chunks())
        if name != STAGE_ROWS:
            by_id = np.full(len(rows), self._withdraws(name))
            return (ids if by_id.all() else content_hashes(rows, own_columns(rows))), by_id
        numbers = source_numbers(rows)
        codes = combined(np.asarray(numbers, np.uint64), ids)
        for number in np.unique(numbers):
            if not self._by_id[number]:
                mine = numbers == number
                codes[mine] = content_hashes(rows.filter(pa.array(mine)), self._said_by(number))
        return codes, self._by_id[numbers]

    def _said_by(self, number: int) -> list[str]:
        """The columns that tell rows of an input apart."""
        given = self._stage.inputs[number]
        keys = [r.key_name(place) for place in range(len(self._stage.key_types))]
        own = [r.SOURCE, *keys, r.START, r.END, r.PLACE, r.END_PLACE, r.KNOWN, r.ID, r.IDS]
        held = r.stage_schema(self._stage).names
        return [name for name in (*own, *given.identity, *given.values) if name in held]

    @cached_property
    def is_divisible(self) -> bool:
        return is_divisible(self.stage.plan.stages[self.stage.number], self.stage.plan.program)

    def owners(self, name: str, rows: pa.Table) -> Owners:
        if not self.is_divisible:
            return np.zeros(len(rows), np.uint64)
        part = Part(self.stage.number, None if name == STAGE_ROWS else name, rows)
        return owners_of_part(part, self._stage)

    def copied(self, state: LiveState) -> LiveState:
        return state.copied()

    def only(self, state: LiveState, owners: Owners) -> LiveState:
        return state.where(Chosen(owners, len(self._stage.key_types)), self._stage)

    def without(self, state: LiveState, owners: Owners) -> LiveState:
        return state.where(Chosen(owners, len(self._stage.key_types), others=True), self._stage)

    def joined(self, one: LiveState, other: LiveState) -> LiveState:
        return one.merged(other)

    def watermark(self, state: LiveState) -> int:
        return state.clocks.watermark

    def n_kept(self, state: LiveState) -> int:
        return state.n_kept

    def shown(self, name: str, rows: pa.Table, op: str) -> pa.Table:
        event = next(step.event for step in self._stage.steps if step.event.name == name)
        schema = result_schema(event, self._stage.id_type, self.clock)
        return shown_table(event, rows, self.clock, op).cast(schema)

    def open_matches(self, state: LiveState, waiting: Rows, latest: Mapping[str, int], event: str) -> list[OpenMatch]:
        raw = {name: rows for name, rows in waiting.items() if name != STAGE_ROWS}
        now = replace(state, pending=waiting.get(STAGE_ROWS, state.pending), raw=raw)
        return open_matches([(self.stage, now)], event)

    def to_bytes(self, state: LiveState) -> bytes:
        return codec.to_bytes(state)

    def from_bytes(self, data: bytes) -> LiveState:
        return codec.from_bytes(data, LiveState)

    @property
    def _stage(self) -> Stage:
        return self.stage.plan.stages[self.stage.number]

    @cached_property
    def _derived(self) -> NDArray[np.bool_]:
        return np.array([given.is_derived for given in self._stage.inputs], bool)

    @cached_property
    def _by_id(self) -> NDArray[np.bool_]:
        return np.array([self._withdraws(given.source) for given in self._stage.inputs], bool)

    def _withdraws(self, source: str) -> bool:
        stream = self.stage.plan.program.stream(source)
        return stream is not None and stream.schema.op is not None

    @cached_property
    def _holds(self) -> NDArray[np.int64]:
        """By input, how long after they are known the results of an event are held back."""
        return np.array([self._hold(given.source) for given in self._stage.inputs], np.int64)

    def _hold(self, source: str) -> int:
        event = self.stage.plan.program.event(source)
        if event is None:
            return 0
        return min(settled_after(event, self.stage.plan.program, self.stage.around.measure), FOREVER)


def is_revised(number: int, plan: PhysicalPlan) -> bool:
    """Whether anything that a stage reads may change after it was read."""
    return any(revises(plan.program, name) for name in streams_behind(plan.stages[number], plan))


def revises(program: ProgramPlan, stream: str) -> bool:
    found = program.stream(stream)
    return found is not None and (found.schema.op is not None or found.schema.speculative)


_ABOUT = (r.START, r.END, r.PLACE, r.END_PLACE, r.KNOWN, r.IDS, OWNER)


def found_table(matches: MatchBatch) -> pa.Table:
    """Results in the form in which stages read them, with their owners."""
    assert matches.owner is not None, "results that may change say whose they are"
    return source_table(matches).append_column(OWNER, pa.array(matches.owner))


def shown_table(event: EventPlan, found: pa.Table, clock: Clock, op: str) -> pa.Table:
    """The same results in the public columns."""
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
