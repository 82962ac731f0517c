"""Rows of numbered keys in order: by the time of each, so many events of its key had happened."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from inkling.evaluators.hashes import Hashes, key_hashes
from inkling.io.checks.marks import has_role, marks_in
from inkling.io.normalize import START
from inkling.model.batch import FOREVER, Ints
from inkling.model.roles import END
from inkling.model.schema import StreamSchema
from inkling.model.uncertainty import LostEvents

Mask = NDArray[np.bool_]

UNSAID = np.iinfo(np.int64).min


@dataclass(frozen=True, slots=True)
class Posts:
    """Recorded events and marks by key and number, a mark after the event of its number.

    Rows of key k are those from place `first[k]` to `last[k]`; `order` turns places into rows of the table. What rows
    say about their key is UNSAID where none does.
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

    @classmethod
    def of(cls, schema: StreamSchema, rows: pa.Table) -> Posts:
        doubt = schema.doubt
        assert isinstance(doubt, LostEvents)
        key, is_mark = key_hashes(schema, rows), marks_in(rows, doubt)
        number, time = rows[doubt.number].to_numpy().astype(np.int64), rows[START].to_numpy()
        order = np.lexsort((time, is_mark, number, key)).astype(np.int64)
        first = _firsts(key[order])
        count, since, until = (
            _said(rows, name, order, first) for name in (doubt.count, *(doubt.bounds or (None, None)))
        )
        ends = has_role(rows, doubt, END)[order]
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
            _any(_has_rate(rows, doubt)[order], first),
        )

    @property
    def doubt(self) -> LostEvents:
        assert isinstance(self.schema.doubt, LostEvents)
        return self.schema.doubt

    @property
    def before(self) -> Ints:
        """How many events each key lost before its first row."""
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
        """How many events each key has: a timeout closes a segment that is open."""
        last = self.number[self.last]
        if self.doubt.timeout is not None:
            last = last + np.where(self.ended, 0, last % 2)
        return np.where(self.count == UNSAID, last, self.count)

    @property
    def is_counted(self) -> Mask:
        """Whether it is known which event is the last of each key."""
        return (self.count != UNSAID) | self.ended | (self.doubt.timeout is not None)

    @property
    def is_without_limit(self) -> Mask:
        """Which keys lost events after their last row, though nothing says until when."""
        return (self.total > self.number[self.last]) & (self.limit >= FOREVER) & ~np.asarray(self.has_rate)

    @property
    def limit(self) -> Ints:
        """Up to when events of each key can have happened."""
        until = np.where(self.until == UNSAID, FOREVER, self.until)
        if self.doubt.timeout is None:
            return until
        return np.minimum(until, self.time[self.last] + self.schema.units(self.doubt.timeout))

    def closed_by(self, time: int) -> Mask:
        """Of which keys nothing can follow after a time up to which all rows are known."""
        is_counted = self.count != UNSAID
        is_full = self.ended | (is_counted & (self.number[self.last] >= self.count))
        limit = self.limit if self.doubt.timeout is not None else np.where(is_counted, self.limit, FOREVER)
        return np.asarray(is_full | (limit <= time), bool)


def is_needed(schema: StreamSchema, doubt: LostEvents, rows: pa.Table, time: int, *, forgetting: bool) -> Mask:
    """Which rows must be remembered after a time: the last ones of keys, and all that say more about their key.

    Keys of which nothing can follow are forgotten or not; where they are not, what comes later is refused.
    """
    posts = Posts.of(schema, rows)
    past = posts.time <= time
    needed = ~past | ~np.append(past[1:], False)[: len(past)]
    needed[posts.last] = True
    for name in (doubt.count, *(doubt.bounds or ()), doubt.rate):
        if isinstance(name, str):
            needed |= _last_with(posts, np.asarray(pc.is_valid(rows[name]).to_numpy(), bool)[posts.order])
    if forgetting:
        done = posts.closed_by(time) & past[posts.last]
        needed &= ~np.repeat(done, posts.last - posts.first + 1)
    found = np.zeros(len(rows), bool)
    found[posts.order] = needed
    return found


def _last_with(posts: Posts, said: Mask) -> Mask:
    """The last row of each key that says something."""
    owner = np.repeat(np.arange(len(posts.first)), posts.last - posts.first + 1)
    place = np.full(len(posts.first), -1)
    np.maximum.at(place, owner[said], np.flatnonzero(said))
    found = np.zeros(len(said), bool)
    found[place[place >= 0]] = True
    return found


def _firsts(key: Hashes) -> Ints:
    """Where the keys of sorted rows begin."""
    return np.flatnonzero(np.append(True, key[1:] != key[:-1])[: len(key)])


def _any(said: Mask, first: Ints) -> Mask:
    """Whether some row of each key says so."""
    return np.asarray(np.logical_or.reduceat(said, first), bool) if len(first) else np.empty(0, bool)


def _has_rate(rows: pa.Table, doubt: LostEvents) -> Mask:
    if not isinstance(doubt.rate, str):
        return np.full(len(rows), doubt.rate is not None)
    return np.asarray(pc.is_valid(rows[doubt.rate]).to_numpy(), bool)


def _said(rows: pa.Table, name: str | None, order: Ints, first: Ints) -> Ints:
    """What a column says about each key, in whichever of its rows."""
    if name is None or not len(first):
        return np.full(len(first), UNSAID)
    values = pc.fill_null(rows[name].cast(pa.int64()), UNSAID).to_numpy()
    return np.asarray(np.maximum.reduceat(values[order], first), np.int64)
