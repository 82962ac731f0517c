"""The middle of sliding windows: members are bits in a tree of words, and the middle moves a step at a time."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from inkling.kernels.uncompiled import wraps_around

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Words = NDArray[np.uint64]

_ONE = np.uint64(1)
_MULTIPLIER = np.uint64(0x03F79D71B4CB0A89)


def _places() -> NDArray[np.int64]:
    table = np.zeros(64, np.int64)
    for bit in range(64):
        table[((int(_MULTIPLIER) << bit) & 0xFFFFFFFFFFFFFFFF) >> 58] = bit
    return table


_PLACE = _places()


@wraps_around
@njit(cache=True)
def _lowest(word):
    """Number of the lowest bit that is set."""
    return _PLACE[np.int64(((word & (~word + _ONE)) * _MULTIPLIER) >> np.uint64(58))]


@wraps_around
@njit(cache=True)
def _highest(word):
    for shift in (1, 2, 4, 8, 16, 32):
        word |= word >> np.uint64(shift)
    return _PLACE[np.int64(((word ^ (word >> _ONE)) * _MULTIPLIER) >> np.uint64(58))]


@njit(cache=True)
def _levels(n: int) -> Ints:
    """Where the words of each level begin: bits, then words that are not zero, and so on up to one word."""
    offsets = np.zeros(12, np.int64)
    n_levels, size = 0, n
    while True:
        size = max((size + 63) >> 6, 1)
        offsets[n_levels + 1] = offsets[n_levels] + size
        n_levels += 1
        if size == 1:
            return offsets[: n_levels + 1]


@njit(cache=True)
def _insert(words: Words, levels: Ints, item: int) -> None:
    for level in range(len(levels) - 1):
        place = levels[level] + (item >> 6)
        before = words[place]
        words[place] = before | (_ONE << np.uint64(item & 63))
        if before:
            return
        item >>= 6


@njit(cache=True)
def _remove(words: Words, levels: Ints, item: int) -> None:
    for level in range(len(levels) - 1):
        place = levels[level] + (item >> 6)
        words[place] &= ~(_ONE << np.uint64(item & 63))
        if words[place]:
            return
        item >>= 6


@njit(cache=True)
def _after(words: Words, levels: Ints, item: int) -> int:
    """The next item, -1 if there is none."""
    for level in range(len(levels) - 1):
        bit = np.uint64(item & 63)
        rest = words[levels[level] + (item >> 6)] & ~((_ONE << bit) | ((_ONE << bit) - _ONE))
        if rest:
            item = (item >> 6 << 6) + _lowest(rest)
            for below in range(level - 1, -1, -1):
                item = (item << 6) + _lowest(words[levels[below] + item])
            return item
        item >>= 6
    return -1


@njit(cache=True)
def _before(words: Words, levels: Ints, item: int) -> int:
    """The item before, -1 if there is none."""
    for level in range(len(levels) - 1):
        rest = words[levels[level] + (item >> 6)] & ((_ONE << np.uint64(item & 63)) - _ONE)
        if rest:
            item = (item >> 6 << 6) + _highest(rest)
            for below in range(level - 1, -1, -1):
                item = (item << 6) + _highest(words[levels[below] + item])
            return item
        item >>= 6
    return -1


@njit(cache=True)
def middle_rows(first: Ints, rank: Ints, present: Bools, order: Ints) -> tuple[Ints, Ints]:
    """The rows of the lower and the upper middle value of each window; -1 where no value is present.

    `rank` numbers the rows by value, all differently, and `order` gives the row of each rank.
    """
    n = len(first)
    lower, upper = np.empty(n, np.int64), np.empty(n, np.int64)
    levels = _levels(n)
    words = np.zeros(levels[-1], np.uint64)
    count, below, middle, begin = 0, 0, -1, 0
    for row in range(n):
        if present[row]:
            item = rank[row]
            _insert(words, levels, item)
            count += 1
            if count == 1:
                middle, below = item, 0
            elif item < middle:
                below += 1
        while begin < first[row]:
            if present[begin]:
                item = rank[begin]
                if item == middle:
                    middle = _after(words, levels, item)
                    if middle < 0 and count > 1:
                        middle = _before(words, levels, item)
                        below -= 1
                elif item < middle:
                    below -= 1
                _remove(words, levels, item)
                count -= 1
            begin += 1
        if count == 0:
            lower[row] = upper[row] = -1
            continue
        wanted = (count - 1) >> 1
        while below < wanted:
            middle = _after(words, levels, middle)
            below += 1
        while below > wanted:
            middle = _before(words, levels, middle)
            below -= 1
        lower[row] = order[middle]
        upper[row] = order[middle] if count & 1 else order[_after(words, levels, middle)]
    return lower, upper
