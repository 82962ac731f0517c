"""Exact sums of doubles over sliding windows, rounded once at the end.

A sum is a fixed-point number whose digits cover the range from the smallest to the largest double. A term adds to three
digits and its removal subtracts the same, so the digits depend only on the terms in the window.
"""

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Doubles = NDArray[np.float64]
Bools = NDArray[np.bool_]

N_DIGITS = 72
"""Digits of 32 bits from 2^-1074 up, with room for carries; each can hold 2^30 terms."""

_LOW = np.int64(0xFFFFFFFF)
_FRACTION = np.int64((1 << 52) - 1)
_LEAST = -1074


@njit(cache=True)
def add_term(digits: Ints, bits: int, sign: int) -> None:
    """Adds (or with sign -1 subtracts) a double, given as its bits."""
    if bits < 0:
        sign = -sign
    shift = (bits >> 52) & 0x7FF
    fraction = bits & _FRACTION
    if shift:
        fraction |= np.int64(1) << 52
        shift -= 1
    place, offset = shift >> 5, shift & 31
    low, high = (fraction & _LOW) << offset, (fraction >> 32) << offset
    digits[place] += sign * (low & _LOW)
    digits[place + 1] += sign * ((low >> 32) + (high & _LOW))
    digits[place + 2] += sign * (high >> 32)


@njit(cache=True)
def rounded(digits: Ints, from_: int, to: int, room: Ints) -> float:
    """The sum as the nearest double, ties to even; digits below `from_` and from `to` on are zero."""
    carry = np.int64(0)
    for place in range(from_, to):
        value = digits[place] + carry
        room[place] = value & _LOW
        carry = value >> 32
    top = to
    negative = carry < 0
    if negative:  # room + carry * 2^32·to is below zero: negate it
        borrow = np.int64(1)
        for place in range(from_, to):
            value = (room[place] ^ _LOW) + borrow
            room[place] = value & _LOW
            borrow = value >> 32
        carry = ~carry + borrow
    while carry:
        room[top] = carry & _LOW
        carry >>= 32
        top += 1
    while top > from_ and room[top - 1] == 0:
        top -= 1
    if top == from_:
        return 0.0
    highest = 0
    while highest < 31 and room[top - 1] >> (highest + 1):
        highest += 1
    n_bits = 32 * (top - 1) + highest + 1
    cut = max(n_bits - 53, 0)  # lower bits are rounded
    number = np.int64(0)
    for place in range(top - 1, max(cut >> 5, from_) - 1, -1):
        keep = cut - 32 * place
        number = (number << (32 if keep <= 0 else 32 - keep)) | (room[place] >> max(keep, 0))
    lowest = max(cut >> 5, from_)
    if 32 * lowest > cut:
        number <<= 32 * lowest - cut
    if cut > 0:
        half = cut - 1
        place = half >> 5
        if place >= from_ and (room[place] >> (half & 31)) & 1:
            beyond = (room[place] & ((np.int64(1) << (half & 31)) - 1)) != 0
            while not beyond and place > from_:
                place -= 1
                beyond = room[place] != 0
            if beyond or number & 1:
                number += 1
    exponent = int(cut + _LEAST)
    beyond_doubles = exponent > 971 or (exponent == 971 and number == np.int64(1) << 53)
    value = np.inf if beyond_doubles else math.ldexp(float(number), exponent)
    return -value if negative else value


@njit(cache=True)
def reach(bits: Ints, present: Bools) -> tuple[int, int]:
    """The range of digits that sums of these doubles can use."""
    least, most = 0x7FF, 0
    for row in range(len(bits)):
        if present[row] and (bits[row] << 1) != 0:
            shift = (bits[row] >> 52) & 0x7FF
            least, most = min(least, shift), max(most, shift)
    if least > most:
        return 0, 0
    return max(least - 1, 0) >> 5, (most >> 5) + 5


@njit(cache=True)
def sliding_sums(first: Ints, bits: Ints, present: Bools, wanted: Bools) -> Doubles:
    """Sums of the present doubles in each wanted window; infinite if the sum is out of range."""
    out = np.zeros(len(first))
    digits, room = np.zeros(N_DIGITS, np.int64), np.zeros(N_DIGITS, np.int64)
    from_, to = reach(bits, present)
    begin = 0
    for row in range(len(first)):
        if present[row]:
            add_term(digits, bits[row], 1)
        while begin < first[row]:
            if present[begin]:
                add_term(digits, bits[begin], -1)
            begin += 1
        if wanted[row]:
            out[row] = rounded(digits, from_, to, room)
    return out


@njit(cache=True)
def grouped_sums(offsets: Ints, bits: Ints) -> Doubles:
    """Sum of each group of doubles; group i holds the rows from `offsets[i]` to before `offsets[i + 1]`."""
    out = np.empty(len(offsets) - 1)
    digits, room = np.zeros(N_DIGITS, np.int64), np.zeros(N_DIGITS, np.int64)
    from_, to = reach(bits, np.ones(len(bits), np.bool_))
    for group in range(len(out)):
        for row in range(offsets[group], offsets[group + 1]):
            add_term(digits, bits[row], 1)
        out[group] = rounded(digits, from_, to, room)
        digits[from_:to] = 0
    return out
