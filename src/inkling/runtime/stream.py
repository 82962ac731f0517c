"""A program that never ends, in one process: push rows, receive what they prove."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from inkling.evaluators.open_matches import OpenMatch
from inkling.io.rejects import NO_REJECTS
from inkling.model.batch import MatchBatch
from inkling.model.time import Clock
from inkling.model.watermarks import NEVER, Marks
from inkling.runtime.late import reported
from inkling.runtime.operators.of_plan import Operators
from inkling.runtime.operators.protocol import LEDGERS
from inkling.runtime.parts import Part, concatenated
from inkling.runtime.revision.books import Books


@dataclass(frozen=True, slots=True)
class Outcome:
    """What some rows led to: results per event, rows that came too late, and rows that were refused."""

    matches: Mapping[str, MatchBatch]  # of certain events, as they are found
    tables: Mapping[str, pa.Table]  # other results, in the public columns; events without results may be missing
    late: pa.Table
    rejects: pa.Table


@dataclass(frozen=True, slots=True)
class StreamState:
    """One state per operator, and how many rows of each stream have come. A step may use it up."""

    operators: tuple[Any, ...]
    n_read: Mapping[str, int]


class StreamProgram:
    """Drives all operators of a program in order, whatever its streams are like."""

    def __init__(self, operators: Operators, clock: Clock) -> None:
        self._operators, self._clock, self._chain = operators, clock, operators.chain()

    def start(self) -> StreamState:
        return self.at({})

    def at(self, n_read: Mapping[str, int], ledgers: Books | None = None) -> StreamState:
        """Nothing is known yet, but so many rows were read, and `ledgers` hold what was withdrawn."""
        states = self._chain.start()
        if ledgers is not None:
            states[0].ledgers = ledgers.ledgers
        return StreamState(states, n_read)

    def ledgers(self, state: StreamState) -> Books | None:
        """What stands of streams whose past may change."""
        has_ledgers = LEDGERS in self._operators.addresses
        return state.operators[0] if has_ledgers else None

    def step(
        self, state: StreamState, raw: Mapping[str, pa.Table], said: Marks | None = None
    ) -> tuple[StreamState, Outcome]:
        """Take in raw rows of some streams, and what was `said` about time."""
        n_read, marks, rejects = dict(state.n_read), [said or Marks()], [NO_REJECTS]
        parts: list[Part] = []
        for name, rows in raw.items():
            first = n_read.get(name, 0) + 1
            n_read[name] = first + len(rows) - 1
            ingested = self._operators.ingest(name, rows, np.arange(first, first + len(rows)))
            parts += ingested.parts
            marks.append(ingested.marks)
            rejects.append(ingested.rejects)
        states, emitted = self._chain.step(state.operators, parts, Marks.together(marks))
        late, refused = reported(emitted.late, self._clock), concatenated([*rejects, emitted.rejects])
        return StreamState(states, n_read), Outcome(emitted.matches, emitted.tables, late, refused)

    def watermark(self, state: StreamState) -> int:
        """The time up to which everything that is known was emitted."""
        marks = [one.watermark(held) for one, held in self._pairs(state) if one.address != LEDGERS]
        return min(marks, default=NEVER)

    def open_matches(self, state: StreamState, event: str) -> list[OpenMatch]:
        """What has begun of an event, and may still be completed."""
        address = self._operators.address_of(event)
        return next(one.open_matches(held, event) for one, held in self._pairs(state) if one.address == address)

    def to_bytes(self, state: StreamState) -> list[bytes]:
        """One part per operator."""
        return [operator.to_bytes(held) for operator, held in self._pairs(state)]

    def from_bytes(self, parts: Sequence[bytes], n_read: Mapping[str, int]) -> StreamState:
        pairs = zip(self._chain.operators, parts, strict=True)
        return StreamState(tuple(operator.from_bytes(part) for operator, part in pairs), n_read)

    def reconfigured(self, state: StreamState) -> StreamState:
        """A state that continues with the windows of the program as it is compiled now."""
        return replace(state, operators=tuple(one.reconfigured(held) for one, held in self._pairs(state)))

    def migrated(self, state: StreamState, before: StreamProgram) -> StreamState:
        """A state that a program has left which was planned in the same stages."""
        old = before._chain.operators
        pairs = zip(self._pairs(state), old, strict=True)
        return replace(state, operators=tuple(new.migrated(held, was) for (new, held), was in pairs))

    def _pairs(self, state: StreamState) -> list[tuple[Any, Any]]:
        return list(zip(self._chain.operators, state.operators, strict=True))
