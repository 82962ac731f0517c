"""From rows of a stream to points that open and close segments: recorded, lost, and borders between them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inkling.evaluators.gaps.rows import NumberedRows
from inkling.evaluators.relation.lists import CLOSES, NEITHER, OPENS, PointLists
from inkling.model.batch import FOREVER, Ints
from inkling.model.time import FARTHEST

Mask = NDArray[np.bool_]
Floats = NDArray[np.float64]

NO_ROW = -1
NO_KEYS = np.empty(0, np.int64)

LATER, LAST = np.int64(FARTHEST), np.int64(FARTHEST)
"""A time, and a place among the points of a key, after all others."""


@dataclass(frozen=True, slots=True)
class KeyPoints:
    """The lists of all keys, and which row each point is; `NO_ROW` for a border or a hidden point."""

    lists: PointLists
    row: Ints


@dataclass(frozen=True, slots=True)
class RowConditions:
    """What is known of each row and of each key besides its place."""

    key: Ints  # of each row, from 0
    n_keys: int
    chosen: Mask  # of each row: whether the segment that it opens is asked about
    closes: Mask  # of each row: whether it may close a segment that is
    label: Ints  # of each row; negative where it says nothing


def points_of_numbers(
    found: NumberedRows,
    number: Ints,
    time: Ints,
    asides: RowConditions,
    shape: int,
    head: Floats,
    tail: Floats,
    unfinished: Ints = NO_KEYS,
) -> KeyPoints:
    """Events with odd numbers open a segment, the next ones close it; lost ones lie in their gaps.

    `head` and `tail` are rates of each key. Between two events whose gaps are sums of `shape` exponential ones, hidden
    points are lost as well. Of keys that are `unfinished` something follows of which nothing is known.
    """
    n_rows = len(number)
    lost = np.arange(n_rows) >= found.n_recorded
    n_lost = np.diff(found.gaps)
    gap_key = asides.key[found.gaps[:-1]]
    first, last = number[found.gaps[:-1]], number[found.gaps[1:] - 1]
    low, high = found.low, found.high
    is_bounded = (low > -FOREVER) & (high < FOREVER)
    need_low, need_high = _need_borders(number, time, lost, asides.key, gap_key, first, last, low, high)
    hidden = shape - 1
    rows = np.arange(n_rows)
    gap_of_lost = np.repeat(np.arange(len(n_lost)), n_lost)
    after_each = np.where(is_bounded[gap_of_lost], hidden, 0)
    before_first = np.where(is_bounded, hidden, 0)
    none = np.full
    parts = [
        _PointColumns(asides.key, 4 * number, time, lost, rows),
        _PointColumns(gap_key[need_low], 4 * first[need_low] - 2, low[need_low], none(need_low.sum(), False)),
        _PointColumns(gap_key[need_high], 4 * last[need_high] + 2, high[need_high], none(need_high.sum(), False)),
        _repeated(gap_key, 4 * first - 1, before_first),
        _repeated(asides.key[lost], 4 * number[lost] + 1, after_each),
        _PointColumns(
            unfinished, np.full(len(unfinished), LAST), np.full(len(unfinished), LATER), np.zeros(len(unfinished), bool)
        ),
    ]
    key, place, when, is_lost, row = (
        np.concatenate(column) for column in zip(*(one.columns for one in parts), strict=True)
    )
    order = np.lexsort((when, place, key))  # two marks may stand between the same numbers
    key, when, is_lost, row = key[order], when[order], is_lost[order], row[order]
    return _with_segments(key, when, is_lost, row, number, asides, head, tail)


@dataclass(frozen=True, slots=True)
class _PointColumns:
    key: Ints
    place: Ints
    time: Ints
    lost: Mask
    row: Ints | None = None

    @property
    def columns(self) -> tuple[np.ndarray, ...]:
        row = np.full(len(self.key), NO_ROW) if self.row is None else self.row
        return self.key, self.place, self.time, self.lost, row


def _repeated(key: Ints, place: Ints, times: Ints) -> _PointColumns:
    """Hidden points, so many at each place."""
    key, place = np.repeat(key, times), np.repeat(place, times)
    return _PointColumns(key, place, np.zeros(len(key), np.int64), np.ones(len(key), bool))


def _need_borders(
    number: Ints, time: Ints, lost: Mask, key: Ints, gap_key: Ints, first: Ints, last: Ints, low: Ints, high: Ints
) -> tuple[Mask, Mask]:
    """Which borders of gaps are no recorded events."""
    recorded = np.flatnonzero(~lost)
    order = recorded[np.lexsort((number[recorded], key[recorded]))]
    before = _found(key[order], number[order], gap_key, first - 1)
    after = _found(key[order], number[order], gap_key, last + 1)
    times = np.append(time[order], FOREVER)
    return (
        ((before < 0) | (times[before] != low)) & (low > -FOREVER),
        ((after < 0) | (times[after] != high)) & (high < FOREVER),
    )


def _found(keys: Ints, numbers: Ints, key: Ints, number: Ints) -> Ints:
    """Places of (key, number) in sorted ones; -1 where they are not there."""
    width = int(numbers.max(initial=0)) + 2
    codes, wanted = keys * width + numbers, key * width + np.minimum(number, width - 1)
    place = np.searchsorted(codes, wanted)
    there = np.append(codes, -1)[place] == wanted
    return np.where(there & (number >= 0), place, -1)


def _with_segments(
    key: Ints, time: Ints, lost: Mask, row: Ints, number: Ints, asides: RowConditions, head: Floats, tail: Floats
) -> KeyPoints:
    begins = np.searchsorted(key, np.arange(asides.n_keys + 1))
    event = np.flatnonzero(row >= 0)
    rows = row[event]
    opens = number[rows] % 2 == 1
    followed = np.append(key[event[1:]] == key[event[:-1]], False) if len(event) else np.empty(0, bool)
    closed = np.append(asides.closes[rows[1:]], False) if len(event) else np.empty(0, bool)
    opening = np.flatnonzero(opens & followed & closed & asides.chosen[rows])
    turn = np.full(len(key), NEITHER, np.int8)
    turn[event[opening]], turn[event[opening + 1]] = OPENS, CLOSES
    label = asides.label[rows[opening]]
    label = np.where(label >= 0, label, asides.label[rows[opening + 1]])
    owner = key[event[opening]]
    lists = PointLists(
        begins,
        np.where(lost, 0, time),
        np.empty(0),
        lost,
        turn,
        np.searchsorted(owner, np.arange(asides.n_keys + 1)),
        event[opening] - begins[owner],
        event[opening + 1] - begins[owner],
        label,
        head,
        tail,
        np.ones(asides.n_keys, bool),
    )
    return KeyPoints(lists, row)


def points_of_segments(
    opening: Ints, closing: Ints, start: Ints, end: Ints, asides: RowConditions, of_closing: Ints | None = None
) -> KeyPoints:
    """Recorded segments, given by the rows that open and close them; all are asked about."""
    owner = asides.key[opening]
    rank = np.lexsort((end, start, owner))
    owner, start, end, opening, closing = owner[rank], start[rank], end[rank], opening[rank], closing[rank]
    n = len(owner)
    number = np.arange(n)
    key = np.concatenate([owner, owner])
    time = np.concatenate([start, end])
    segment = np.concatenate([number, number])
    closes = np.repeat([0, 1], n)
    order = np.lexsort((closes, segment, time, key))
    place = np.empty(2 * n, np.int64)
    place[order] = np.arange(2 * n)
    begins = np.searchsorted(key[order], np.arange(asides.n_keys + 1))
    label = asides.label[opening]
    label = np.where(label >= 0, label, asides.label[closing])
    follows = np.ones(n, bool)
    follows[1:] = (owner[1:] != owner[:-1]) | (start[1:] >= end[:-1])
    simple = np.ones(asides.n_keys, bool)
    simple[owner[~follows]] = False
    nothing = np.zeros(asides.n_keys)
    lists = PointLists(
        begins,
        time[order],
        np.empty(0),
        np.zeros(2 * n, bool),
        np.where(closes[order] == 1, CLOSES, OPENS).astype(np.int8),
        np.searchsorted(owner, np.arange(asides.n_keys + 1)),
        place[:n] - begins[owner],
        place[n:] - begins[owner],
        label,
        nothing,
        nothing,
        simple,
    )
    return KeyPoints(lists, np.concatenate([opening, closing])[order])
