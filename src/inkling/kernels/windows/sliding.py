"""Windows that slide over rows: where each begins, and which of its rows holds the least or greatest value.

Row i stands for the window of rows `first[i]` … i. Rows of one group stand together, no window reaches into another
group, and inside a group windows only move forward.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@njit(cache=True)
def last_events(group: Ints, n_events: int) -> Ints:
    """Begins of windows that hold so many rows of a group, fewer at its beginning."""
    first = np.empty(len(group), np.int64)
    begin = 0
    for row in range(len(group)):
        if row and group[row] != group[row - 1]:
            begin = row
        first[row] = max(begin, row - n_events + 1)
    return first


@njit(cache=True)
def last_times(group: Ints, time: Ints, length: int) -> Ints:
    """Begins of windows that hold the rows of a group whose times, which ascend, lie at most `length` back."""
    first = np.empty(len(group), np.int64)
    begin = 0
    for row in range(len(group)):
        if row and group[row] != group[row - 1]:
            begin = row
        while time[begin] < time[row] - length:
            begin += 1
        first[row] = begin
    return first


@njit(cache=True)
def running_sums(first: Ints, values: Ints) -> Ints:
    """Sum of whole numbers in each window; a sum that is too large wraps around."""
    out = np.empty(len(first), np.int64)
    total, begin = np.int64(0), 0
    for row in range(len(first)):
        total += values[row]
        while begin < first[row]:
            total -= values[begin]
            begin += 1
        out[row] = total
    return out


@njit(cache=True)
def extreme_rows(first: Ints, values: np.ndarray, present: Bools, greatest: bool) -> Ints:
    """The first row of each window that has its least (or greatest) value; -1 where no value is present."""
    n = len(first)
    out = np.empty(n, np.int64)
    queue = np.empty(n, np.int64)  # rows that may become the answer: ever later and ever less extreme
    head, tail = 0, 0
    for row in range(n):
        while head < tail and queue[head] < first[row]:
            head += 1
        if present[row]:
            value = values[row]
            if greatest:
                while tail > head and values[queue[tail - 1]] < value:
                    tail -= 1
            else:
                while tail > head and values[queue[tail - 1]] > value:
                    tail -= 1
            queue[tail] = row
            tail += 1
        out[row] = queue[head] if head < tail else -1
    return out
