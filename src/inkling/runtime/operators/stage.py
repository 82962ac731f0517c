"""The operator of a stage of certain events, and the migration of its state when a running program is replaced.

Events that are kept continue with their state. A new event reads only rows that end after `beginning_of` it: earlier
rows were not prepared for it, and a match of which it has seen only a part must not be reported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from inkling.evaluators.open_matches import OpenMatch
from inkling.evaluators.stage.rows.format import STAGE_ROWS, rows_where
from inkling.evaluators.stage.rows.migration import RowMigration
from inkling.logical.plan import EventPlan, ProgramPlan
from inkling.model.time import Clock
from inkling.model.watermarks import NEVER, Clocks, Watermarks
from inkling.physical.streams import streams_of_event
from inkling.runtime.buffered import BufferedState
from inkling.runtime.operators.protocol import Emitted, Onward
from inkling.runtime.replacement import changes, is_same_stream
from inkling.runtime.revision.replay import marked_rows
from inkling.runtime.revision.stage import StageMachine
from inkling.runtime.routing import RoutedRows
from inkling.runtime.stage import STAGE, BufferedStage


@dataclass(frozen=True, slots=True)
class StageOperator:
    """A stage without revision; rows are buffered until the watermark passes them."""

    stage: BufferedStage
    clock: Clock

    @property
    def address(self) -> int:
        return self.stage.number

    def start(self) -> BufferedState:
        return self.stage.start()

    def step(
        self, state: BufferedState, parts: Sequence[RoutedRows], watermarks: Watermarks
    ) -> tuple[BufferedState, Emitted]:
        withdrawn = [part for part in parts if part.withdrawn]
        if withdrawn:
            state = self._without(state, withdrawn)
        state, emitted = self.stage.advance(state, [part for part in parts if not part.withdrawn], watermarks)
        matches = emitted.matches
        onward = tuple(Onward(name, found) for name, found in matches.items() if len(found))
        return state, replace(emitted, onward=onward)

    def watermark(self, state: BufferedState) -> int:
        return state.clocks.watermark

    def newest(self, state: BufferedState) -> Mapping[str, int]:
        return state.clocks.latest

    def n_kept(self, state: BufferedState) -> int:
        return self.stage.n_kept(state)

    def reconfigured(self, state: BufferedState) -> BufferedState:
        return self.stage.reconfigured(state)

    def migrated(self, state: BufferedState, before: StageOperator) -> BufferedState:
        return migrated(before.stage, self.stage, state)

    def open_matches(self, state: BufferedState, event: str) -> list[OpenMatch]:
        return self.stage.open_matches(state, event)

    def to_bytes(self, state: BufferedState) -> bytes:
        return self.stage.to_bytes(state)

    def from_bytes(self, data: bytes) -> BufferedState:
        return self.stage.from_bytes(data)

    def _without(self, state: BufferedState, parts: Sequence[RoutedRows]) -> BufferedState:
        """The state without replaced rows; without revision, all of them are still buffered."""
        machine = StageMachine(self.stage, self.clock)
        waiting = dict(state.waiting)
        for part in parts:
            name = part.stream or STAGE_ROWS
            if name in waiting:
                waiting[name] = rows_where(waiting[name], ~marked_rows(machine, name, waiting[name], part.rows))
        return replace(state, waiting=waiting)


def migrated(old: BufferedStage, new: BufferedStage, state: BufferedState) -> BufferedState:
    """The state of the old stage as a state of the new one, which has the same number."""
    here = {step.event.name for step in old.stage.steps} & {step.event.name for step in new.stage.steps}
    kept = frozenset(here & set(changes(old.plan.program, new.plan.program).kept))
    held = state.evaluators[STAGE]
    held = replace(held, last=_of_same_streams(held.last, old, new))
    held = new.evaluator.migrated(held, old.evaluator, kept)
    beginnings = {
        step.event.name: beginning_of(step.event, new.plan.program, state.clocks)
        for step in new.stage.steps
        if step.event.name not in kept
    }
    after = replace(
        new.start(),
        clocks=replace(state.clocks, lateness=new.lateness),
        evaluators={STAGE: replace(held, since={**held.since, **beginnings})},
    )
    if not kept:
        return after
    pending = RowMigration.between(old.stage, new.stage, kept).rows(state.waiting[STAGE_ROWS])
    return replace(after, waiting={**_of_same_streams(state.waiting, old, new), STAGE_ROWS: pending})


def beginning_of(event: EventPlan, program: ProgramPlan, clocks: Clocks) -> int:
    """The time after which a new event reads rows: all earlier rows arrived before the event was added."""
    behind = streams_of_event(event, program)
    return max([clocks.watermark, *(clocks.latest.get(name, NEVER) for name in behind)])


def _of_same_streams(held: Mapping[str, pa.Table], old: BufferedStage, new: BufferedStage) -> dict[str, pa.Table]:
    """The last rows per stream with derived columns, where the definition of the stream is the same."""
    return {
        name: rows
        for name, rows in held.items()
        if name in new.evaluator.looking_back
        and is_same_stream(old.plan.program.stream(name), new.plan.program.stream(name))
    }
