"""The forward pass if right segments overlap each other and none of their points was lost.

The note of an open left segment is the position among the right points at which it opened: 1 + 2 · position, plus 1 if
right points have the same time. When it closes, it is compared with every right segment.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from inkling.kernels.phase import phase
from inkling.kernels.relation.answers import answer
from inkling.kernels.relation.blocks import (
    CLOSED,
    HI,
    INSIDE,
    LABEL,
    LO,
    NONE_HI,
    NONE_LO,
    TOP,
    TURN,
    Blocks,
    PointMoves,
    change_left,
    drop_rows,
)
from inkling.kernels.relation.cells import LARGEST, STAY, TOO_MUCH, URN, series, sweep
from inkling.kernels.relation.keys import (
    IS_INSIDE,
    N_CLOSED,
    N_FIELDS,
    N_LOST,
    N_REALS,
    N_SEGMENTS,
    NEXT,
    STOP,
    TIME,
    Key,
    begin_key,
    go_on,
    growth,
    have_come,
    turned,
    unfold,
    weigh,
)
from inkling.kernels.relation.recorded import DONE, GAVE_UP
from inkling.kernels.relation.rules import CLOSES, EVERY, FAILS, HIT, LABELED, OPENS, closing_move, counts, is_enough


class RightKey(NamedTuple):
    """The segments and points of the right key of a pair; segments have positions of points, from 0."""

    points: tuple[np.ndarray, ...]  # `PointLists`
    begin: int  # segments begin … end - 1
    end: int
    first: int  # points first … stop - 1
    stop: int


@phase
def _sign(point, before, through):
    """0 if a right point is after a moment, 1 if it is at the moment, 2 if it is before."""
    return (1 if point < through else 0) + (1 if point < before else 0)


@phase
def qualifies_among(rules, right, label, s_before, s_through, e_before, e_through):
    """Whether a left segment qualifies: `s_before` right points are before its start, `s_through` before or at it.

    `e_before` and `e_through` are the same for its end.
    """
    opening, closing = right.points.opening, right.points.closing
    hits = 0
    for i in range(right.begin, right.end):
        if counts(rules, label, right.points.label[i]):
            case = _sign(opening[i], s_before, s_through) * 3 + _sign(closing[i], s_before, s_through)
            case = (case * 3 + _sign(opening[i], e_before, e_through)) * 3 + _sign(closing[i], e_before, e_through)
            hits += rules[HIT + case]
    return is_enough(rules, hits)


@phase
def _note_of(before, through):
    return 1 + 2 * before + (1 if through > before else 0)


@phase
def _through(right, before):
    """The number of right points before or at the time of the next one, of which `before` are earlier."""
    time, first = right.points.time, right.first
    through = before
    while first + through < right.stop and time[first + through] == time[first + before]:
        through += 1
    return through


@phase
def _moves_at(rules, right, turn, label, before, through, first, n_notes, moves, m):
    """The effect of a left point on each note, with `before` right points before it and `through` before or at it.

    Notes below `first` do not occur.
    """
    for note in range(n_notes):
        if turn == OPENS:
            moves[m + note] = 2 * _note_of(before, through)
        elif turn != CLOSES:
            moves[m + note] = 2 * note
        elif note < first or note > _note_of(before, through):
            moves[m + note] = FAILS
        else:
            s_before = (note - 1) // 2
            s_through = _through(right, s_before) if (note - 1) % 2 else s_before
            good = qualifies_among(rules, right, label, s_before, s_through, before, through)
            moves[m + note] = closing_move(rules, good)


@njit(cache=True, error_model="numpy")
def _one_column(masses, rows, table, n_x, n_notes, n_numbers):
    """Blocks without lost right points."""
    return Blocks(masses, rows, table, table, n_x, 1, n_notes, n_numbers, 0, n_x - 1)


@njit(cache=True, error_model="numpy", nogil=True)
def forward_among(left, right, ones, other_ones, rules, most, n_states, operations):
    """[pair, k]: the probability of at least k qualifying segments, k up to `most`.

    It gives up on pairs with left points lost before the first or after the last recorded one.
    """
    zero = np.int64(0)
    n = ones.shape[0]
    every = rules[EVERY] == 1
    at_least, status = np.zeros((n, 1 if every else most + 1)), np.zeros(n, np.int8)
    a, of_a = np.zeros(N_FIELDS, np.int64), np.zeros(N_REALS)
    one_right = np.zeros((3, 1))
    one_right[STAY, 0] = 1.0
    certain = np.ones(1)
    r_time = right.time
    for pair in range(n):
        one, other = ones[pair], other_ones[pair]
        begin_key(Key(left, a, of_a, np.zeros((5, 1), np.int64), one_right), one)
        r_begin, r_end = right.begins[other], right.begins[other + 1]
        among = RightKey(right, right.segments[other], right.segments[other + 1], r_begin, r_end)
        n_numbers = 1 if every else min(a[N_SEGMENTS], most) + 1
        n_notes = 2 * (r_end - r_begin + 1) + 1
        labels = left.label[left.segments[one] : left.segments[one + 1]]
        most_lost = zero
        lost = zero
        for i in range(a[NEXT], a[STOP]):
            lost = lost + 1 if left.lost[i] else zero
            most_lost = max(most_lost, lost)
        n_x_most = most_lost + 1
        if a[N_LOST] or lost or n_x_most * n_notes * n_numbers > n_states:
            status[pair] = GAVE_UP
            continue
        masses, kept = np.zeros(n_x_most * n_notes * n_numbers), np.zeros(n_x_most * n_notes * n_numbers)
        room, moves = np.zeros(n_notes * n_numbers), np.zeros(n_x_most * n_notes, np.int64)
        table, rows = np.zeros((5, n_x_most), np.int64), np.zeros((4, n_x_most), np.int64)
        key, both_moves = Key(left, a, of_a, table, np.zeros((3, n_x_most))), PointMoves(moves, moves)
        masses[0] = 1.0
        j, first = zero, zero + 1  # right points that have occurred; the first note of the open segment
        here, time_0 = 0.0, a[TIME]
        budget = operations
        while a[NEXT] < a[STOP]:
            now, n_x = a[TIME], a[N_LOST] + 1
            if n_x > 1:
                unfold(key, a[N_LOST], rules[LABELED] == 1)
                top = table[TOP, 0]
                for x in range(1, n_x):
                    table[TOP, x] = 0 if every else min(top + table[CLOSED, x] - table[CLOSED, 0], n_numbers - 1)
                    rows[LO, x], rows[HI, x] = NONE_LO, NONE_HI
                if not table[INSIDE, 0]:
                    first = _note_of(j, j)
            while True:
                # to the next right point, or to the left one
                there = now
                if r_begin + j < r_end:
                    there = min(now, r_time[r_begin + j])
                if n_x > 1:
                    place = float(there - time_0)
                    if right.along.shape[0]:
                        place = left.along[a[NEXT]] if there == now else right.along[r_begin + j]
                    for x in range(n_x - 1):
                        _moves_at(
                            rules, among, table[TURN, x], table[LABEL, x], j, j, first, n_notes, moves, x * n_notes
                        )
                    while there < now and here < place and budget != TOO_MUCH:
                        part = place
                        while growth(key, n_x - 1, here, part) > LARGEST:
                            part = here + (part - here) / 2.0
                        expected = weigh(key, n_x - 1, here, part)
                        blocks = _one_column(masses, rows, table, n_x, n_notes, n_numbers)
                        budget = series(blocks, kept, key.weights, one_right, both_moves, expected, budget)
                        masses, kept = kept, masses
                        here = part
                    if there == now:
                        blocks = _one_column(masses, rows, table, n_x, n_notes, n_numbers)
                        budget = sweep(blocks, both_moves, zero + URN, 0.0, 0.0, budget)
                if there == now or budget == TOO_MUCH:
                    break
                j += 1
            if budget == TOO_MUCH:
                status[pair] = GAVE_UP
                break
            if n_x > 1:
                drop_rows(_one_column(masses, rows, table, n_x, n_notes, n_numbers))
                have_come(key, n_x - 1, rules[LABELED] == 1)
            # the left point
            through = _through(among, j) if r_begin + j < r_end and r_time[r_begin + j] == now else j
            turn = left.turn[a[NEXT]]
            label = labels[a[N_CLOSED]] if rules[LABELED] and a[N_CLOSED] < a[N_SEGMENTS] else zero
            _moves_at(rules, among, turn, label, j, through, first, n_notes, moves, zero)
            top = table[TOP, 0]
            next_top = min(top + 1, n_numbers - 1) if turn == CLOSES else top
            notes = n_notes if a[IS_INSIDE] else 1
            next_notes = n_notes if turn == OPENS or (turn != CLOSES and a[IS_INSIDE]) else 1
            change_left(masses, zero, moves, notes, next_notes, n_numbers, top, next_top, room)
            table[TOP, 0] = next_top
            if turn == OPENS:
                first = _note_of(j, through)
            turned(a, turn)
            rows[LO, 0], rows[HI, 0] = 0, 0
            here = left.along[a[NEXT]] if left.along.shape[0] else float(now - time_0)
            go_on(key, 0.0, time_0, 0.0)
            if a[TIME] > now:
                j = through
        if status[pair] == DONE:
            for number in range(table[TOP, 0] + 1, n_numbers):
                masses[number] = 0.0
            answer(certain, zero, masses, n_numbers, zero, every, at_least[pair])
    return at_least, status
