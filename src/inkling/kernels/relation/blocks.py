"""How probable it is that so many lost points have come, with each note and number of qualifying segments.

After x lost left points and y lost right ones there is a block of masses, one per note and number: block (x, y) begins
at `(x * n_y + y) * n_notes * n_numbers`. Only blocks between `rows[LO, x]` and `rows[HI, x]` mean anything.
"""

from __future__ import annotations

import numpy as np
from numba import njit

LO, HI, NEXT_LO, NEXT_HI = range(4)
"""Rows of a table by x: which y are there, before and after a cell."""

TURN, INSIDE, CLOSED, LABEL, TOP = range(5)
"""Rows of a table by lost points that have come: what the next one does, and how things are. TOP is the largest number
of qualifying segments that a block can have."""

FAILS = -1

NONE_LO, NONE_HI = 1 << 40, -1
"""Of a row without blocks."""


@njit(cache=True, error_model="numpy")
def add_left(out, o, masses, i, weight, moves, m, n_notes, n_numbers, top):
    """Adds a block, weighted, after one more left point, which does what moves[m:] say."""
    for note in range(n_notes):
        move = moves[m + note]
        if move == FAILS:
            continue
        source = i + note * n_numbers
        target = o + (move >> 1) * n_numbers
        if move & 1:
            for number in range(min(top + 1, n_numbers - 1)):
                out[target + number + 1] += weight * masses[source + number]
            if top == n_numbers - 1:
                out[target + top] += weight * masses[source + top]
        else:
            for number in range(top + 1):
                out[target + number] += weight * masses[source + number]


@njit(cache=True, error_model="numpy")
def add_right(out, o, masses, i, weight, notes, m, n_notes, n_numbers, top):
    """The same after one more right point, which turns notes into notes[m:]."""
    for note in range(n_notes):
        source = i + note * n_numbers
        target = o + notes[m + note] * n_numbers
        for number in range(top + 1):
            out[target + number] += weight * masses[source + number]


@njit(cache=True, error_model="numpy")
def scale(masses, i, factor, n_notes, n_numbers, top):
    for note in range(n_notes):
        for number in range(top + 1):
            masses[i + note * n_numbers + number] *= factor


@njit(cache=True, error_model="numpy")
def clear(masses, i, n_notes, n_numbers, top):
    for note in range(n_notes):
        for number in range(top + 1):
            masses[i + note * n_numbers + number] = 0.0


@njit(cache=True, error_model="numpy")
def mass(masses, i, n_notes, n_numbers, top):
    total = 0.0
    for note in range(n_notes):
        for number in range(top + 1):
            total += masses[i + note * n_numbers + number]
    return total


@njit(cache=True, error_model="numpy")
def copy(target, t, masses, i, n_notes, n_numbers, top):
    for note in range(n_notes):
        for number in range(top + 1):
            target[t + note * n_numbers + number] = masses[i + note * n_numbers + number]


@njit(cache=True, error_model="numpy")
def change_left(masses, i, moves, n_notes, n_next, n_numbers, top, next_top, room):
    """A left point comes for certain: the block changes in place. `room` is for as much as a block."""
    start = np.int64(0)
    copy(room, start, masses, i, n_notes, n_numbers, top)
    clear(masses, i, n_next, n_numbers, next_top)
    add_left(masses, i, room, start, 1.0, moves, start, n_notes, n_numbers, top)


@njit(cache=True, error_model="numpy")
def change_right(masses, i, notes, n_notes, n_numbers, top, room):
    start = np.int64(0)
    copy(room, start, masses, i, n_notes, n_numbers, top)
    clear(masses, i, n_notes, n_numbers, top)
    add_right(masses, i, room, start, 1.0, notes, start, n_notes, n_numbers, top)


@njit(cache=True, error_model="numpy")
def widen(masses, rows, lefts, n_x, n_y, n_notes, n_numbers):
    """Blocks (x, 0) go where they are when there are n_y of each x."""
    block = n_notes * n_numbers
    for x in range(n_x - 1, 0, -1):
        if rows[LO, x] <= rows[HI, x]:
            notes = n_notes if lefts[INSIDE, x] else 1
            copy(masses, x * n_y * block, masses, x * block, notes, n_numbers, lefts[TOP, x])


@njit(cache=True, error_model="numpy")
def narrow(masses, rows, lefts, n_x, n_y, n_notes, n_numbers):
    """All lost right points have come: of each x, only the last block is left."""
    block = n_notes * n_numbers
    for x in range(n_x):
        if rows[LO, x] <= n_y - 1 <= rows[HI, x]:
            notes = n_notes if lefts[INSIDE, x] else 1
            copy(masses, x * block, masses, (x * n_y + n_y - 1) * block, notes, n_numbers, lefts[TOP, x])
            rows[LO, x], rows[HI, x] = 0, 0
        else:
            rows[LO, x], rows[HI, x] = NONE_LO, NONE_HI


@njit(cache=True, error_model="numpy")
def drop_rows(masses, rows, lefts, n_x, n_y, n_notes, n_numbers):
    """All lost left points have come: only the last row is left, and becomes the first."""
    block = n_notes * n_numbers
    last = n_x - 1
    notes = n_notes if lefts[INSIDE, last] else 1
    for y in range(rows[LO, last], rows[HI, last] + 1):
        copy(masses, y * block, masses, (last * n_y + y) * block, notes, n_numbers, lefts[TOP, last])
    rows[LO, 0], rows[HI, 0] = rows[LO, last], rows[HI, last]
