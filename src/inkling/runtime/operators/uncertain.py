"""The events over uncertain streams as an operator, where nothing of the past changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from inkling.evaluators.open_matches import OpenMatch
from inkling.live.clocks import Marks
from inkling.live.parts import Part
from inkling.runtime.operators.protocol import UNCERTAIN, Emitted, by_name
from inkling.runtime.uncertain.program import LiveWorlds, WorldsState
from inkling.runtime.uncertain.snapshot import from_bytes, n_kept, to_bytes


@dataclass(frozen=True, slots=True)
class UncertainOperator:
    """Chains, queries, relations and worlds of the keys in a state."""

    live: LiveWorlds

    @property
    def address(self) -> int:
        return UNCERTAIN

    def start(self) -> WorldsState:
        return self.live.start()

    def step(self, state: WorldsState, parts: Sequence[Part], marks: Marks) -> tuple[WorldsState, Emitted]:
        rows, withdrawn = by_name(parts)
        assert not withdrawn, "where nothing is revised, nothing is withdrawn"
        state, told = self.live.advance(state, rows, marks)
        return state, Emitted(told.late, told.rejects, tables=told.tables)

    def watermark(self, state: WorldsState) -> int:
        return state.decided

    def latest(self, state: WorldsState) -> int | None:
        return max(state.clocks.latest.values(), default=None)

    def n_kept(self, state: WorldsState) -> int:
        return n_kept(state, self.live.exact)

    def reconfigured(self, state: WorldsState) -> WorldsState:
        return self.live.reconfigured(state)

    def migrated(self, state: WorldsState, before: UncertainOperator) -> WorldsState:
        return self.reconfigured(state)

    def open_matches(self, state: WorldsState, event: str) -> list[OpenMatch]:
        return self.live.open_matches(state, event)

    def to_bytes(self, state: WorldsState) -> bytes:
        return to_bytes(state, self.live.exact)

    def from_bytes(self, data: bytes) -> WorldsState:
        return from_bytes(data, self.live.exact)
