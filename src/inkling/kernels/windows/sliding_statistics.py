"""Medians and standard deviations of sliding windows.

For medians, the members of a window are bits in a tree of words, and the middle moves step by step. Standard deviations
are computed from exact sums of values and squares.
"""

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from inkling.kernels.uncompiled import wraps_around
from inkling.kernels.windows.exact_sums import N_DIGITS, add_term, reach, rounded

Ints = NDArray[np.int64]
Doubles = NDArray[np.float64]
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
    """Index of the lowest set bit."""
    return _PLACE[np.int64(((word & (~word + _ONE)) * _MULTIPLIER) >> np.uint64(58))]


@wraps_around
@njit(cache=True)
def _highest(word):
    for shift in (1, 2, 4, 8, 16, 32):
        word |= word >> np.uint64(shift)
    return _PLACE[np.int64(((word ^ (word >> _ONE)) * _MULTIPLIER) >> np.uint64(58))]


@njit(cache=True)
def _levels(n: int) -> Ints:
    """The first word of each level: bits of items, then bits of nonzero words below, up to one word."""
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


_SPLITTER = 134217729.0  # 2^27 + 1


@njit(cache=True)
def _product(one: float, other: float, pair: Doubles) -> None:
    """A product as a double and its rounding error, which are exact together (Dekker)."""
    pair[0] = one * other
    scaled = _SPLITTER * one
    one_high = scaled - (scaled - one)
    one_low = one - one_high
    scaled = _SPLITTER * other
    other_high = scaled - (scaled - other)
    other_low = other - other_high
    pair[1] = ((one_high * other_high - pair[0]) + one_high * other_low + one_low * other_high) + one_low * other_low


@njit(cache=True)
def _add(digits: Ints, value: float, sign: int, cell: Doubles) -> None:
    cell[0] = value
    add_term(digits, cell.view(np.int64)[0], sign)


@njit(cache=True)
def _add_product(digits: Ints, one: float, other: float, sign: int, pair: Doubles, cell: Doubles) -> None:
    _product(one, other, pair)
    _add(digits, pair[0], sign, cell)
    _add(digits, pair[1], sign, cell)


@njit(cache=True)
def _three_doubles(digits: Ints, from_: int, to: int, room: Ints, cell: Doubles, out: Doubles) -> None:
    """A sum as three doubles: the nearest double, then the nearest to each remaining error."""
    for place in range(3):
        out[place] = rounded(digits, from_, to, room)
        _add(digits, out[place], -1, cell)
    for place in range(3):
        _add(digits, out[place], 1, cell)


@njit(cache=True)
def sliding_deviations(first: Ints, values: Doubles, present: Bools, wanted: Bools) -> Doubles:
    """Standard deviations of the present values in each wanted window; 0 without values.

    The squares of values must be within the range of doubles.
    """
    n = len(first)
    out = np.zeros(n)
    sums, squares = np.zeros(N_DIGITS, np.int64), np.zeros(N_DIGITS, np.int64)
    numerator, room = np.zeros(N_DIGITS, np.int64), np.zeros(N_DIGITS, np.int64)
    pair, cell, total, total_squares = np.zeros(2), np.zeros(1), np.zeros(3), np.zeros(3)
    from_, to = reach(values.view(np.int64), present)
    # the exponent of a square is doubled relative to 1, not to the least double
    from_squares, to_squares = max((64 * from_ - 1074) >> 5, 0), min(max((64 * to - 1074) >> 5, 0) + 3, N_DIGITS - 2)
    count, begin = 0, 0
    for row in range(n):
        if present[row]:
            _add(sums, values[row], 1, cell)
            _add_product(squares, values[row], values[row], 1, pair, cell)
            count += 1
        while begin < first[row]:
            if present[begin]:
                _add(sums, values[begin], -1, cell)
                _add_product(squares, values[begin], values[begin], -1, pair, cell)
                count -= 1
            begin += 1
        if count < 2 or not wanted[row]:
            continue
        _three_doubles(sums, from_, to, room, cell, total)
        _three_doubles(squares, from_squares, to_squares, room, cell, total_squares)
        numerator[from_squares:to_squares] = 0
        for place in range(3):
            _add_product(numerator, float(count), total_squares[place], 1, pair, cell)
            _add_product(numerator, total[place], total[place], -1, pair, cell)
            for other in range(place):
                _add_product(numerator, 2.0 * total[place], total[other], -1, pair, cell)
        left = rounded(numerator, from_squares, to_squares, room)
        if left > 0:
            _add(numerator, left, -1, cell)
            out[row] = _root(left, rounded(numerator, from_squares, to_squares, room), float(count) * count, pair)
    return out


@njit(cache=True)
def _root(left: float, rest: float, divisor: float, pair: Doubles) -> float:
    """The square root of (left + rest) / divisor, nearly correctly rounded."""
    high = left / divisor
    _product(high, divisor, pair)
    low = ((left - pair[0]) - pair[1] + rest) / divisor
    root = math.sqrt(high)
    _product(root, root, pair)
    return root + ((high - pair[0]) - pair[1] + low) / (2.0 * root)
