"""A stage of certain events as an operator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from inkling.evaluators.open_matches import OpenMatch
from inkling.evaluators.stage.chosen import rows_where
from inkling.live import snapshot
from inkling.live.clocks import Marks
from inkling.live.migrate import migrated
from inkling.live.open_matches import open_matches
from inkling.live.parts import Part
from inkling.live.revision.machine import STAGE_ROWS
from inkling.live.revision.stage import StageMachine
from inkling.live.revision.withdrawing import marked_rows
from inkling.live.stage import LiveStage, LiveState, n_kept
from inkling.model.time import Clock
from inkling.runtime.operators.protocol import Emitted, Onward


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
        return n_kept(state)

    def reconfigured(self, state: LiveState) -> LiveState:
        return self.stage.reconfigured(state)

    def migrated(self, state: LiveState, before: StageOperator) -> LiveState:
        return migrated(before.stage, self.stage, state)

    def open_matches(self, state: LiveState, event: str) -> list[OpenMatch]:
        return open_matches([(self.stage, state)], event)

    def to_bytes(self, state: LiveState) -> bytes:
        return snapshot.to_bytes(state)

    def from_bytes(self, data: bytes) -> LiveState:
        return snapshot.from_bytes(data)

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
