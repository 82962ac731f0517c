"""Points of segments (SimpMatch: point events): what opens and closes the segments of each key, recorded or lost.

numbers 1, 2, 5 recorded    →  points 1 (opens), 2 (closes), 3 (lost, opens), 4 (lost, closes), 5 (opens)
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from inkling.evaluators.gaps.rows import NumberedRows
from inkling.model.batch import FOREVER, Floats, Ints, Mask
from inkling.model.time import FARTHEST

OPENS, CLOSES, NEITHER = 1, -1, 0


class PointLists(NamedTuple):
    """Points and segments of many keys, as kernels take them; the points of a key are in the order of time.

    A lost point lies somewhere between the recorded points around it. Before the first and after the last recorded
    point of a key, lost points are a Poisson process with the rates `head` and `tail`.

    Points that neither open nor close a segment only take part in the order: bounds and marks (recorded), hidden points
    of Erlang gaps (lost), and events of segments that do not satisfy the conditions of the relation.
    """

    begins: np.ndarray  # points of key k are begins[k] … begins[k + 1] - 1
    time: np.ndarray  # int64, in units of the clock; 0 where a point is lost
    along: np.ndarray  # float64: cumulative intensity Λ of each point; empty without INTENSITY
    lost: np.ndarray  # bool
    turn: np.ndarray  # int8: OPENS, CLOSES or NEITHER
    segments: np.ndarray  # segments of key k are segments[k] … segments[k + 1] - 1, in the order of their openings
    opening: np.ndarray  # of each segment: place of the point that opens it among the points of its key, from 0
    closing: np.ndarray
    label: np.ndarray  # of each segment; with ON SAME only segments with equal labels are compared
    head: np.ndarray  # float64, of each key: λ before its first recorded point, 0 where no point was lost there
    tail: np.ndarray  # float64: λ after its last recorded point
    simple: np.ndarray  # bool, of each key: its segments do not overlap


class RelationQuery(NamedTuple):
    """The query Q_A A – C – Q_B B about the segments of two keys (SimpMatch, section 2.2).

    A left segment qualifies if at least `right` right segments are in the relation to it. The answer is the
    distribution of the number of qualifying left segments.
    """

    table: np.ndarray  # C: whether two segments are related, by how their ends compare (`truth_table`)
    right: int  # k of EXISTS(k) on the right, or ALL
    labeled: bool  # whether only segments with equal labels are compared (ON SAME)
    most: int  # the largest k of EXISTS(k) on the left; more need not be counted
    all_left: bool  # ALL on the left: whether every left segment qualifies


ALL = -1


NO_ROW = -1
NO_KEYS = np.empty(0, np.int64)

LATER, LAST = np.int64(FARTHEST), np.int64(FARTHEST)
"""A time and a place after all points of a key."""


@dataclass(frozen=True, slots=True)
class KeyPoints:
    """The lists of all keys, and the row of each point; `NO_ROW` for a border of a gap or a hidden point."""

    lists: PointLists
    row: Ints


@dataclass(frozen=True, slots=True)
class RowConditions:
    """The key of each row, and which conditions of the relation it satisfies."""

    key: Ints  # of each row, from 0
    n_keys: int
    chosen: Mask  # of each row: whether it may open a segment of the relation
    closes: Mask  # of each row: whether it may close one
    label: Ints  # of each row; negative where it has none


def points_of_numbers(
    found: NumberedRows,
    number: Ints,
    time: Ints,
    conditions: RowConditions,
    shape: int,
    head: Floats,
    tail: Floats,
    unfinished: Ints = NO_KEYS,
) -> KeyPoints:
    """Points of a stream with sequence numbers: odd numbers open a segment, even numbers close it.

    `head` and `tail` are the rates of each key. Erlang gaps of a `shape` above 1 have `shape` - 1 hidden points each:
    an Erlang process is every `shape`-th point of a Poisson process. Keys in `unfinished` get a recorded point after
    all others, which stands for further events.
    """
    n_rows = len(number)
    lost = np.arange(n_rows) >= found.n_recorded
    n_lost = np.diff(found.gaps)
    gap_key = conditions.key[found.gaps[:-1]]
    first, last = number[found.gaps[:-1]], number[found.gaps[1:] - 1]
    low, high = found.low, found.high
    is_bounded = (low > -FOREVER) & (high < FOREVER)
    need_low, need_high = _need_borders(number, time, lost, conditions.key, gap_key, first, last, low, high)
    hidden = shape - 1
    rows = np.arange(n_rows)
    gap_of_lost = np.repeat(np.arange(len(n_lost)), n_lost)
    after_each = np.where(is_bounded[gap_of_lost], hidden, 0)
    before_first = np.where(is_bounded, hidden, 0)
    none = np.full
    parts = [
        _PointColumns(conditions.key, 4 * number, time, lost, rows),
        _PointColumns(gap_key[need_low], 4 * first[need_low] - 2, low[need_low], none(need_low.sum(), False)),
        _PointColumns(gap_key[need_high], 4 * last[need_high] + 2, high[need_high], none(need_high.sum(), False)),
        _repeated(gap_key, 4 * first - 1, before_first),
        _repeated(conditions.key[lost], 4 * number[lost] + 1, after_each),
        _PointColumns(
            unfinished, np.full(len(unfinished), LAST), np.full(len(unfinished), LATER), np.zeros(len(unfinished), bool)
        ),
    ]
    key, place, when, is_lost, row = (
        np.concatenate(column) for column in zip(*(one.columns for one in parts), strict=True)
    )
    order = np.lexsort((when, place, key))  # two marks may have the same number
    key, when, is_lost, row = key[order], when[order], is_lost[order], row[order]
    return _with_segments(key, when, is_lost, row, number, conditions, head, tail)


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
    """Hidden points, `times` many at each place."""
    key, place = np.repeat(key, times), np.repeat(place, times)
    return _PointColumns(key, place, np.zeros(len(key), np.int64), np.ones(len(key), bool))


def _need_borders(
    number: Ints, time: Ints, lost: Mask, key: Ints, gap_key: Ints, first: Ints, last: Ints, low: Ints, high: Ints
) -> tuple[Mask, Mask]:
    """Which borders of gaps are not recorded events and need a point of their own."""
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
    """Places of (key, number) in sorted pairs; -1 where they are not there."""
    width = int(numbers.max(initial=0)) + 2
    codes, wanted = keys * width + numbers, key * width + np.minimum(number, width - 1)
    place = np.searchsorted(codes, wanted)
    there = np.append(codes, -1)[place] == wanted
    return np.where(there & (number >= 0), place, -1)


def _with_segments(
    key: Ints, time: Ints, lost: Mask, row: Ints, number: Ints, conditions: RowConditions, head: Floats, tail: Floats
) -> KeyPoints:
    begins = np.searchsorted(key, np.arange(conditions.n_keys + 1))
    event = np.flatnonzero(row >= 0)
    rows = row[event]
    opens = number[rows] % 2 == 1
    followed = np.append(key[event[1:]] == key[event[:-1]], False) if len(event) else np.empty(0, bool)
    closed = np.append(conditions.closes[rows[1:]], False) if len(event) else np.empty(0, bool)
    opening = np.flatnonzero(opens & followed & closed & conditions.chosen[rows])
    turn = np.full(len(key), NEITHER, np.int8)
    turn[event[opening]], turn[event[opening + 1]] = OPENS, CLOSES
    label = conditions.label[rows[opening]]
    label = np.where(label >= 0, label, conditions.label[rows[opening + 1]])
    owner = key[event[opening]]
    lists = PointLists(
        begins,
        np.where(lost, 0, time),
        np.empty(0),
        lost,
        turn,
        np.searchsorted(owner, np.arange(conditions.n_keys + 1)),
        event[opening] - begins[owner],
        event[opening + 1] - begins[owner],
        label,
        head,
        tail,
        np.ones(conditions.n_keys, bool),
    )
    return KeyPoints(lists, row)


def points_of_segments(opening: Ints, closing: Ints, start: Ints, end: Ints, conditions: RowConditions) -> KeyPoints:
    """Points of recorded segments, given by the rows that open and close them."""
    owner = conditions.key[opening]
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
    begins = np.searchsorted(key[order], np.arange(conditions.n_keys + 1))
    label = conditions.label[opening]
    label = np.where(label >= 0, label, conditions.label[closing])
    follows = np.ones(n, bool)
    follows[1:] = (owner[1:] != owner[:-1]) | (start[1:] >= end[:-1])
    simple = np.ones(conditions.n_keys, bool)
    simple[owner[~follows]] = False
    nothing = np.zeros(conditions.n_keys)
    lists = PointLists(
        begins,
        time[order],
        np.empty(0),
        np.zeros(2 * n, bool),
        np.where(closes[order] == 1, CLOSES, OPENS).astype(np.int8),
        np.searchsorted(owner, np.arange(conditions.n_keys + 1)),
        place[:n] - begins[owner],
        place[n:] - begins[owner],
        label,
        nothing,
        nothing,
        simple,
    )
    return KeyPoints(lists, np.concatenate([opening, closing])[order])
