"""The states of the forward pass with their masses, in blocks by the lost points that have occurred.

Block (x, y) is for x lost left and y lost right points. It has one mass (probability) per note and number of qualifying
segments, and starts at `(x * n_y + y) * n_notes * n_numbers`. Of row x, only blocks `rows[LO, x]` to `rows[HI, x]` are
valid. `rules` explains notes.
"""

from __future__ import annotations

import numpy as np
from numba import njit

LO, HI, NEXT_LO, NEXT_HI = range(4)
"""Rows of a table by x: the first and last valid y, before and after a cell."""

TURN, INSIDE, CLOSED, LABEL, TOP = range(5)
"""Rows of a table by the number of lost points that have occurred: what the next one does, whether a segment is open,
how many are closed, the label of the open or next one, and the largest number of qualifying segments."""

FAILS = -1

NONE_LO, NONE_HI = 1 << 40, -1
"""LO and HI of a row without valid blocks."""


@njit(cache=True, error_model="numpy")
def add_left(out, o, masses, i, weight, moves, m, n_notes, n_numbers, top):
    """Adds a weighted block after one more left point, whose effect on each note is in moves[m:]."""
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
    """Adds a weighted block after one more right point, which maps notes to notes[m:]."""
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
    """Applies a recorded left point to a block in place; `room` is scratch of the size of a block."""
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
    """Moves blocks (x, 0) from a layout with one y to one with `n_y`."""
    block = n_notes * n_numbers
    for x in range(n_x - 1, 0, -1):
        if rows[LO, x] <= rows[HI, x]:
            notes = n_notes if lefts[INSIDE, x] else 1
            copy(masses, x * n_y * block, masses, x * block, notes, n_numbers, lefts[TOP, x])


@njit(cache=True, error_model="numpy")
def narrow(masses, rows, lefts, n_x, n_y, n_notes, n_numbers):
    """After all lost right points: keeps only the last block of each row, in a layout with one y."""
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
    """After all lost left points: the last row becomes the first and only one."""
    block = n_notes * n_numbers
    last = n_x - 1
    notes = n_notes if lefts[INSIDE, last] else 1
    for y in range(rows[LO, last], rows[HI, last] + 1):
        copy(masses, y * block, masses, (last * n_y + y) * block, notes, n_numbers, lefts[TOP, last])
    rows[LO, 0], rows[HI, 0] = rows[LO, last], rows[HI, last]
