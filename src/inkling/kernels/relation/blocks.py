"""The states of the forward pass with their masses, in blocks by the lost points that have occurred.

Block (x, y) is for x lost left and y lost right points. It has one mass (probability) per note and number of qualifying
segments, and starts at `(x * n_y + y) * n_notes * n_numbers`. Of row x, only blocks `rows[LO, x]` to `rows[HI, x]` are
valid. `rules` explains notes.
"""

from typing import NamedTuple

import numpy as np

from inkling.kernels.phase import phase

LO, HI, NEXT_LO, NEXT_HI = range(4)
"""Rows of a table by x: the first and last valid y, before and after a cell."""

TURN, INSIDE, CLOSED, LABEL, TOP = range(5)
"""Rows of a table by the number of lost points that have occurred: what the next one does, whether a segment is open,
how many are closed, the label of the open or next one, and the largest number of qualifying segments."""

FAILS = -1

NONE_LO, NONE_HI = 1 << 40, -1
"""LO and HI of a row without valid blocks."""


class Blocks(NamedTuple):
    """The probability masses of all states while lost points are pending."""

    masses: np.ndarray  # [block, note, number] in one row
    rows: np.ndarray  # [LO … NEXT_HI, x]
    lefts: np.ndarray  # [TURN … TOP, x]
    rights: np.ndarray  # [TURN … LABEL, y]
    n_x: int  # one more than the pending left points, m_A + 1
    n_y: int  # m_B + 1
    n_notes: int
    n_numbers: int
    x_lo: int  # first row with valid blocks
    x_hi: int  # last row


class PointMoves(NamedTuple):
    """The effect of the next point of each key on a note."""

    left: np.ndarray  # 2 · next note + number of segments that now qualify, or FAILS
    right: np.ndarray  # next note


@phase
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


@phase
def add_right(out, o, masses, i, weight, notes, m, n_notes, n_numbers, top):
    """Adds a weighted block after one more right point, which maps notes to notes[m:]."""
    for note in range(n_notes):
        source = i + note * n_numbers
        target = o + notes[m + note] * n_numbers
        for number in range(top + 1):
            out[target + number] += weight * masses[source + number]


@phase
def scale(masses, i, factor, n_notes, n_numbers, top):
    for note in range(n_notes):
        for number in range(top + 1):
            masses[i + note * n_numbers + number] *= factor


@phase
def clear(masses, i, n_notes, n_numbers, top):
    for note in range(n_notes):
        for number in range(top + 1):
            masses[i + note * n_numbers + number] = 0.0


@phase
def mass(masses, i, n_notes, n_numbers, top):
    total = 0.0
    for note in range(n_notes):
        for number in range(top + 1):
            total += masses[i + note * n_numbers + number]
    return total


@phase
def copy(target, t, masses, i, n_notes, n_numbers, top):
    for note in range(n_notes):
        for number in range(top + 1):
            target[t + note * n_numbers + number] = masses[i + note * n_numbers + number]


@phase
def change_left(masses, i, moves, n_notes, n_next, n_numbers, top, next_top, room):
    """Applies a recorded left point to a block in place; `room` is scratch of the size of a block."""
    start = np.int64(0)
    copy(room, start, masses, i, n_notes, n_numbers, top)
    clear(masses, i, n_next, n_numbers, next_top)
    add_left(masses, i, room, start, 1.0, moves, start, n_notes, n_numbers, top)


@phase
def change_right(masses, i, notes, n_notes, n_numbers, top, room):
    start = np.int64(0)
    copy(room, start, masses, i, n_notes, n_numbers, top)
    clear(masses, i, n_notes, n_numbers, top)
    add_right(masses, i, room, start, 1.0, notes, start, n_notes, n_numbers, top)


@phase
def widen(blocks):
    """Moves blocks (x, 0) from a layout with one y to one with `n_y`."""
    masses, rows, lefts, n_numbers = blocks.masses, blocks.rows, blocks.lefts, blocks.n_numbers
    block = blocks.n_notes * n_numbers
    for x in range(blocks.n_x - 1, 0, -1):
        if rows[LO, x] <= rows[HI, x]:
            notes = blocks.n_notes if lefts[INSIDE, x] else 1
            copy(masses, x * blocks.n_y * block, masses, x * block, notes, n_numbers, lefts[TOP, x])


@phase
def narrow(blocks):
    """After all lost right points: keeps only the last block of each row, in a layout with one y."""
    masses, rows, lefts, n_y, n_numbers = blocks.masses, blocks.rows, blocks.lefts, blocks.n_y, blocks.n_numbers
    block = blocks.n_notes * n_numbers
    for x in range(blocks.n_x):
        if rows[LO, x] <= n_y - 1 <= rows[HI, x]:
            notes = blocks.n_notes if lefts[INSIDE, x] else 1
            copy(masses, x * block, masses, (x * n_y + n_y - 1) * block, notes, n_numbers, lefts[TOP, x])
            rows[LO, x], rows[HI, x] = 0, 0
        else:
            rows[LO, x], rows[HI, x] = NONE_LO, NONE_HI


@phase
def drop_rows(blocks):
    """After all lost left points: the last row becomes the first and only one."""
    masses, rows, lefts, n_y, n_numbers = blocks.masses, blocks.rows, blocks.lefts, blocks.n_y, blocks.n_numbers
    block = blocks.n_notes * n_numbers
    last = blocks.n_x - 1
    notes = blocks.n_notes if lefts[INSIDE, last] else 1
    for y in range(rows[LO, last], rows[HI, last] + 1):
        copy(masses, y * block, masses, (last * n_y + y) * block, notes, n_numbers, lefts[TOP, last])
    rows[LO, 0], rows[HI, 0] = rows[LO, last], rows[HI, last]
    lefts[TOP, 0] = lefts[TOP, last]
