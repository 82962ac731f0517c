"""The sequence log of each key: its rows by sequence number, and the gaps between them (SimpMatch, section 2.3).

numbers 1, 2, 5 of a key with COUNT 6    →  two events lost between 2 and 5, one after 5
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.evaluators.hashes import key_hashes
from inkling.io.checks.marks import has_role, marks_in
from inkling.io.normalize import START
from inkling.kernels.columns.numbered_rows import NOT_GIVEN as NOT_GIVEN
from inkling.model.batch import FOREVER, Ints, Mask
from inkling.model.hashes import Hashes
from inkling.model.roles import END
from inkling.model.runs import changes
from inkling.model.schema import StreamSchema
from inkling.model.uncertainty import LostEvents

BEGUN = "@begun"
"""A column with the time at which the stream began, for events that were added to a running program."""


@dataclass(frozen=True, slots=True)
class SequenceLog:
    """Recorded events and marks (rows without an event) by key and number, a mark after the event of its number.

    Rows of key k are at the places `first[k]` to `last[k]`; `order` has the row of each place. Count and bounds of a
    key are NOT_GIVEN where no row has them.
    """

    schema: StreamSchema
    order: Ints
    number: Ints
    time: Ints
    is_event: Mask
    first: Ints
    last: Ints
    count: Ints  # of each key
    since: Ints
    until: Ints
    ended: Mask
    has_rate: Mask
    begun: int = NOT_GIVEN  # when the stream began, for events that were added to a running program

    @classmethod
    def of(cls, schema: StreamSchema, rows: pa.Table) -> SequenceLog:
        uncertainty = schema.uncertainty
        assert isinstance(uncertainty, LostEvents)
        key, is_mark = key_hashes(schema, rows), marks_in(rows, uncertainty)
        number, time = rows[uncertainty.number].to_numpy().astype(np.int64), rows[START].to_numpy()
        order = np.lexsort((time, is_mark, number, key)).astype(np.int64)
        first = _firsts(key[order])
        count, since, until = (
            _known(rows, name, order, first) for name in (uncertainty.count, *(uncertainty.bounds or (None, None)))
        )
        ends = has_role(rows, uncertainty, END)[order]
        return cls(
            schema,
            order,
            number[order],
            time[order],
            ~is_mark[order],
            first,
            np.append(first[1:], len(order)) - 1 if len(first) else first,
            count,
            since,
            until,
            _any(ends, first),
            _any(_has_rate(rows, uncertainty)[order], first),
            int(rows[BEGUN][0].as_py()) if BEGUN in rows.column_names and len(rows) else NOT_GIVEN,
        )

    @property
    def uncertainty(self) -> LostEvents:
        assert isinstance(self.schema.uncertainty, LostEvents)
        return self.schema.uncertainty

    @property
    def before(self) -> Ints:
        """How many events that count each key lost before its first row."""
        return self._before - self.uncounted

    @property
    def uncounted(self) -> Ints:
        """How many events before the first row of each key do not count: they may be older than the stream."""
        return np.where(self.since < self.begun, self._before, 0)

    @property
    def _before(self) -> Ints:
        return self.number[self.first] - self.is_event[self.first]

    @property
    def between(self) -> Ints:
        """How many events were lost between each row and the next one of its key; 0 after the last."""
        lost = np.zeros(len(self.number), np.int64)
        lost[:-1] = np.diff(self.number) - self.is_event[1:]
        lost[self.last] = 0
        return lost

    @property
    def total(self) -> Ints:
        """How many events each key has; a timeout closes an open segment with one more event."""
        last = self.number[self.last]
        if self.uncertainty.timeout is not None:
            last = last + np.where(self.ended, 0, last % 2)
        return np.where(self.count == NOT_GIVEN, last, self.count)

    @property
    def is_counted(self) -> Mask:
        """Whether the number of the last event of each key is known."""
        return (self.count != NOT_GIVEN) | self.ended | (self.uncertainty.timeout is not None)

    @property
    def is_without_limit(self) -> Mask:
        """Which keys lost events after their last row, with nothing to limit their time."""
        return (self.total > self.number[self.last]) & (self.limit >= FOREVER) & ~np.asarray(self.has_rate)

    @property
    def limit(self) -> Ints:
        """The latest time of events of each key; FOREVER where nothing limits it."""
        until = np.where(self.until == NOT_GIVEN, FOREVER, self.until)
        if self.uncertainty.timeout is None:
            return until
        return np.minimum(until, self.time[self.last] + self.schema.units(self.uncertainty.timeout))

    def closed_by(self, time: int) -> Mask:
        """Which keys are complete at a watermark: no event of them can follow."""
        is_counted = self.count != NOT_GIVEN
        is_full = self.ended | (is_counted & (self.number[self.last] >= self.count))
        limit = self.limit if self.uncertainty.timeout is not None else np.where(is_counted, self.limit, FOREVER)
        return np.asarray(is_full | (limit <= time), bool)


def is_needed(schema: StreamSchema, uncertainty: LostEvents, rows: pa.Table, time: int, *, forgetting: bool) -> Mask:
    """Which rows the state needs after a watermark: the last row of each key, and those with its count, bounds or rate.

    With `forgetting`, complete keys are dropped; otherwise later rows of them are rejected.
    """
    log = SequenceLog.of(schema, rows)
    past = log.time <= time
    needed = ~past | ~np.append(past[1:], False)[: len(past)]
    needed[log.last] = True
    for name in (uncertainty.count, *(uncertainty.bounds or ()), uncertainty.rate):
        if isinstance(name, str):
            needed |= _last_with(log, np.asarray(pc.is_valid(rows[name]).to_numpy(), bool)[log.order])
    if forgetting:
        done = log.closed_by(time) & past[log.last]
        needed &= ~np.repeat(done, log.last - log.first + 1)
    found = np.zeros(len(rows), bool)
    found[log.order] = needed
    return found


def _last_with(log: SequenceLog, is_known: Mask) -> Mask:
    """The last of the chosen rows of each key."""
    owner = np.repeat(np.arange(len(log.first)), log.last - log.first + 1)
    place = np.full(len(log.first), -1)
    np.maximum.at(place, owner[is_known], np.flatnonzero(is_known))
    found = np.zeros(len(is_known), bool)
    found[place[place >= 0]] = True
    return found


def _firsts(key: Hashes) -> Ints:
    """The first place of each key in sorted rows."""
    return np.flatnonzero(changes(key))


def _any(is_known: Mask, first: Ints) -> Mask:
    """Whether some row of each key is chosen."""
    return np.asarray(np.logical_or.reduceat(is_known, first), bool) if len(first) else np.empty(0, bool)


def _has_rate(rows: pa.Table, uncertainty: LostEvents) -> Mask:
    if not isinstance(uncertainty.rate, str):
        return np.full(len(rows), uncertainty.rate is not None)
    return np.asarray(pc.is_valid(rows[uncertainty.rate]).to_numpy(), bool)


def _known(rows: pa.Table, name: str | None, order: Ints, first: Ints) -> Ints:
    """The value of a column for each key, from any of its rows."""
    if name is None or not len(first):
        return np.full(len(first), NOT_GIVEN)
    values = pc.fill_null(rows[name].cast(pa.int64()), NOT_GIVEN).to_numpy()
    return np.asarray(np.maximum.reduceat(values[order], first), np.int64)
