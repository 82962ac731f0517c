"""Losses: points that happened and were not recorded, and what evaluators and programs see of the rest."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from inkling.evaluators.lost.lists import CLOSES, NEITHER, OPENS, Lists
from inkling.generate.arrays import Integers, Marks
from inkling.generate.numbering import prefixed
from inkling.generate.segments_points import Points

MARK = "mark"

Turns: TypeAlias = npt.NDArray[np.int8]


def lost(points: Points, share: float, *, seed: int = 0, keep_first: bool = True, keep_last: bool = True) -> Marks:
    """Which points are lost, each independently of all others; the first and the last of a key stay unless told.

    >>> from inkling.generate.segments_pairs import pairs
    >>> lost(pairs(1, n_segments=2)[0], 1.0).tolist()
    [False, True, True, False]
    """
    if not 0 <= share <= 1:
        raise ValueError(f"expected a share from 0 to 1, found {share}")
    is_lost = np.random.default_rng(seed).random(len(points.time)) < share
    has_points = points.counts > 0
    if keep_first:
        is_lost[points.begins[:-1][has_points]] = False
    if keep_last:
        is_lost[points.begins[1:][has_points] - 1] = False
    return is_lost


def lists_of(
    points: Points, is_lost: Marks | None = None, *, between: tuple[int, int] | None = None, shape: int = 1
) -> Lists:
    """Points as evaluators read them.

    `between` limits what was lost at the ends of a key. Where gaps are Erlang with a `shape`, points that are no events
    hide around the lost ones.
    """
    is_lost = np.zeros(len(points.time), np.bool_) if is_lost is None else is_lost
    counts, number = points.counts, points.number
    has_head, has_tail = _open_ends(points, is_lost)
    if between is None and (has_head.any() or has_tail.any()):
        raise ValueError("what was lost at the end of a key needs limits")
    room = counts + has_head + has_tail
    begins = np.concatenate([[0], np.cumsum(room)]).astype(np.int64)
    n_points = int(begins[-1])
    row = np.repeat(begins[:-1], counts) + number - 1 + np.repeat(has_head, counts)
    time, lacks, turn = np.zeros(n_points, np.int64), np.zeros(n_points, np.bool_), np.full(n_points, NEITHER, np.int8)
    time[row] = np.where(is_lost, 0, points.time)
    lacks[row] = is_lost
    turn[row] = np.where(number % 2 == 1, OPENS, CLOSES)
    if between is not None:
        time[begins[:-1][has_head]], time[begins[1:][has_tail] - 1] = between
    begins, row, time, lacks, turn = _with_hidden(begins, row, time, lacks, turn, shape - 1)
    place, opens = row - np.repeat(begins[:-1], counts), number % 2 == 1
    return Lists(
        begins=begins,
        time=time,
        along=np.empty(0),
        lost=lacks,
        turn=turn,
        segments=points.begins // 2,
        opening=place[opens],
        closing=place[~opens],
        label=np.zeros(int(opens.sum()), np.int64),
        head=np.zeros(points.n_keys),
        tail=np.zeros(points.n_keys),
        simple=np.ones(points.n_keys, np.bool_),
    )


def _with_hidden(
    begins: Integers, row: Integers, time: Integers, lacks: Marks, turn: Turns, n_hidden: int
) -> tuple[Integers, Integers, Integers, Marks, Turns]:
    """The same with so many lost points more before each lost one, and before the recorded one after them."""
    after_lost = np.concatenate([[False], lacks[:-1]]) if lacks.size else lacks
    place = np.arange(lacks.size) + np.cumsum(n_hidden * (lacks | after_lost))
    n_points = lacks.size + int(n_hidden * (lacks | after_lost).sum())
    more_time, more_lacks = np.zeros(n_points, np.int64), np.ones(n_points, np.bool_)
    more_turn = np.full(n_points, NEITHER, np.int8)
    more_time[place], more_lacks[place], more_turn[place] = time, lacks, turn
    # a key begins with a recorded point, before which nothing hides
    return np.append(place, n_points)[begins], place[row], more_time, more_lacks, more_turn


def table_of(
    points: Points, is_lost: Marks | None = None, *, between: tuple[int, int] | None = None, prefix: str = "key"
) -> pa.Table:
    """Rows for a program: `key`, `n`, `role`, `t`; with `between`, a mark before and a mark after the points of a key.

    >>> from inkling.generate.segments_points import of_matrix
    >>> rows = table_of(of_matrix(np.array([[3, 8]])), np.array([True, False]), between=(0, 9))
    >>> rows["n"].to_pylist(), rows["role"].to_pylist(), rows["t"].to_pylist()
    ([0, 2, 2], ['mark', 'close', 'mark'], [0, 8, 9])
    """
    is_lost = np.zeros(len(points.time), np.bool_) if is_lost is None else is_lost
    key, number, time = (column[~is_lost] for column in (points.key, points.number, points.time))
    role = np.where(number % 2 == 1, "open", "close")
    if between is not None:
        every = np.arange(points.n_keys)
        key = np.concatenate([every, key, every])
        number = np.concatenate([np.zeros_like(every), number, points.counts])
        time = np.concatenate([np.full_like(every, between[0]), time, np.full_like(every, between[1])])
        role = np.concatenate([np.full(every.size, MARK), role, np.full(every.size, MARK)])
    order = np.argsort(time, kind="stable")
    columns = {
        "key": prefixed(prefix, key[order], width=3),
        "n": number[order],
        "role": role[order].tolist(),
        "t": time[order],
    }
    return pa.table(columns)


def _open_ends(points: Points, is_lost: Marks) -> tuple[Marks, Marks]:
    """Keys whose first, and whose last point was lost."""
    ends = np.zeros((2, points.n_keys), np.bool_)
    has_points = points.counts > 0
    ends[0, has_points] = is_lost[points.begins[:-1][has_points]]
    ends[1, has_points] = is_lost[points.begins[1:][has_points] - 1]
    return ends[0], ends[1]


def n_events(one: Lists, other: Lists, ones: Integers, others: Integers) -> int:
    """Points that open or close in all pairs, lost or not: what throughput counts."""
    sides = ((one, ones), (other, others))
    return int(sum(2 * np.diff(side.segments)[keys].sum() for side, keys in sides))
