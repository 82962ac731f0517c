"""Sliding windows over rows: their first rows, sums of integers, and rows with the least or greatest value.

The window of row i is rows `first[i]` … i. Rows of one group are adjacent, a window is within one group, and `first`
ascends within a group.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@njit(cache=True)
def last_events(group: Ints, n_events: int) -> Ints:
    """First rows of windows with the last `n_events` rows of a group, fewer at its beginning."""
    first = np.empty(len(group), np.int64)
    begin = 0
    for row in range(len(group)):
        if row and group[row] != group[row - 1]:
            begin = row
        first[row] = max(begin, row - n_events + 1)
    return first


@njit(cache=True)
def last_times(group: Ints, time: Ints, length: int) -> Ints:
    """First rows of windows with the rows of a group at most `length` back in time; times ascend."""
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
    """Sums of integers in each window; overflow wraps around."""
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
    """The first row with the least (or greatest) value of each window; -1 if no value is present."""
    n = len(first)
    out = np.empty(n, np.int64)
    queue = np.empty(n, np.int64)  # candidates: each later row is less extreme than the one before
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
