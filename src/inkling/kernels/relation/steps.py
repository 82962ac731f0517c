"""Steps of the pass at recorded points: in a certain state or on masses, for one key or for both at one time."""

from __future__ import annotations

import numpy as np
from numba import njit

from inkling.kernels.relation.blocks import (
    CLOSED,
    FAILS,
    HI,
    INSIDE,
    LABEL,
    LO,
    TOP,
    TURN,
    change_left,
    change_right,
    mass,
)
from inkling.kernels.relation.keys import FIRST, IS_INSIDE, N_CLOSED, NEXT, STOP, TIME, label_after, turned
from inkling.kernels.relation.rules import (
    CLOSES,
    LABELED,
    OPENS,
    closing_move,
    counts,
    is_enough,
    left_move,
    right_note,
)
from inkling.kernels.relation.ties import ends_together, hits_at_closing, hits_of_point, note_at_opening


@njit(cache=True, error_model="numpy")
def certain_lefts(rules, others, labels, turns, begin, end, left_label, right_label, a, b, note):
    """The note after left points begin … end - 1 in a certain state, and how many segments now qualify, or FAILS."""
    found = np.int64(0)
    for i in range(begin, end):
        turn = turns[i]
        if turn != OPENS and turn != CLOSES:
            continue
        label = label_after(left_label, a, a[N_CLOSED], rules[LABELED])
        meets = b[IS_INSIDE] == 1 and counts(rules, label, right_label[b[FIRST] + b[N_CLOSED]])
        opened = b[N_CLOSED] + b[IS_INSIDE]
        move = left_move(rules, others, labels, turn, note, label, meets, b[N_CLOSED], opened)
        if move == FAILS:
            return note, np.int64(FAILS)
        note = move >> 1
        found += move & 1
        turned(a, turn)
    return note, found


@njit(cache=True, error_model="numpy")
def certain_rights(rules, turns, begin, end, left_label, right_label, a, b, note):
    """The note after right points begin … end - 1 in a certain state."""
    for i in range(begin, end):
        turn = turns[i]
        if turn != OPENS and turn != CLOSES:
            continue
        if a[IS_INSIDE] and counts(rules, left_label[a[FIRST] + a[N_CLOSED]], right_label[b[FIRST] + b[N_CLOSED]]):
            note = right_note(rules, turn, note)
        turned(b, turn)
    return note


@njit(cache=True, error_model="numpy")
def spread_left(rules, others, labels, masses, rows, turn, lefts, rights, n_notes, n_numbers, moves, room):
    """Applies a recorded left point to the blocks of all y."""
    label, top, block = lefts[LABEL, 0], lefts[TOP, 0], n_notes * n_numbers
    notes = n_notes if lefts[INSIDE, 0] else 1
    next_notes = n_notes if turn == OPENS or (turn != CLOSES and lefts[INSIDE, 0]) else 1
    next_top = min(top + 1, n_numbers - 1) if turn == CLOSES else top
    for y in range(rows[LO, 0], rows[HI, 0] + 1):
        closed, inside = rights[CLOSED, y], rights[INSIDE, y]
        meets = inside == 1 and counts(rules, label, rights[LABEL, y])
        for note in range(notes):
            moves[note] = left_move(rules, others, labels, turn, note, label, meets, closed, closed + inside)
        change_left(masses, y * block, moves, notes, next_notes, n_numbers, top, next_top, room)
    lefts[TOP, 0] = next_top


@njit(cache=True, error_model="numpy")
def spread_right(rules, masses, rows, turn, lefts, rights, x_lo, x_hi, n_notes, n_numbers, notes_of, room):
    """Applies a recorded right point to the blocks of all x."""
    if turn != OPENS and turn != CLOSES:
        return
    for note in range(n_notes):
        notes_of[note] = right_note(rules, turn, note)
    for x in range(x_lo, x_hi + 1):
        if rows[LO, x] <= rows[HI, x] and lefts[INSIDE, x] and counts(rules, lefts[LABEL, x], rights[LABEL, 0]):
            change_right(masses, x * n_notes * n_numbers, notes_of, n_notes, n_numbers, lefts[TOP, x], room)


@njit(cache=True, error_model="numpy")
def find_moves(rules, others, labels, lefts, rights, n_x, n_y, n_notes, moves, notes_of):
    """The effect of the next lost point of each key on every note of every block."""
    for x in range(n_x):
        label, inside = lefts[LABEL, x], lefts[INSIDE, x]
        notes = n_notes if inside else 1
        for y in range(n_y):
            same = counts(rules, label, rights[LABEL, y])
            closed, opened = rights[CLOSED, y], rights[CLOSED, y] + rights[INSIDE, y]
            m = (x * n_y + y) * n_notes
            if x < n_x - 1:
                turn = lefts[TURN, x]
                meets = same and rights[INSIDE, y] == 1
                for note in range(notes):
                    moves[m + note] = left_move(rules, others, labels, turn, note, label, meets, closed, opened)
            if y < n_y - 1:
                turn = rights[TURN, y]
                for note in range(notes):
                    notes_of[m + note] = right_note(rules, turn, note) if same and inside else note


