"""Steps of the pass at recorded points: deterministic or on masses, for one key or for both at one time."""

import numpy as np

from inkling.kernels.phase import phase
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


@phase
def certain_lefts(query, left, right, begin, end, note):
    """The note after left points begin … end - 1 in a deterministic state, and how many segments qualify, or FAILS."""
    rules, a, b = query.rules, left.state, right.state
    found = np.int64(0)
    for i in range(begin, end):
        turn = left.points.turn[i]
        if turn != OPENS and turn != CLOSES:
            continue
        label = label_after(left, a[N_CLOSED], rules[LABELED])
        meets = b[IS_INSIDE] == 1 and counts(rules, label, right.points.label[b[FIRST] + b[N_CLOSED]])
        opened = b[N_CLOSED] + b[IS_INSIDE]
        move = left_move(query, turn, note, label, meets, b[N_CLOSED], opened)
        if move == FAILS:
            return note, np.int64(FAILS)
        note = move >> 1
        found += move & 1
        turned(a, turn)
    return note, found


@phase
def certain_rights(query, left, right, begin, end, note):
    """The note after right points begin … end - 1 in a deterministic state."""
    a, b, left_label, right_label = left.state, right.state, left.points.label, right.points.label
    for i in range(begin, end):
        turn = right.points.turn[i]
        if turn != OPENS and turn != CLOSES:
            continue
        if a[IS_INSIDE] and counts(
            query.rules, left_label[a[FIRST] + a[N_CLOSED]], right_label[b[FIRST] + b[N_CLOSED]]
        ):
            note = right_note(query.rules, turn, note)
        turned(b, turn)
    return note


@phase
def spread_left(query, blocks, turn, moves, room):
    """Applies a recorded left point to the blocks of all y."""
    masses, rows, lefts, rights, _, _, n_notes, n_numbers, _, _ = blocks
    label, top, block = lefts[LABEL, 0], lefts[TOP, 0], n_notes * n_numbers
    notes = n_notes if lefts[INSIDE, 0] else 1
    next_notes = n_notes if turn == OPENS or (turn != CLOSES and lefts[INSIDE, 0]) else 1
    next_top = min(top + 1, n_numbers - 1) if turn == CLOSES else top
    for y in range(rows[LO, 0], rows[HI, 0] + 1):
        closed, inside = rights[CLOSED, y], rights[INSIDE, y]
        meets = inside == 1 and counts(query.rules, label, rights[LABEL, y])
        for note in range(notes):
            moves.left[note] = left_move(query, turn, note, label, meets, closed, closed + inside)
        change_left(masses, y * block, moves.left, notes, next_notes, n_numbers, top, next_top, room)
    lefts[TOP, 0] = next_top


@phase
def spread_right(query, blocks, turn, moves, room):
    """Applies a recorded right point to the blocks of all x."""
    masses, rows, lefts, rights, _, _, n_notes, n_numbers, x_lo, x_hi = blocks
    if turn != OPENS and turn != CLOSES:
        return
    for note in range(n_notes):
        moves.right[note] = right_note(query.rules, turn, note)
    for x in range(x_lo, x_hi + 1):
        if rows[LO, x] <= rows[HI, x] and lefts[INSIDE, x] and counts(query.rules, lefts[LABEL, x], rights[LABEL, 0]):
            change_right(masses, x * n_notes * n_numbers, moves.right, n_notes, n_numbers, lefts[TOP, x], room)


@phase
def find_moves(query, blocks, moves):
    """The effect of the next lost point of each key on every note of every block."""
    _, _, lefts, rights, n_x, n_y, n_notes, _, _, _ = blocks
    for x in range(n_x):
        label, inside = lefts[LABEL, x], lefts[INSIDE, x]
        notes = n_notes if inside else 1
        for y in range(n_y):
            same = counts(query.rules, label, rights[LABEL, y])
            closed, opened = rights[CLOSED, y], rights[CLOSED, y] + rights[INSIDE, y]
            m = (x * n_y + y) * n_notes
            if x < n_x - 1:
                turn = lefts[TURN, x]
                meets = same and rights[INSIDE, y] == 1
                for note in range(notes):
                    moves.left[m + note] = left_move(query, turn, note, label, meets, closed, opened)
            if y < n_y - 1:
                turn = rights[TURN, y]
                for note in range(notes):
                    moves.right[m + note] = right_note(query.rules, turn, note) if same and inside else note


