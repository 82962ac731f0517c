"""Deterministic stretches: recorded points without lost points among them, processed by tables of moves."""

import numpy as np
from numba import njit

from inkling.kernels.phase import phase
from inkling.kernels.relation.blocks import PointMoves
from inkling.kernels.relation.keys import IS_INSIDE, N_CLOSED, NEXT, STOP, TIME
from inkling.kernels.relation.rules import (
    CLOSES,
    FAILS,
    HIT,
    LABELED,
    OPENS,
    WHOLLY_AFTER,
    WHOLLY_BEFORE,
    left_move,
    right_note,
)


@njit(cache=True, error_model="numpy")
def can_stretch(rules):
    """Whether the effect of a point depends only on the note and on whether a right segment is open."""
    return not (rules[LABELED] or rules[HIT + WHOLLY_AFTER] or rules[HIT + WHOLLY_BEFORE])


@njit(cache=True, error_model="numpy")
def tables_of(query, n_notes):
    """Left moves, [right segment is open, turn + 1, note], and notes after right points, [turn + 1, note]."""
    moves, notes = np.zeros((2, 3, n_notes), np.int64), np.zeros((3, n_notes), np.int64)
    for turn in range(-1, 2):
        for note in range(n_notes):
            notes[turn + 1, note] = right_note(query.rules, turn, note)
            for inside in range(2):
                moves[inside, turn + 1, note] = left_move(
                    query, turn, note, np.int64(0), inside == 1, np.int64(0), np.int64(0)
                )
    return PointMoves(moves, notes)


@phase
def stretch(left, right, tables, note, number, enough, until):
    """The note and number after a stretch, which ends before lost points, or when enough segments qualify.

    Points of both keys at the same time also end it.
    """
    a, b, moves, notes = left.state, right.state, tables.left, tables.right
    left_time, left_lost, left_turns = left.points.time, left.points.lost, left.points.turn
    right_time, right_lost, right_turns = right.points.time, right.points.lost, right.points.turn
    i, a_stop, j, b_stop = a[NEXT], a[STOP] - 1, b[NEXT], b[STOP] - 1
    inside, other_inside = a[IS_INSIDE], b[IS_INSIDE]
    here, there = a[TIME], b[TIME]
    while number < enough:
        if here < there:
            if here > until or i >= a_stop or left_lost[i + 1]:
                break
            turn = left_turns[i]
            move = moves[other_inside, turn + 1, note]
            if move == FAILS:
                break
            note = move >> 1
            number += move & 1
            if turn == OPENS:
                inside = 1
            elif turn == CLOSES:
                inside = 0
                a[N_CLOSED] += 1
            i += 1
            here = left_time[i]
        elif there < here:
            if there > until or j >= b_stop or right_lost[j + 1]:
                break
            turn = right_turns[j]
            if inside:
                note = notes[turn + 1, note]
            if turn == OPENS:
                other_inside = 1
            elif turn == CLOSES:
                other_inside = 0
                b[N_CLOSED] += 1
            j += 1
            there = right_time[j]
        else:
            break
    a[NEXT], a[IS_INSIDE], a[TIME] = i, inside, here
    b[NEXT], b[IS_INSIDE], b[TIME] = j, other_inside, there
    return note, number
