"""How many segments of one key qualify by those of another, for many pairs: a pass over known times and cells.

Busany, van der Aa, Senderovich, Gal, Weidlich: Interval-based Queries over Lossy IoT Event Streams, 2020 (SimpMatch),
sections 3.2 and 3.3: the probability of a query result, and the resolution algorithm. Sums over orders replace the
enumeration of possible worlds.

While nothing lost is under way, what has come is certain, and only a note and a number go along. Where lost points of
a key lie among points of the other, masses are spread over blocks. As soon as one note is left, numbers up to there
are independent of what follows and are set aside.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from inkling.kernels.relation.answers import answer, tally
from inkling.kernels.relation.blocks import CLOSED, FAILS, HI, LO, NONE_HI, NONE_LO, TOP, drop_rows, narrow, widen
from inkling.kernels.relation.cells import HEADS, TAILS, TOO_MUCH, URN, live_rows, series, sweep, trim
from inkling.kernels.relation.keys import (
    HEAD,
    IS_INSIDE,
    KIND,
    N_FIELDS,
    N_LOST,
    N_REALS,
    N_SEGMENTS,
    NEVER,
    NEXT,
    OPENS_NOW,
    RATE,
    SINCE,
    SPREAD,
    STOP,
    TAIL,
    TIME,
    UP_TO,
    WAITS,
    begin_key,
    go_on,
    growth,
    have_come,
    place_on,
    reach,
    turned,
    unfold,
    weigh,
)
from inkling.kernels.relation.rules import BY_LABEL, BY_LABEL_END, CAP, EVERY, LABELED, N_PLACES, TOTAL, UNOPENED
from inkling.kernels.relation.steps import (
    both,
    certain_lefts,
    certain_rights,
    end_of_moment,
    find_moves,
    only_note,
    set_aside,
    spread_left,
    spread_right,
)
from inkling.kernels.relation.stretches import can_stretch, stretch, tables_of

DONE, GAVE_UP, NO_PLACE = range(3)
"""How the pass over a pair ended; without a rate, points before the first recorded one have no place."""

ANY, NO_CELL = 3, 4
"""Ways through a cell, besides those in which points come one after the other."""

LARGEST = 640.0
"""Logarithm of the largest number that a cell may make of 1; longer cells are divided."""

FEW = 64
"""So few blocks are not looked through for what can be forgotten."""


@njit(cache=True, error_model="numpy")
def _spread_out(masses, rows, lefts, note, n_notes, n_numbers):
    """What was certain becomes the mass of one block."""
    for other in range(n_notes):
        masses[other * n_numbers] = 1.0 if other == note else 0.0
    lefts[TOP, 0] = 0
    rows[LO, 0], rows[HI, 0] = 0, 0


@njit(cache=True, error_model="numpy")
def _come_under_way(rows, lefts, n_x, n_numbers, every):
    """Lost left points do: none has come yet."""
    top = lefts[TOP, 0]
    for x in range(1, n_x):
        found = 0 if every else lefts[CLOSED, x] - lefts[CLOSED, 0]
        lefts[TOP, x] = min(top + found, n_numbers - 1)
        rows[LO, x], rows[HI, x] = NONE_LO, NONE_HI


@njit(cache=True, error_model="numpy")
def _border(state, reals, is_under_way, here, end):
    """Up to where nothing changes in how points come at a rate: they begin before, or have all come."""
    if state[WAITS]:
        begins = reals[UP_TO] - reach(state, reals)
        if begins <= here:
            state[OPENS_NOW] = 1
        else:
            end = min(end, begins)
    elif is_under_way and state[KIND] == TAIL:
        ends = reals[SINCE] + reach(state, reals)
        if ends > here:
            end = min(end, ends)
    return end


@njit(cache=True, error_model="numpy")
def _is_over(state, reals, is_under_way, here):
    return is_under_way and state[KIND] == TAIL and reals[SINCE] + reach(state, reals) <= here


@njit(cache=True, error_model="numpy")
def _length(array, n):
    if array.shape[0] >= n:
        return array
    longer = np.zeros(max(n, 2 * array.shape[0]), array.dtype)
    for i in range(array.shape[0]):
        longer[i] = array[i]
    return longer


@njit(cache=True, error_model="numpy")
def _width(array, n):
    if array.shape[1] >= n:
        return array
    wider = np.zeros((array.shape[0], max(n, 2 * array.shape[1])), array.dtype)
    for i in range(array.shape[0]):
        for j in range(array.shape[1]):
            wider[i, j] = array[i, j]
    return wider


@njit(cache=True, error_model="numpy", nogil=True)
def forward(left, right, ones, other_ones, rules, labels, most, until, knows_left, unopened, n_states, operations):
    """Bounds of how probable at least 0, 1, … `most` qualifying segments are, per pair, by what is known `until` then.

    They are equal where that is NEVER. Where every segment has to qualify there is one column.
    """
    zero = np.int64(0)
    n = ones.shape[0]
    every, labeled = rules[EVERY] == 1, rules[LABELED] == 1
    width = 1 if every else most + 1
    lower, upper = np.zeros((n, width)), np.zeros((n, width))
    status = np.zeros(n, np.int8)
    n_notes = (rules[CAP] + 1) * rules[N_PLACES]
    left_time, left_along, left_lost, left_turns, left_label = left.time, left.along, left.lost, left.turn, left.label
    right_time, right_along, right_lost, right_turns = right.time, right.along, right.lost, right.turn
    right_label = right.label
    a, b, others = np.zeros(N_FIELDS, np.int64), np.zeros(N_FIELDS, np.int64), np.zeros(4, np.int64)
    of_a, of_b = np.zeros(N_REALS), np.zeros(N_REALS)
    lefts, rights, rows = np.zeros((5, 8), np.int64), np.zeros((5, 8), np.int64), np.zeros((4, 8), np.int64)
    left_weights, right_weights = np.zeros((3, 8)), np.zeros((3, 8))
    masses, kept, room = np.zeros(256), np.zeros(256), np.zeros(16)
    moves, notes_of = np.zeros(max(64, n_notes), np.int64), np.zeros(max(64, n_notes), np.int64)
    total, low, high = np.zeros(16), np.zeros(16), np.zeros(16)
    is_quick, enough = can_stretch(rules), NEVER if every else most
    quick_moves, quick_notes = tables_of(rules, others, labels, n_notes)
    for pair in range(n):
        one, other, end_of_known = ones[pair], other_ones[pair], until[pair]
        begin_key(left.begins, left.segments, left_time, left_lost, one, a)
        begin_key(right.begins, right.segments, right_time, right_lost, other, b)
        of_a[RATE], of_b[RATE] = left.head[one], right.head[other]
        is_lost = a[N_LOST] and (a[TIME] == NEVER or of_a[RATE] <= 0.0)
        if is_lost or (b[N_LOST] and (b[TIME] == NEVER or of_b[RATE] <= 0.0)):
            status[pair] = NO_PLACE
            continue
        n_numbers = 1 if every else min(a[N_SEGMENTS], most) + 1
        block = n_notes * n_numbers
        others[TOTAL], others[UNOPENED] = b[N_SEGMENTS], unopened[pair]
        others[BY_LABEL], others[BY_LABEL_END] = right.segments[other], right.segments[other + 1]
        if room.shape[0] < block:
            room = _length(room, block)
            total, low, high = _length(total, n_numbers), _length(low, n_numbers), _length(high, n_numbers)
            masses, kept = _length(masses, block), _length(kept, block)
        time_0 = min(a[TIME], b[TIME])
        along_0 = 0.0
        if time_0 < NEVER:
            if a[TIME] == time_0 and left_along.shape[0]:
                along_0 = left_along[a[NEXT]]
            elif b[TIME] == time_0 and right_along.shape[0]:
                along_0 = right_along[b[NEXT]]
        note, number, last = zero, zero, zero
        total[0] = 1.0
        is_certain, is_stopped, failed = True, False, False
        n_x, n_y = zero + 1, zero + 1  # one more than the lost points under way
        x_lo, x_hi = zero, zero
        here = 0.0
        budget = operations
        if time_0 <= end_of_known:
            if a[WAITS]:
                of_a[UP_TO] = place_on(left_time, left_along, a[NEXT], time_0, along_0)
                _border(a, of_a, False, 0.0, 0.0)
            if b[WAITS]:
                of_b[UP_TO] = place_on(right_time, right_along, b[NEXT], time_0, along_0)
                _border(b, of_b, False, 0.0, 0.0)
        is_before_all = a[OPENS_NOW] == 1 or b[OPENS_NOW] == 1

        while True:
            # lost points come under way, or nothing is left of them
            if a[OPENS_NOW] or b[OPENS_NOW]:
                next_x = a[N_LOST] + 1 if a[OPENS_NOW] else n_x
                next_y = b[N_LOST] + 1 if b[OPENS_NOW] else n_y
                n_blocks = next_x * next_y
                if n_blocks * block > n_states:
                    status[pair] = GAVE_UP
                    break
                if masses.shape[0] < n_blocks * block or kept.shape[0] < n_blocks * block:
                    masses, kept = _length(masses, n_blocks * block), _length(kept, n_blocks * block)
                if moves.shape[0] < n_blocks * n_notes:
                    moves, notes_of = _length(moves, n_blocks * n_notes), _length(notes_of, n_blocks * n_notes)
                if lefts.shape[1] < next_x:
                    lefts, rows = _width(lefts, next_x), _width(rows, next_x)
                    left_weights = _width(left_weights, next_x)
                if rights.shape[1] < next_y:
                    rights, right_weights = _width(rights, next_y), _width(right_weights, next_y)
                if is_certain:
                    _spread_out(masses, rows, lefts, note, n_notes, n_numbers)
                    unfold(left_turns, left_label, a, zero, labeled, lefts)
                    unfold(right_turns, right_label, b, zero, labeled, rights)
                    x_lo, x_hi = zero, zero
                    is_certain = False
                if b[OPENS_NOW]:
                    widen(masses, rows, lefts, n_x, next_y, n_notes, n_numbers)
                    unfold(right_turns, right_label, b, b[N_LOST], labeled, rights)
                    n_y = next_y
                    b[OPENS_NOW] = b[WAITS] = 0
                if a[OPENS_NOW]:
                    unfold(left_turns, left_label, a, a[N_LOST], labeled, lefts)
                    _come_under_way(rows, lefts, next_x, n_numbers, every)
                    n_x = next_x
                    a[OPENS_NOW] = a[WAITS] = 0
            elif not is_certain and n_x == 1 and n_y == 1:
                only = only_note(masses, n_notes, n_numbers, lefts[TOP, 0]) if a[IS_INSIDE] else zero
                if only >= 0:
                    last = set_aside(total, last, masses, only * n_numbers, lefts[TOP, 0], n_numbers, room)
                    note = only
                    is_certain = True
            if budget == TOO_MUCH:
                status[pair] = GAVE_UP
                break

            # recorded points one after the other
            if is_quick and is_certain and not (a[N_LOST] or b[N_LOST]):
                note, number = stretch(
                    left_time, left_lost, left_turns, right_time, right_lost, right_turns, quick_moves, quick_notes, a,
                    b, note, number, enough, end_of_known,
                )  # fmt: skip
            if is_certain and number >= enough:
                break

            # what is next
            now = min(a[TIME], b[TIME])
            a_over = b_over = False
            kind, there, end = NO_CELL, here, here
            if is_before_all:
                is_before_all = False
                kind = HEADS
            else:
                if a[NEXT] == a[STOP] and a[N_LOST] == 0:
                    break
                if now > end_of_known:
                    is_stopped = True
                    break
                if now == NEVER:
                    a_over = b_over = True
                    kind = TAILS
                elif n_x > 1 or n_y > 1 or a[WAITS] or b[WAITS]:
                    if a[TIME] == now:
                        there = place_on(left_time, left_along, a[NEXT], time_0, along_0)
                        of_a[UP_TO] = there
                    else:
                        there = place_on(right_time, right_along, b[NEXT], time_0, along_0)
                    if b[TIME] == now:
                        of_b[UP_TO] = there
                    a_over, b_over = _is_over(a, of_a, n_x > 1, here), _is_over(b, of_b, n_y > 1, here)
                    if not (a_over or b_over):
                        end = _border(a, of_a, n_x > 1, here, there)
                        end = _border(b, of_b, n_y > 1, here, end)
                        if a[OPENS_NOW] or b[OPENS_NOW]:
                            continue
                        a_ends = n_x == 1 or (a[KIND] == SPREAD and of_a[UP_TO] <= end)
                        b_ends = n_y == 1 or (b[KIND] == SPREAD and of_b[UP_TO] <= end)
                        if n_x > 1 or n_y > 1:
                            kind = URN if a_ends and b_ends else ANY

            # through a cell, or a part of it
            if kind != NO_CELL:
                find_moves(rules, others, labels, lefts, rights, n_x, n_y, n_notes, moves, notes_of)
            if kind == ANY:
                rest_x, rest_y = n_x - 1 - x_lo, n_y - 1
                while growth(a, of_a, rest_x, here, end) + growth(b, of_b, rest_y, here, end) > LARGEST:
                    end = here + (end - here) / 2.0
                expected = weigh(a, of_a, n_x - 1, here, end, left_weights)
                expected += weigh(b, of_b, n_y - 1, here, end, right_weights)
                budget = series(
                    masses, kept, rows, x_lo, x_hi, lefts, left_weights, right_weights, moves, notes_of, n_x, n_y,
                    n_notes, n_numbers, expected, budget,
                )  # fmt: skip
                masses, kept = kept, masses
                if n_x * n_y > FEW:
                    trim(masses, rows, lefts, n_x, n_y, n_notes, n_numbers)
            elif kind != NO_CELL:
                budget = sweep(
                    masses, rows, x_lo, x_hi, lefts, moves, notes_of, n_x, n_y, n_notes, n_numbers, kind, of_a[RATE],
                    of_b[RATE], budget,
                )  # fmt: skip
            if kind != NO_CELL:
                x_lo, x_hi = live_rows(rows, n_x)
            here = end
            is_early = a_over or b_over
            if kind == HEADS or budget == TOO_MUCH or (here < there and not is_early):
                continue

            # lost points that have all come
            if n_x > 1 and (a_over or (a[TIME] == now and not is_early)):
                drop_rows(masses, rows, lefts, n_x, n_y, n_notes, n_numbers)
                lefts[TOP, 0] = lefts[TOP, n_x - 1]
                have_come(left_turns, left_label, a, n_x - 1, labeled, lefts)
                n_x = zero + 1
                x_lo, x_hi = zero, zero
            if n_y > 1 and (b_over or (b[TIME] == now and not is_early)):
                narrow(masses, rows, lefts, n_x, n_y, n_notes, n_numbers)
                have_come(right_turns, right_label, b, n_y - 1, labeled, rights)
                n_y = zero + 1
                x_lo, x_hi = live_rows(rows, n_x)
            if is_early:
                continue

            # recorded points
            comes_a, comes_b = a[TIME] == now, b[TIME] == now
            found = zero
            if comes_a and comes_b:
                a_end, b_end = end_of_moment(left_time, left_lost, a), end_of_moment(right_time, right_lost, b)
                note, found = both(
                    rules, others, labels, left_turns, right_turns, left_label, right_label, a, b, a_end, b_end,
                    is_certain, note, masses, lefts, n_notes, n_numbers, moves, room,
                )  # fmt: skip
                a[NEXT], b[NEXT] = a_end - 1, b_end - 1
            elif comes_a and is_certain:
                note, found = certain_lefts(
                    rules, others, labels, left_turns, a[NEXT], a[NEXT] + 1, left_label, right_label, a, b, note
                )
            elif comes_a:
                turn = left_turns[a[NEXT]]
                spread_left(rules, others, labels, masses, rows, turn, lefts, rights, n_notes, n_numbers, moves, room)
                turned(a, turn)
            elif is_certain:
                note = certain_rights(rules, right_turns, b[NEXT], b[NEXT] + 1, left_label, right_label, a, b, note)
            else:
                turn = right_turns[b[NEXT]]
                spread_right(rules, masses, rows, turn, lefts, rights, x_lo, x_hi, n_notes, n_numbers, notes_of, room)
                turned(b, turn)
            if found == FAILS:
                failed = True
                break
            number += found

            # what was lost after them
            if comes_a:
                go_on(left_time, left_along, left_lost, left.tail[one], a, of_a, time_0, along_0)
                if not is_certain:
                    unfold(left_turns, left_label, a, zero, labeled, lefts)
            if comes_b:
                go_on(right_time, right_along, right_lost, right.tail[other], b, of_b, time_0, along_0)
                if not is_certain:
                    unfold(right_turns, right_label, b, zero, labeled, rights)
            is_lost = (comes_a and a[N_LOST] and not a[OPENS_NOW]) or (comes_b and b[N_LOST] and not b[OPENS_NOW])
            if is_lost and end_of_known == NEVER:
                status[pair] = NO_PLACE
                break
            if a[OPENS_NOW] or b[OPENS_NOW]:
                here = of_a[SINCE] if a[OPENS_NOW] else of_b[SINCE]

            # the other key has nothing among it: it does not matter when it came
            if is_certain and a[OPENS_NOW] and not b[N_LOST] and a[TIME] <= min(b[TIME], end_of_known):
                note, found = certain_lefts(
                    rules, others, labels, left_turns, a[NEXT] - a[N_LOST], a[NEXT], left_label, right_label, a, b,
                    note,
                )  # fmt: skip
                if found == FAILS:
                    failed = True
                    break
                number += found
                a[OPENS_NOW] = a[N_LOST] = 0
            elif is_certain and b[OPENS_NOW] and not a[N_LOST] and b[TIME] <= min(a[TIME], end_of_known):
                begin = b[NEXT] - b[N_LOST]
                note = certain_rights(rules, right_turns, begin, b[NEXT], left_label, right_label, a, b, note)
                b[OPENS_NOW] = b[N_LOST] = 0

        if status[pair] != DONE or failed:
            continue
        if is_certain:
            _spread_out(masses, rows, lefts, note, n_notes, n_numbers)
            unfold(left_turns, left_label, a, zero, labeled, lefts)
            unfold(right_turns, right_label, b, zero, labeled, rights)
            x_lo, x_hi = zero, zero
        ahead_of_left = of_a[RATE] * (of_a[UP_TO] - here) if n_x > 1 and a[KIND] == HEAD else 0.0
        ahead_of_right = of_b[RATE] * (of_b[UP_TO] - here) if n_y > 1 and b[KIND] == HEAD else 0.0
        tally(
            rules, others, labels, right_turns, right_label, a, b, masses, rows, lefts, rights, x_lo, x_hi, n_x, n_y,
            n_notes, n_numbers, ahead_of_left, ahead_of_right, is_stopped, knows_left[pair], low, high,
        )  # fmt: skip
        answer(total, last, low, n_numbers, number, every, lower[pair])
        answer(total, last, high, n_numbers, number, every, upper[pair])
        if is_stopped and not knows_left[pair] and not every:
            for k in range(width):
                upper[pair, k] = 1.0
    return lower, upper, status
