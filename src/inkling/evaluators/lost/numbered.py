"""A stream with lost events: recorded rows, and rows for what numbers show to be missing, with the borders of gaps.

All that reads such a stream gets it from here: worlds, which draw times for lost events, and relations between
segments, which need none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from inkling.evaluators.hashes import Hashes, key_hashes
from inkling.io.normalize import END, START
from inkling.model.batch import Ints
from inkling.model.lost_worlds import COUNTERPARTS
from inkling.model.schema import StreamSchema
from inkling.model.uncertainty import LostEvents

EVEN, ODD = "@even", "@odd"
"""Columns with the roles of events with even and with odd numbers in the whole stream."""

_UNSAID = np.iinfo(np.int64).min


@dataclass(frozen=True, slots=True)
class NumberedRows:
    """Recorded rows, then a row for every lost event; lost rows `gaps[g]:gaps[g + 1]` lie in (low[g], high[g])."""

    rows: pa.Table
    n_recorded: int
    gaps: Ints
    low: Ints
    high: Ints

    @classmethod
    def of(cls, schema: StreamSchema, rows: pa.Table, decided: int | None = None) -> NumberedRows:
        """Without what came before: rows up to time `decided` stand for it, and only gaps after them count."""
        doubt = schema.doubt
        assert isinstance(doubt, LostEvents)
        key = key_hashes(schema, rows)
        order = np.lexsort((rows[doubt.number].to_numpy(), key))
        rows, key = rows.take(pa.array(order)).combine_chunks(), key[order]
        gaps = _gaps(rows, key, doubt, decided)
        lost = _lost_rows(rows, gaps, schema, doubt)
        every = pa.concat_tables([rows, lost]).combine_chunks()
        offsets = len(rows) + np.concatenate([[0], np.cumsum(gaps.n_lost)])
        return cls(every, len(rows), offsets, gaps.low, gaps.high)


@dataclass(frozen=True, slots=True)
class _Gaps:
    """Stretches of missing numbers: a row of the same key, the number before, how many, and the borders."""

    row: Ints
    before: Ints
    n_lost: Ints
    low: Ints
    high: Ints


def _gaps(rows: pa.Table, key: Hashes, doubt: LostEvents, decided: int | None) -> _Gaps:
    n = len(rows)
    number, time = rows[doubt.number].to_numpy().astype(np.int64), rows[START].to_numpy()
    first = np.flatnonzero(np.diff(key, prepend=key[:1] + np.uint64(1)) != 0) if n else np.empty(0, np.int64)
    last = np.append(first[1:], n) - 1 if n else first
    inner = np.flatnonzero((np.diff(key) == 0) & (np.diff(number) > 1)) if n else first
    has_head = (number[first] > 1) & (decided is None or time[first] > decided)
    total = _said(rows, doubt.count, first)
    has_tail = total > number[last]
    heads, tails = first[has_head], last[has_tail]
    low, high = (_said(rows, name, first) for name in doubt.bounds or (None, None))
    found = _Gaps(
        np.concatenate([heads, inner, tails]),
        np.concatenate([np.zeros(len(heads), np.int64), number[inner], number[tails]]),
        np.concatenate(
            [number[heads] - 1, number[inner + 1] - number[inner] - 1, total[has_tail] - number[tails]]
        ).astype(np.int64),
        np.concatenate([low[has_head], time[inner], time[tails]]),
        np.concatenate([time[heads], time[inner + 1], high[has_tail]]),
    )
    order = np.lexsort((found.before, found.row))
    return _Gaps(found.row[order], found.before[order], found.n_lost[order], found.low[order], found.high[order])


def _said(rows: pa.Table, name: str | None, first: Ints) -> Ints:
    """What a column says about each key, in whichever of its rows; the rows of key i begin at first[i]."""
    if name is None or not len(first):
        return np.full(len(first), _UNSAID)
    return np.asarray(np.maximum.reduceat(rows[name].fill_null(_UNSAID).to_numpy(), first), np.int64)


def _lost_rows(rows: pa.Table, gaps: _Gaps, schema: StreamSchema, doubt: LostEvents) -> pa.Table:
    """What is known of lost events: key, number and role."""
    like = np.repeat(gaps.row, gaps.n_lost)
    place = np.arange(len(like)) - np.repeat(np.cumsum(gaps.n_lost) - gaps.n_lost, gaps.n_lost)
    number = np.repeat(gaps.before, gaps.n_lost) + 1 + place
    roles = _completed(*roles_of(rows, doubt))
    columns = {}
    for field in rows.schema:
        if field.name in schema.key:
            columns[field.name] = rows[field.name].take(pa.array(like))
        elif field.name == doubt.number:
            columns[field.name] = pa.array(number).cast(field.type)
        elif field.name in (START, END):
            columns[field.name] = pa.array(np.repeat(gaps.low, gaps.n_lost))
        elif field.name == doubt.role:
            columns[field.name] = pa.array([roles[odd] for odd in (number % 2).tolist()], field.type)
        else:
            columns[field.name] = pa.nulls(len(like), field.type)
    return pa.table(columns, schema=rows.schema)


def _completed(even: object, odd: object) -> tuple[object, object]:
    """Roles of which one was never recorded have a usual counterpart."""
    return even or COUNTERPARTS.get(str(odd)), odd or COUNTERPARTS.get(str(even))


def roles_of(rows: pa.Table, doubt: LostEvents) -> tuple[object, object]:
    """The roles of events with even and with odd numbers; columns may say so where rows are only a part of a stream."""
    if doubt.role is None or not len(rows):
        return None, None
    if EVEN in rows.column_names:
        return rows[EVEN][0].as_py(), rows[ODD][0].as_py()
    odd = rows[doubt.number].to_numpy() % 2 == 1
    said = (rows[doubt.role].filter(pa.array(odd == bool(parity))).drop_null() for parity in (0, 1))
    even_role, odd_role = (min(one.unique().to_pylist(), default=None) for one in said)
    return even_role, odd_role
