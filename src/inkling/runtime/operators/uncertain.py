"""The events over uncertain streams as an operator, where nothing of the past changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from inkling.evaluators.open_matches import OpenMatch
from inkling.model.watermarks import Marks
from inkling.runtime.operators.protocol import UNCERTAIN, Emitted, by_name
from inkling.runtime.parts import Part
from inkling.runtime.uncertain.cohorts import LiveCohorts, States


@dataclass(frozen=True, slots=True)
class UncertainOperator:
    """Chains, queries, relations and worlds of the keys in a state."""

    live: LiveCohorts

    @property
    def address(self) -> int:
        return UNCERTAIN

    def start(self) -> States:
        return self.live.start()

    def step(self, state: States, parts: Sequence[Part], marks: Marks) -> tuple[States, Emitted]:
        rows, withdrawn = by_name(parts)
        assert not withdrawn, "where nothing is revised, nothing is withdrawn"
        state, told = self.live.advance(state, rows, marks)
        return state, Emitted(told.late, told.rejects, tables=told.tables)

    def watermark(self, state: States) -> int:
        return min(one.decided for one in state)

    def latest(self, state: States) -> int | None:
        return max((time for one in state for time in one.clocks.latest.values()), default=None)

    def n_kept(self, state: States) -> int:
        return self.live.n_kept(state)

    def reconfigured(self, state: States) -> States:
        return self.live.reconfigured(state)

    def migrated(self, state: States, before: UncertainOperator) -> States:
        return self.live.migrated(state, before.live)

    def open_matches(self, state: States, event: str) -> list[OpenMatch]:
        return self.live.open_matches(state, event)

    def to_bytes(self, state: States) -> bytes:
        return self.live.to_bytes(state)

    def from_bytes(self, data: bytes) -> States:
        return self.live.from_bytes(data)
