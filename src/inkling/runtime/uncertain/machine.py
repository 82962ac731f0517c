"""All worlds of some streams as something that can go back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.evaluators.hashes import hashes_of
from inkling.evaluators.open_matches import OpenMatch
from inkling.evaluators.stage import rows as r
from inkling.live import parting
from inkling.live.clocks import Clocks, Marks
from inkling.live.revision.contents import content_hashes
from inkling.live.revision.held import own_columns
from inkling.live.revision.machine import LATE, OWNER, Found, Owners, Rows, Times
from inkling.live.revision.rounding import Rounding
from inkling.live.streams import time_of
from inkling.model.batch import FOREVER
from inkling.model.schema import StreamSchema
from inkling.probable.live import SPARE
from inkling.results import WITHDRAWN, as_withdrawn
from inkling.runtime.uncertain.program import LiveWorlds, WorldsState
from inkling.runtime.uncertain.snapshot import from_bytes, n_kept, to_bytes

ESTIMATED = Rounding(("probability", "error", "chance", "expected"), SPARE)
"""Sums of probabilities depend on how rows are cut, a little."""


@dataclass(frozen=True, slots=True)
class WorldsMachine:
    """Takes in rows when their time has come; nobody inside waits for any longer."""

    live: LiveWorlds

    rounding = ESTIMATED
    is_read_by_others = False

    @property
    def streams(self) -> Mapping[str, StreamSchema]:
        return self.live.streams

    def start(self) -> WorldsState:
        state = self.live.start()
        return replace(state, clocks=_waiting_for_nothing(state.clocks))

    def advance(self, state: WorldsState, rows: Rows, until: int) -> tuple[WorldsState, Found]:
        given = {name: some.combine_chunks() for name, some in rows.items() if len(some)}
        roles = self.live.marks(given).roles
        if until >= FOREVER:
            news = Marks(finished=True, roles=roles)
        else:
            news = Marks(dict.fromkeys(self.live.streams, until + 1), roles=roles)
        state, told = self.live.advance(state, given, news)
        found = {name: table for name, table in told.tables.items() if len(table)}
        if len(told.late):
            found[LATE] = told.late
        return state, Found({name: _of_nobody(table) for name, table in found.items()}, told.rejects)

    def times(self, name: str, rows: pa.Table) -> Times:
        return np.asarray(rows[time_of(self._schema(name))].to_numpy(), np.int64)

    def identities(self, name: str, rows: pa.Table) -> tuple[Owners, NDArray[np.bool_]]:
        """Where rows can be withdrawn, all that share an id are; else one row takes the place of another."""
        if self._schema(name).op is not None:
            return hashes_of(rows[r.ID].combine_chunks()), np.ones(len(rows), bool)
        return content_hashes(rows, own_columns(rows)), np.zeros(len(rows), bool)

    @property
    def is_divisible(self) -> bool:
        return False

    def owners(self, name: str, rows: pa.Table) -> Owners:
        return np.zeros(len(rows), np.uint64)

    def copied(self, state: WorldsState) -> WorldsState:
        """Stages use up what they remember; all else is never changed in place."""
        return replace(state, worlds=tuple(map(parting.copied, state.worlds)))

    def only(self, state: WorldsState, owners: Owners) -> WorldsState:
        raise AssertionError("keys are not kept apart")

    def without(self, state: WorldsState, owners: Owners) -> WorldsState:
        raise AssertionError("keys are not kept apart")

    def joined(self, one: WorldsState, other: WorldsState) -> WorldsState:
        raise AssertionError("keys are not kept apart")

    def watermark(self, state: WorldsState) -> int:
        return state.decided

    def n_kept(self, state: WorldsState) -> int:
        return n_kept(state, self.live.exact)

    def shown(self, name: str, rows: pa.Table, op: str) -> pa.Table:
        public = rows.drop_columns([OWNER])
        return as_withdrawn(public) if op == WITHDRAWN else public

    def open_matches(self, state: WorldsState, waiting: Rows, latest: Mapping[str, int], event: str) -> list[OpenMatch]:
        return self.live.open_matches(self.live.with_waiting(state, waiting, latest), event)

    def to_bytes(self, state: WorldsState) -> bytes:
        return to_bytes(state, self.live.exact)

    def from_bytes(self, data: bytes) -> WorldsState:
        return from_bytes(data, self.live.exact)

    def _schema(self, name: str) -> StreamSchema:
        return self.live.streams[name]


def _waiting_for_nothing(clocks: Clocks) -> Clocks:
    return replace(clocks, lateness=dict.fromkeys(clocks.lateness, 0))


def _of_nobody(table: pa.Table) -> pa.Table:
    return table.append_column(OWNER, pa.array(np.zeros(len(table), np.uint64)))
