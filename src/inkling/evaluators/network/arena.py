"""A growing pool of lineage entries that partial matches share."""

from __future__ import annotations

import numpy as np

from inkling.kernels import lists
from inkling.model.batch import Ints


class Arena:
    """Entries `(row, slot, parent)`; a partial match is the number of its last entry."""

    def __init__(self) -> None:
        self._size = 0
        self._row = np.empty(1024, np.int64)
        self._slot = np.empty(1024, np.int64)
        self._parent = np.empty(1024, np.int64)

    def append(self, rows: Ints, slot: int, parents: Ints) -> Ints:
        """Add one entry behind each parent; returns the new tails."""
        first, self._size = self._size, self._size + len(rows)
        if self._size > len(self._row):
            capacity = max(self._size, 2 * len(self._row))
            self._row = _wider(self._row, capacity)
            self._slot = _wider(self._slot, capacity)
            self._parent = _wider(self._parent, capacity)
        self._row[first : self._size] = rows
        self._slot[first : self._size] = slot
        self._parent[first : self._size] = parents
        return np.arange(first, self._size)

    def rows(self, tails: Ints) -> Ints:
        """The rows of the entries themselves."""
        return self._row[tails]

    def unroll(self, tails: Ints) -> tuple[Ints, Ints, Ints]:
        """Offsets, rows and slots of the lists, oldest entry first."""
        length = lists.lengths(tails, self._parent)
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(length)])
        rows, slots = lists.unroll(tails, offsets, self._row, self._slot, self._parent)
        return offsets, rows, slots


def _wider(column: Ints, capacity: int) -> Ints:
    wider = np.empty(capacity, np.int64)
    wider[: len(column)] = column
    return wider
