"""Replay of events over uncertain streams: their evaluators as a `ReplayMachine`."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.evaluators.open_matches import OpenMatch
from inkling.evaluators.protocol import SPARE
from inkling.evaluators.stage.rows import format as r
from inkling.evaluators.stage.rows.keys import owners_by
from inkling.logical.expr import KeyColumn
from inkling.logical.plan import EventPlan
from inkling.model.batch import FOREVER
from inkling.model.hashes import hashes_of
from inkling.model.schema import StreamSchema
from inkling.model.types import Type
from inkling.model.uncertainty import LostEvents
from inkling.model.watermarks import Watermarks
from inkling.physical.streams import time_of
from inkling.results import WITHDRAWN, as_withdrawn
from inkling.runtime.buffered import BufferedState
from inkling.runtime.revision.contents import content_hashes
from inkling.runtime.revision.delta import own_columns
from inkling.runtime.revision.machine import LATE, OWNER, Owners, Rounding, Rows, StepResults, Times
from inkling.runtime.uncertain import UncertainProgram, watermarks_of

ESTIMATED = Rounding(("probability", "error", "chance", "expected"), SPARE)
"""Sums of probabilities differ slightly with the size of steps."""


@dataclass(frozen=True)
class UncertainMachine:
    """Ingests rows once they are complete; evaluators inside buffer no rows."""

    live: UncertainProgram

    rounding = ESTIMATED
    is_read_by_others = False

    @property
    def streams(self) -> Mapping[str, StreamSchema]:
        return self.live.streams

    def start(self) -> BufferedState:
        state = self.live.start()
        return replace(state, clocks=replace(state.clocks, lateness=dict.fromkeys(state.clocks.lateness, 0)))

    def advance(self, state: BufferedState, rows: Rows, until: int) -> tuple[BufferedState, StepResults]:
        given = {name: some.combine_chunks() for name, some in rows.items() if len(some)}
        roles = watermarks_of(self.live.streams, given, self.live.scale).roles
        if until >= FOREVER:
            watermarks = Watermarks(finished=True, roles=roles)
        else:
            watermarks = Watermarks(dict.fromkeys(self.live.streams, until + 1), roles=roles)
        state, outcome = self.live.advance(state, given, watermarks)
        found = {name: table for name, table in outcome.tables.items() if len(table)}
        if len(outcome.late):
            found[LATE] = outcome.late
        return state, StepResults({name: self._owned(name, table) for name, table in found.items()}, outcome.rejects)

    def times(self, name: str, rows: pa.Table) -> Times:
        return np.asarray(rows[time_of(self.live.streams[name])].to_numpy(), np.int64)

    def identities(self, name: str, rows: pa.Table) -> tuple[Owners, NDArray[np.bool_]]:
        """With OP, a withdrawal withdraws all rows of an id; without, one row replaces another."""
        if self.live.streams[name].op is not None:
            return hashes_of(rows[r.ID].combine_chunks()), np.ones(len(rows), bool)
        return content_hashes(rows, own_columns(rows)), np.zeros(len(rows), bool)

    @property
    def is_divisible(self) -> bool:
        return bool(self._key)

    def owners(self, name: str, rows: pa.Table) -> Owners:
        return owners_by(rows, self._key) if self._key else np.zeros(len(rows), np.uint64)

    def watermark(self, state: BufferedState) -> int:
        return self.live.watermark(state)

    def shown(self, name: str, rows: pa.Table, op: str) -> pa.Table:
        public = rows.drop_columns([OWNER])
        return as_withdrawn(public) if op == WITHDRAWN else public

    def open_matches(
        self, state: BufferedState, waiting: Rows, latest: Mapping[str, int], event: str
    ) -> list[OpenMatch]:
        return self.live.open_matches(self.live.with_waiting(state, waiting, latest), event)

    @cached_property
    def _key(self) -> tuple[str, ...]:
        """The columns by which states are split; none where an evaluator has none, or a result does not show its key.

        Late rows of streams with lost events are found like results, but do not show their keys.
        """
        key, schemas = self.live.key, self.live.streams.values()
        if any(isinstance(one.uncertainty, LostEvents) or not set(key) <= set(one.key) for one in schemas):
            return ()
        shown = (_shown_key(event, key) for one in self.live.evaluators.values() for event in one.events)
        return () if any(one is None for one in shown) else key

    @cached_property
    def _shown_keys(self) -> Mapping[str, tuple[str, ...]]:
        """By event, the columns of results with their key."""
        events = (event for one in self.live.evaluators.values() for event in one.events)
        found = {event.name: _shown_key(event, self._key) for event in events}
        return {name: columns for name, columns in found.items() if columns}

    def _owned(self, name: str, table: pa.Table) -> pa.Table:
        """Results with the hash of their key."""
        columns = self._shown_keys.get(name)
        owners = np.zeros(len(table), np.uint64) if columns is None else owners_by(table, columns)
        return table.append_column(OWNER, pa.array(owners))


def _shown_key(event: EventPlan, key: tuple[str, ...]) -> tuple[str, ...] | None:
    """The columns of results that show the key; None where they do not, or show it as times of the calendar."""
    shown = {
        output.expr.column: output.name
        for output in (*event.head, *event.returns)
        if isinstance(output.expr, KeyColumn) and output.type is not Type.TIME
    }
    return tuple(shown[column] for column in key) if set(key) <= shown.keys() else None
