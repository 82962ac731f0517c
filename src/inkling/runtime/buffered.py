"""Evaluators on streams: rows are buffered until the watermark passes them, then the evaluators ingest them.

`runtime.stage` and `runtime.uncertain` extend `Buffered`; they differ in how arriving rows are checked.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from inkling.evaluators import state as codec
from inkling.evaluators.protocol import Rows, StatefulEvaluator
from inkling.evaluators.stage.rows.format import concatenated, split_rows
from inkling.evaluators.stage.rows.keys import Owners, is_among
from inkling.model.roles import Roles
from inkling.model.watermarks import NEVER, Clocks


@dataclass(frozen=True, slots=True)
class BufferedState:
    """The state of all keys in one bucket."""

    clocks: Clocks
    waiting: Mapping[str, pa.Table]  # by stream: rows after the watermark, and rows that later rows are checked against
    evaluators: Mapping[str, Any]  # state by evaluator
    since: int = NEVER  # rows up to this time are ignored
    roles: Mapping[str, Roles] = field(default_factory=dict)
    best: Mapping[str, pa.Table] = field(default_factory=dict)  # by event with TOP: the most probable results so far


class Buffered(ABC):
    """Some evaluators, and how their states are split, merged, copied and written."""

    evaluators: Mapping[str, StatefulEvaluator[Any, Rows, Any]]

    @property
    @abstractmethod
    def lateness(self) -> Mapping[str, int]:
        """The lateness of each stream that the watermark depends on."""

    @abstractmethod
    def owners(self, name: str, rows: pa.Table) -> Owners:
        """The hash of the key of each row of a stream."""

    def start(self) -> BufferedState:
        states = {name: one.start() for name, one in self.evaluators.items()}
        return BufferedState(Clocks(self.lateness), {}, states)

    def split(self, state: BufferedState, owners: Owners) -> tuple[BufferedState, BufferedState]:
        """The state of the keys with these hashes, and the state of all other keys."""
        waiting = {
            name: split_rows(rows, is_among(self.owners(name, rows), owners)) for name, rows in state.waiting.items()
        }
        states = {name: one.split(state.evaluators[name], owners) for name, one in self.evaluators.items()}
        theirs, others = (
            replace(
                state,
                waiting={name: both[half] for name, both in waiting.items()},
                evaluators={name: both[half] for name, both in states.items()},
            )
            for half in (0, 1)
        )
        return theirs, others

    def merge(self, left: BufferedState, right: BufferedState) -> BufferedState:
        """The merged state of two states of different keys at the same moment."""
        assert left.clocks.watermark == right.clocks.watermark, "states of different times do not go together"
        waiting = {**left.waiting, **right.waiting}
        for name in left.waiting.keys() & right.waiting.keys():
            waiting[name] = concatenated([left.waiting[name], right.waiting[name]])
        states = {
            name: one.merge(left.evaluators[name], right.evaluators[name]) for name, one in self.evaluators.items()
        }
        return replace(left, waiting=waiting, evaluators=states)

    def copied(self, state: BufferedState) -> BufferedState:
        """A copy of the state, which later steps do not change."""
        copies = {name: one.copied(state.evaluators[name]) for name, one in self.evaluators.items()}
        return replace(state, evaluators=copies)

    def reconfigured(self, state: BufferedState) -> BufferedState:
        """The state with the current windows of the program."""
        return replace(state, clocks=replace(state.clocks, lateness=self.lateness))

    def n_kept(self, state: BufferedState) -> int:
        """The approximate number of rows, open matches and numbers in a state."""
        held = sum(one.n_kept(state.evaluators[name]) for name, one in self.evaluators.items())
        return held + sum(map(len, state.waiting.values())) + sum(map(len, state.best.values()))

    def to_bytes(self, state: BufferedState) -> bytes:
        states = (state.evaluators[name] for name in self.evaluators)
        return codec.to_bytes((replace(state, evaluators={}), *states))

    def from_bytes(self, data: bytes) -> BufferedState:
        kinds = (BufferedState, *(one.state_type for one in self.evaluators.values()))
        state, *states = codec.from_bytes(data, tuple[kinds])  # type: ignore[valid-type]
        return replace(state, evaluators=dict(zip(self.evaluators, states, strict=True)))