@phase
def end_of_moment(key):
    """The end of the recorded points that have the time of the next one."""
    points, state = key.points, key.state
    i = state[NEXT] + 1
    while i < state[STOP] and not points.lost[i] and points.time[i] == state[TIME]:
        i += 1
    return i


@phase
def both(query, left, right, a_end, b_end, is_certain, note, blocks, moves, room):
    """Applies recorded points of both keys at the same time; no lost points are pending.

    Returns the note and the number of segments that now qualify, if the state is deterministic, or FAILS.
    """
    closes = False
    for i in range(left.state[NEXT], a_end):
        closes |= left.points.turn[i] == CLOSES
    if left.state[IS_INSIDE] and not closes:
        note, found = _rights_of_moment(query, left, right, b_end, is_certain, note, blocks, moves, room)
    else:
        note, found = _lefts_of_moment(query, left, right, a_end, b_end, is_certain, note, blocks, moves, room)
    return note, found


@phase
def _rights_of_moment(query, left, right, b_end, is_certain, note, blocks, moves, room):
    """Applies right points while a left segment is open and does not close."""
    rules, a, b = query.rules, left.state, right.state
    if is_certain:
        return certain_rights(query, left, right, b[NEXT], b_end, note), np.int64(0)
    for i in range(b[NEXT], b_end):
        turn = right.points.turn[i]
        label = label_after(left, a[N_CLOSED], rules[LABELED])
        if turn != 0 and counts(rules, label, label_after(right, b[N_CLOSED], rules[LABELED])):
            for old in range(blocks.n_notes):
                moves.right[old] = right_note(rules, turn, old)
            top = blocks.lefts[TOP, 0]
            change_right(blocks.masses, np.int64(0), moves.right, blocks.n_notes, blocks.n_numbers, top, room)
        turned(b, turn)
    return note, np.int64(0)


@phase
def _lefts_of_moment(query, left, right, a_end, b_end, is_certain, note, blocks, moves, room):
    """Applies left points, compared with the right ones at the same time, and then the right ones."""
    a, b = left.state, right.state
    found, is_fresh = np.int64(0), False
    for i in range(a[NEXT], a_end):
        turn = left.points.turn[i]
        if turn != OPENS and turn != CLOSES:
            continue
        label = label_after(left, a[N_CLOSED], query.rules[LABELED])
        closed = b[N_CLOSED]
        tie = ends_together(query, right, b[NEXT], b_end, b[IS_INSIDE], closed, label)
        notes, top = blocks.n_notes if a[IS_INSIDE] else 1, blocks.lefts[TOP, 0]
        for old in range(notes):
            if is_certain and old != note:
                continue
            if turn == OPENS:
                # the note is not used if the segment closes at the same time
                moves.left[old] = 2 * note_at_opening(query, label, closed, tie)
            else:
                if is_fresh:
                    hits = hits_of_point(query, label, closed, tie)
                else:
                    hits = hits_at_closing(query, old, label, tie)
                moves.left[old] = closing_move(query.rules, is_enough(query.rules, hits))
        if is_certain:
            move = moves.left[note]
            if move == FAILS:
                return note, np.int64(FAILS)
            note = move >> 1
            found += move & 1
        else:
            n_numbers = blocks.n_numbers
            next_notes = blocks.n_notes if turn == OPENS else 1
            next_top = min(top + 1, n_numbers - 1) if turn == CLOSES else top
            change_left(blocks.masses, np.int64(0), moves.left, notes, next_notes, n_numbers, top, next_top, room)
            blocks.lefts[TOP, 0] = next_top
        is_fresh = turn == OPENS
        turned(a, turn)
    for i in range(b[NEXT], b_end):
        turned(b, right.points.turn[i])
    return note, found


@phase
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


@phase
def only_note(masses, n_notes, n_numbers, top):
    """The only note with any mass; -1 if there are several, 0 if there is none."""
    only = -1
    for note in range(n_notes):
        if mass(masses, note * n_numbers, np.int64(1), n_numbers, top) > 0.0:
            if only >= 0:
                return -1
            only = note
    return max(only, 0)
