"""A stage of certain events as an operator, and what it hands over when a running program is replaced.

Events that are kept go on as if nothing had happened. Events that are new see what ends after `beginning_of` them, as
if the streams had begun there: rows that came before the switch were not prepared for them, and a match of which they
know only a part is none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from inkling.evaluators import state as codec
from inkling.evaluators.open_matches import OpenMatch
from inkling.evaluators.stage.chosen import rows_where
from inkling.evaluators.stage.layout import Layout
from inkling.logical.plan import EventPlan, ProgramPlan
from inkling.model.time import Clock
from inkling.model.watermarks import NEVER, Clocks, Marks
from inkling.physical.streams import streams_of_event
from inkling.runtime.changes import changes, is_same_stream
from inkling.runtime.open_matches import open_matches
from inkling.runtime.operators.protocol import Emitted, Onward
from inkling.runtime.parts import Part
from inkling.runtime.revision.machine import STAGE_ROWS
from inkling.runtime.revision.stage import StageMachine
from inkling.runtime.revision.withdrawing import marked_rows
from inkling.runtime.stage import LiveStage, LiveState


@dataclass(frozen=True, slots=True)
class StageOperator:
    """Stages whose past does not change; rows wait in them until their time is complete."""

    stage: LiveStage
    clock: Clock

    @property
    def address(self) -> int:
        return self.stage.number

    def start(self) -> LiveState:
        return self.stage.start()

    def step(self, state: LiveState, parts: Sequence[Part], marks: Marks) -> tuple[LiveState, Emitted]:
        withdrawn = [part for part in parts if part.withdrawn]
        if withdrawn:
            state = self._without(state, withdrawn)
        state, advanced = self.stage.advance(state, [part for part in parts if not part.withdrawn], marks)
        matches = advanced.found.matches
        onward = tuple(Onward(name, found) for name, found in matches.items() if len(found))
        return state, Emitted(advanced.late, advanced.rejects, matches, onward=onward)

    def watermark(self, state: LiveState) -> int:
        return state.clocks.watermark

    def latest(self, state: LiveState) -> int | None:
        return max(state.clocks.latest.values(), default=None)

    def n_kept(self, state: LiveState) -> int:
        return state.n_kept

    def reconfigured(self, state: LiveState) -> LiveState:
        return self.stage.reconfigured(state)

    def migrated(self, state: LiveState, before: StageOperator) -> LiveState:
        return migrated(before.stage, self.stage, state)

    def open_matches(self, state: LiveState, event: str) -> list[OpenMatch]:
        return open_matches([(self.stage, state)], event)

    def to_bytes(self, state: LiveState) -> bytes:
        return codec.to_bytes(state)

    def from_bytes(self, data: bytes) -> LiveState:
        return codec.from_bytes(data, LiveState)

    def _without(self, state: LiveState, parts: Sequence[Part]) -> LiveState:
        """Without rows that others took the place of; where nothing is corrected, all of these are still waiting."""
        machine = StageMachine(self.stage, self.clock)
        for part in parts:
            held = state.pending if part.stream is None else state.raw.get(part.stream)
            if held is None:
                continue
            left = rows_where(held, ~marked_rows(machine, part.stream or STAGE_ROWS, held, part.rows))
            if part.stream is None:
                state = replace(state, pending=left)
            else:
                state = replace(state, raw={**state.raw, part.stream: left})
        return state


def migrated(old: LiveStage, new: LiveStage, state: LiveState) -> LiveState:
    """The state of the old stage as a state of the new one, which has the same number."""
    before, after = old.plan.stages[old.number], new.plan.stages[new.number]
    here = {step.event.name for step in before.steps} & {step.event.name for step in after.steps}
    kept = frozenset(here & set(changes(old.plan.program, new.plan.program).kept))
    fresh = new.start()
    clocks = replace(state.clocks, lateness=fresh.clocks.lateness)
    since = {name: time for name, time in state.stage.since.items() if name in kept}
    since |= {
        step.event.name: beginning_of(step.event, new.plan.program, state.clocks)
        for step in after.steps
        if step.event.name not in kept
    }
    if not kept:
        return replace(fresh, clocks=clocks, stage=replace(fresh.stage, until=state.stage.until, since=since))
    layout = Layout.between(before, after, kept)
    return LiveState(
        clocks,
        layout.rows(state.pending),
        _of_same_streams(state.raw, old, new),
        _of_same_streams(state.last, old, new),
        new.stepper.migrated(state.stage, old.stepper, layout, kept, since),
    )


def beginning_of(event: EventPlan, program: ProgramPlan, clocks: Clocks) -> int:
    """A time by which everything has ended that came before a new event was there to see it, or is decided."""
    behind = streams_of_event(event, program)
    return max([clocks.watermark, *(clocks.latest.get(name, NEVER) for name in behind)])


def _of_same_streams(held: Mapping[str, pa.Table], old: LiveStage, new: LiveStage) -> dict[str, pa.Table]:
    """What is held per stream with columns that look back, where the stream still means the same."""
    return {
        name: rows
        for name, rows in held.items()
        if name in new.derived and is_same_stream(old.plan.program.stream(name), new.plan.program.stream(name))
    }