@njit(cache=True, error_model="numpy")
def end_of_moment(time, lost, state):
    """The end of the recorded points that have the time of the next one."""
    i = state[NEXT] + 1
    while i < state[STOP] and not lost[i] and time[i] == state[TIME]:
        i += 1
    return i


@njit(cache=True, error_model="numpy")
def both(
    rules, others, labels, left_turns, right_turns, left_label, right_label, a, b, a_end, b_end, is_certain, note,
    masses, lefts, n_notes, n_numbers, moves, room,
):  # fmt: skip
    """Applies recorded points of both keys at the same time; no lost points are pending.

    Returns the note and the number of segments that now qualify, if the state is certain, or FAILS.
    """
    found, start = np.int64(0), np.int64(0)
    closes = False
    for i in range(a[NEXT], a_end):
        closes |= left_turns[i] == CLOSES
    if a[IS_INSIDE] and not closes:
        if is_certain:
            return certain_rights(rules, right_turns, b[NEXT], b_end, left_label, right_label, a, b, note), found
        for i in range(b[NEXT], b_end):
            turn = right_turns[i]
            label = label_after(left_label, a, a[N_CLOSED], rules[LABELED])
            if turn != 0 and counts(rules, label, label_after(right_label, b, b[N_CLOSED], rules[LABELED])):
                for old in range(n_notes):
                    moves[old] = right_note(rules, turn, old)
                change_right(masses, start, moves, n_notes, n_numbers, lefts[TOP, 0], room)
            turned(b, turn)
        return note, found
    is_fresh = False
    for i in range(a[NEXT], a_end):
        turn = left_turns[i]
        if turn != OPENS and turn != CLOSES:
            continue
        label = label_after(left_label, a, a[N_CLOSED], rules[LABELED])
        closed = b[N_CLOSED]
        ended, going, points, begun, opened = ends_together(
            rules, right_turns, b[NEXT], b_end, b[IS_INSIDE], closed, label, right_label, b[FIRST]
        )
        notes, top = n_notes if a[IS_INSIDE] else 1, lefts[TOP, 0]
        for old in range(notes):
            if is_certain and old != note:
                continue
            if turn == OPENS:
                # the note is not used if the segment closes at the same time
                fresh = note_at_opening(rules, others, labels, label, closed, ended, going, points, begun)
                moves[old] = 2 * fresh
            else:
                if is_fresh:
                    hits = hits_of_point(rules, others, labels, label, closed, ended, going, points, begun, opened)
                else:
                    hits = hits_at_closing(rules, others, labels, old, label, ended, going, points, begun, opened)
                moves[old] = closing_move(rules, is_enough(rules, hits))
        if is_certain:
            move = moves[note]
            if move == FAILS:
                return note, np.int64(FAILS)
            note = move >> 1
            found += move & 1
        else:
            next_notes = n_notes if turn == OPENS else 1
            next_top = min(top + 1, n_numbers - 1) if turn == CLOSES else top
            change_left(masses, start, moves, notes, next_notes, n_numbers, top, next_top, room)
            lefts[TOP, 0] = next_top
        is_fresh = turn == OPENS
        turned(a, turn)
    for i in range(b[NEXT], b_end):
        turned(b, right_turns[i])
    return note, found


@njit(cache=True, error_model="numpy")
def set_aside(total, last, masses, i, top, n_numbers, room):
    """Adds the numbers of one note to those set aside (convolution); returns the largest sum."""
    next_last = min(last + top, n_numbers - 1)
    for number in range(next_last + 1):
        room[number] = 0.0
    for one in range(last + 1):
        for other in range(top + 1):
            room[min(one + other, n_numbers - 1)] += total[one] * masses[i + other]
    for number in range(next_last + 1):
        total[number] = room[number]
    return next_last


@njit(cache=True, error_model="numpy")
def only_note(masses, n_notes, n_numbers, top):
    """The only note with any mass; -1 if there are several, 0 if there is none."""
    only = -1
    for note in range(n_notes):
        if mass(masses, note * n_numbers, np.int64(1), n_numbers, top) > 0.0:
            if only >= 0:
                return -1
            only = note
    return max(only, 0)
