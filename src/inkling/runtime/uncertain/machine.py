"""The events over uncertain streams as something that can go back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.evaluators.hashes import hashes_of
from inkling.evaluators.open_matches import OpenMatch
from inkling.evaluators.protocol import SPARE
from inkling.evaluators.stage import rows as r
from inkling.evaluators.stage.chosen import rows_where
from inkling.evaluators.stage.owners import is_among, owners_by
from inkling.logical.expr import KeyColumn
from inkling.logical.plan import EventPlan
from inkling.model.batch import FOREVER
from inkling.model.schema import StreamSchema
from inkling.model.types import Type
from inkling.model.uncertainty import LostEvents
from inkling.model.watermarks import Marks
from inkling.physical.streams import time_of
from inkling.results import WITHDRAWN, as_withdrawn
from inkling.runtime.revision.contents import content_hashes
from inkling.runtime.revision.held import own_columns
from inkling.runtime.revision.machine import LATE, OWNER, Found, Owners, Rows, Times
from inkling.runtime.revision.rounding import Rounding
from inkling.runtime.uncertain.checks import marks_of
from inkling.runtime.uncertain.program import UncertainProgram, UncertainState

ESTIMATED = Rounding(("probability", "error", "chance", "expected"), SPARE)
"""Sums of probabilities depend on how rows are cut, a little."""


@dataclass(frozen=True)
class UncertainMachine:
    """Takes in rows when their time has come; nobody inside waits for any longer."""

    live: UncertainProgram

    rounding = ESTIMATED
    is_read_by_others = False

    @property
    def streams(self) -> Mapping[str, StreamSchema]:
        return self.live.streams

    def start(self) -> UncertainState:
        state = self.live.start()
        return replace(state, clocks=replace(state.clocks, lateness=dict.fromkeys(state.clocks.lateness, 0)))

    def advance(self, state: UncertainState, rows: Rows, until: int) -> tuple[UncertainState, Found]:
        given = {name: some.combine_chunks() for name, some in rows.items() if len(some)}
        roles = marks_of(self.live.streams, given, self.live.scale).roles
        if until >= FOREVER:
            news = Marks(finished=True, roles=roles)
        else:
            news = Marks(dict.fromkeys(self.live.streams, until + 1), roles=roles)
        state, told = self.live.advance(state, given, news)
        found = {name: table for name, table in told.tables.items() if len(table)}
        if len(told.late):
            found[LATE] = told.late
        return state, Found({name: self._owned(name, table) for name, table in found.items()}, told.rejects)

    def times(self, name: str, rows: pa.Table) -> Times:
        return np.asarray(rows[time_of(self.live.streams[name])].to_numpy(), np.int64)

    def identities(self, name: str, rows: pa.Table) -> tuple[Owners, NDArray[np.bool_]]:
        """Where rows can be withdrawn, all that share an id are; else one row takes the place of another."""
        if self.live.streams[name].op is not None:
            return hashes_of(rows[r.ID].combine_chunks()), np.ones(len(rows), bool)
        return content_hashes(rows, own_columns(rows)), np.zeros(len(rows), bool)

    @property
    def is_divisible(self) -> bool:
        return bool(self._key)

    def owners(self, name: str, rows: pa.Table) -> Owners:
        return owners_by(rows, self._key) if self._key else np.zeros(len(rows), np.uint64)

    def copied(self, state: UncertainState) -> UncertainState:
        copies = {name: one.copied(state.evaluators[name]) for name, one in self.live.evaluators.items()}
        return replace(state, evaluators=copies)

    def only(self, state: UncertainState, owners: Owners) -> UncertainState:
        return self._half(state, owners, is_theirs=True)

    def without(self, state: UncertainState, owners: Owners) -> UncertainState:
        return self._half(state, owners, is_theirs=False)

    def joined(self, one: UncertainState, other: UncertainState) -> UncertainState:
        assert one.clocks.watermark == other.clocks.watermark, "states of different times do not go together"
        waiting = {**one.waiting, **other.waiting}
        for name in one.waiting.keys() & other.waiting.keys():
            waiting[name] = pa.concat_tables([one.waiting[name], other.waiting[name]])
        merged = {
            name: evaluator.merge(one.evaluators[name], other.evaluators[name])
            for name, evaluator in self.live.evaluators.items()
        }
        return replace(one, waiting=waiting, evaluators=merged)

    def watermark(self, state: UncertainState) -> int:
        return self.live.watermark(state)

    def n_kept(self, state: UncertainState) -> int:
        return self.live.n_kept(state)

    def shown(self, name: str, rows: pa.Table, op: str) -> pa.Table:
        public = rows.drop_columns([OWNER])
        return as_withdrawn(public) if op == WITHDRAWN else public

    def open_matches(
        self, state: UncertainState, waiting: Rows, latest: Mapping[str, int], event: str
    ) -> list[OpenMatch]:
        return self.live.open_matches(self.live.with_waiting(state, waiting, latest), event)

    def to_bytes(self, state: UncertainState) -> bytes:
        return self.live.to_bytes(state)

    def from_bytes(self, data: bytes) -> UncertainState:
        return self.live.from_bytes(data)

    @cached_property
    def _key(self) -> tuple[str, ...]:
        """The columns by which states are split; none where an evaluator has none, or a result does not show its key.

        Late rows of streams with lost events are found like results, but do not show their keys.
        """
        keys = {one.key if one.is_divisible else () for one in self.live.evaluators.values()}
        if len(keys) != 1:
            return ()
        (key,) = keys
        schemas = self.live.streams.values()
        if any(isinstance(one.doubt, LostEvents) or not set(key) <= set(one.key) for one in schemas):
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

    def _half(self, state: UncertainState, owners: Owners, *, is_theirs: bool) -> UncertainState:
        """The state of these keys, or of all others."""
        waiting = {
            name: rows_where(rows, is_among(self.owners(name, rows), owners) == is_theirs)
            for name, rows in state.waiting.items()
        }
        number = 0 if is_theirs else 1
        halves = {name: one.split(state.evaluators[name], owners)[number] for name, one in self.live.evaluators.items()}
        return replace(state, waiting=waiting, evaluators=halves)


def _shown_key(event: EventPlan, key: tuple[str, ...]) -> tuple[str, ...] | None:
    """The columns of results that show the key; None where they do not, or show it as times of the calendar."""
    shown = {
        output.expr.column: output.name
        for output in (*event.head, *event.returns)
        if isinstance(output.expr, KeyColumn) and output.type is not Type.TIME
    }
    return tuple(shown[column] for column in key) if set(key) <= shown.keys() else None
