"""A running program in one process: push rows, receive results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from inkling.evaluators.open_matches import OpenMatch
from inkling.evaluators.stage.rows.format import concatenated
from inkling.io.rejects import NO_REJECTS
from inkling.model.time import Clock
from inkling.model.watermarks import NEVER, Watermarks
from inkling.runtime.ahead import FutureGuard, now_us
from inkling.runtime.deferred import Deferred, DeferredRows
from inkling.runtime.late import NO_LATE_ROWS, reported
from inkling.runtime.operators.of_plan import Operators
from inkling.runtime.operators.protocol import Emitted
from inkling.runtime.revision.changelogs import Changelogs
from inkling.runtime.routing import CHANGELOGS, RoutedRows


@dataclass(frozen=True, slots=True)
class StreamState:
    """One state per operator, and the number of rows read and the newest time of each stream.

    A step may change it in place.
    """

    operators: tuple[Any, ...]
    n_read: Mapping[str, int]
    newest: Mapping[str, int] = field(default_factory=dict)  # by stream, the latest time of an accepted row


class StreamProgram:
    """Steps all operators of a program in order."""

    def __init__(self, operators: Operators, clock: Clock, guards: Mapping[str, FutureGuard] | None = None) -> None:
        """`guards` by stream, where rows in the far future are rejects."""
        self._operators, self._clock, self._chain = operators, clock, operators.chain()
        self._guards = guards or {}

    def start(self) -> StreamState:
        return self.at({})

    def at(self, n_read: Mapping[str, int], changelogs: Changelogs | None = None) -> StreamState:
        """The start, after so many rows were read; `changelogs` hold withdrawals that arrived before."""
        states = self._chain.start()
        if changelogs is not None:
            states[0].by_stream = changelogs.by_stream
        return StreamState(states, n_read)

    def changelogs(self, state: StreamState) -> Changelogs | None:
        """The changelogs of streams with revision."""
        has_changelogs = CHANGELOGS in self._operators.addresses
        return state.operators[0] if has_changelogs else None

    def step(
        self, state: StreamState, raw: Mapping[str, pa.Table], watermarks: Watermarks | None = None
    ) -> tuple[StreamState, Emitted]:
        """Ingest raw rows of some streams, and `watermarks` that other sources report."""
        n_read, newest = dict(state.n_read), dict(state.newest)
        received, rejects, now = [watermarks or Watermarks()], [NO_REJECTS], now_us()
        parts: list[RoutedRows] = []
        for name, rows in raw.items():
            first = n_read.get(name, 0) + 1
            n_read[name] = first + len(rows) - 1
            guard = self._guards.get(name)
            credible = None if guard is None else partial(guard.limit, newest=newest.get(name), now_us=now)
            ingested = self._operators.ingest(name, rows, np.arange(first, first + len(rows)), credible)
            if ingested.newest is not None:
                newest[name] = max(ingested.newest, newest.get(name, ingested.newest))
            parts += ingested.parts
            received.append(ingested.watermarks)
            rejects.append(ingested.rejects)
        states, emitted = self._chain.step(state.operators, parts, Watermarks.merged(received))
        late, rejected = reported(emitted.late, self._clock), concatenated([*rejects, emitted.rejects])
        return StreamState(states, n_read, newest), Emitted(late, rejected, emitted.matches, emitted.tables)

    def deferring(self) -> DeferredRows:
        """Where rows that are pushed one by one may wait."""
        stages = self._operators.stages
        streams = self._operators.plan.program.streams if stages is not None else ()
        return DeferredRows(stages or (), streams, self._clock, self._guards)

    def with_deferred(self, state: StreamState, deferred: Deferred) -> tuple[StreamState, Emitted]:
        """Ingest rows that were checked when they arrived."""
        parts = [part for name, rows in deferred.rows.items() for part in self._operators.admitted(name, rows)]
        states, emitted = self._chain.step(state.operators, parts, Watermarks(deferred.latest))
        emitted = replace(emitted, late=reported(emitted.late, self._clock))
        return StreamState(states, deferred.n_read, deferred.newest), emitted

    def watermark(self, state: StreamState) -> int:
        """The time up to which all results were emitted."""
        watermarks = [one.watermark(held) for one, held in self._pairs(state) if one.address != CHANGELOGS]
        return min(watermarks, default=NEVER)

    def open_matches(self, state: StreamState, event: str) -> list[OpenMatch]:
        address = self._operators.address_of(event)
        return next(one.open_matches(held, event) for one, held in self._pairs(state) if one.address == address)

    def to_bytes(self, state: StreamState) -> list[bytes]:
        """One part per operator."""
        return [operator.to_bytes(held) for operator, held in self._pairs(state)]

    def from_bytes(
        self, parts: Sequence[bytes], n_read: Mapping[str, int], newest: Mapping[str, int] | None = None
    ) -> StreamState:
        pairs = zip(self._chain.operators, parts, strict=True)
        return StreamState(tuple(operator.from_bytes(part) for operator, part in pairs), n_read, newest or {})

    def reconfigured(self, state: StreamState) -> StreamState:
        """The state with the current windows of the program."""
        return replace(state, operators=tuple(one.reconfigured(held) for one, held in self._pairs(state)))

    def migrated(self, state: StreamState, before: StreamProgram) -> StreamState:
        """The migrated state of a program with the same stages."""
        old = before._chain.operators
        pairs = zip(self._pairs(state), old, strict=True)
        return replace(state, operators=tuple(new.migrated(held, was) for (new, held), was in pairs))

    def _pairs(self, state: StreamState) -> list[tuple[Any, Any]]:
        return list(zip(self._chain.operators, state.operators, strict=True))


def nothing(clock: Clock) -> Emitted:
    """What is emitted by a step that decides nothing."""
    return Emitted(reported(NO_LATE_ROWS, clock), NO_REJECTS)
