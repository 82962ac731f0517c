"""The members of sliding windows: which rows are in which window."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from inkling.kernels.windows.sliding import extreme_rows, last_events, last_times
from inkling.logical import plan as p
from inkling.model.batch import EventBatch, Ints, sorted_words, taken
from inkling.model.time import Duration


@dataclass(frozen=True)
class SlidingWindows:
    """Windows over rows of a batch; window i has the positions `first[i]` to i."""

    batch: EventBatch
    rows: Ints  # per position: a row of the batch; rows of a group are contiguous, in canonical order
    group: Ints  # per position
    opening: Ints | None  # per position, with SINCE: the row of the opening event

    first: Ints

    def __len__(self) -> int:
        return len(self.rows)

    @classmethod
    def over(
        cls,
        batch: EventBatch,
        rows: Ints,
        group: Ints,
        opening: Ints | None,
        last: Duration | p.EventCount,
        unit: Callable[[Duration], int],
    ) -> SlidingWindows:
        if isinstance(last, p.EventCount):
            first = last_events(group, last.count)
        else:
            first = last_times(group, batch.end[rows], unit(last))
        return cls(batch, rows, group, opening, first)

    @cached_property
    def earliest(self) -> Ints:
        """The row of each window with the earliest start."""
        start, place = self.batch.start[self.rows], self.batch.start_place[self.rows]
        if np.array_equal(start, self.batch.end[self.rows]):
            return self.rows[self.first]
        rank = np.empty(len(self), np.int64)
        rank[np.lexsort((place, start))] = np.arange(len(self))
        return self.rows[extreme_rows(self.first, rank, np.ones(len(self), bool), False)]

    @cached_property
    def known(self) -> Ints:
        """When all members of each window were known."""
        known = np.maximum(self.batch.known[self.rows], self.batch.end[self.rows])
        if not np.array_equal(known, self.batch.end[self.rows]):
            known = known[extreme_rows(self.first, known, np.ones(len(self), bool), True)]
        return known if self.opening is None else np.maximum(known, self.batch.known[self.opening])


def in_order_of(batch: EventBatch, rows: Ints, ids: pa.Array) -> Ints:
    """The rows with simultaneous ones sorted by other ids than their own."""
    where = [getattr(batch, name)[rows] for name in ("key", "end", "end_place", "start", "start_place")]
    tied = np.ones(max(len(rows) - 1, 0), bool)
    for column in where:
        tied &= column[1:] == column[:-1]
    if not tied.any():
        return rows
    called = taken(ids, rows)
    words = sorted_words([called])
    rank = pc.fill_null(pc.index_in(called, value_set=words), len(words)).to_numpy()
    return rows[np.lexsort((rank, *reversed(where)))]


def later_pairs(batch: EventBatch, openings: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """Pairs (opening, row) of one key in which the row starts after the end of the opening, as positions."""
    keys = batch.key[rows]
    low, high = (np.searchsorted(keys, batch.key[openings], side) for side in ("left", "right"))
    width = high - low
    ends = np.cumsum(width)
    opening = np.repeat(np.arange(len(openings)), width)
    row = np.repeat(low - ends + width, width) + np.arange(int(ends[-1]) if len(ends) else 0)
    later = _is_later(batch, openings[opening], rows[row])
    return opening[later], row[later]


def _is_later(batch: EventBatch, opening: Ints, row: Ints) -> NDArray[np.bool_]:
    end, start = batch.end[opening], batch.start[row]
    return (end < start) | ((end == start) & (batch.end_place[opening] < batch.start_place[row]))
