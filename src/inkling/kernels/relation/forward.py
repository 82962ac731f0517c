"""The number of left segments that qualify, for many pairs of keys: a forward pass over recorded points and cells.

Busany, van der Aa, Senderovich, Gal, Weidlich: Interval-based Queries over Lossy IoT Event Streams, 2020 (SimpMatch),
sections 3.2 and 3.3: the probability of a query result, and the resolution algorithm. Branches with the same future are
summed, so possible worlds are not enumerated.

A point opens or closes a segment. A left segment qualifies if it is related to enough right segments. A state has the
note of the open left segment (see `rules`) and the number of qualifying segments so far. While no lost points are
pending, one state is certain; otherwise masses are spread over blocks by the lost points that have occurred. Once only
one note has mass, the distribution of numbers is independent of what follows and is set aside in `total`. Example:

    left:    opens 1                               closes 9
    right:            opens 4, closes ?, opens 8             (the lost point is pending in the cell from 4 to 8)
    states:  certain    ...    y = 0 or 1        certain again
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from inkling.kernels.phase import phase
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

DONE, GAVE_UP, NO_PLACE, STOPPED, FAILED, NO_ROOM, GOES_ON = range(7)
"""How the pass over a pair ended. GAVE_UP: too many states or operations. NO_PLACE: there are points before the first
or after the last recorded one, and no rate. Within the pass also STOPPED: later points are unknown. FAILED: every
segment must qualify, and one does not. NO_ROOM: longer arrays are needed. GOES_ON: not ended."""

ANY, NO_CELL, NOTHING_LEFT, NOT_KNOWN, AGAIN = range(3, 8)
"""Kinds of cells besides URN, TAILS and HEADS. ANY: not all pending points must occur in the cell. NO_CELL: none are
pending. No cell follows if no left point does (NOTHING_LEFT), if later points are unknown (NOT_KNOWN), or if lost
points must become pending first (AGAIN)."""

LARGEST = 640.0
"""Logarithm of the largest factor by which a cell may multiply a mass, below overflow; longer cells are divided."""

FEW = 64
"""Up to this number of blocks, negligible ones are not trimmed."""

NOTE, NUMBER, ENOUGH, LAST, IS_CERTAIN, N_X, N_Y, X_LO, X_HI, SIDE, N_NOTES, N_NUMBERS = range(12)
"""Fields of a pair: note and number while they are certain, the number that is enough, the largest number set aside;
whether note and number are certain, pending lost points of each key plus one, the first and last valid row of blocks,
which of the two arrays of masses is current, and how many notes and numbers there are."""
BUDGET, TIME_0, UNTIL, IS_BEFORE_ALL, PAIR, IS_BEGUN, IS_QUICK, N_COUNTS = range(12, 20)
"""More fields: remaining operations, the first recorded time, the time up to which points are known, whether lost
points precede all recorded ones, the pair, whether its pass has begun, whether tables can process recorded points."""
HERE, ALONG_0, N_ON = range(3)
"""Positions on the axis: of the pass, and of the first recorded point."""


class Pairs(NamedTuple):
    """Pairs of keys with their options, and the results."""

    one: np.ndarray
    other: np.ndarray
    until: np.ndarray
    knows_left: np.ndarray
    unopened: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    status: np.ndarray


class Key(NamedTuple):
    """One key of a pair: the points of all keys, its state, and tables by the lost points that have occurred."""

    points: tuple
    state: np.ndarray
    reals: np.ndarray
    table: np.ndarray
    weights: np.ndarray


class Work(NamedTuple):
    """The state of the pass over a pair: both keys, the query (`rules`), two arrays of masses, and scratch arrays."""

    left: Key
    right: Key
    rules: np.ndarray
    others: np.ndarray
    labels: np.ndarray
    quick_moves: np.ndarray
    quick_notes: np.ndarray
    at: np.ndarray
    on: np.ndarray
    masses: np.ndarray
    rows: np.ndarray
    moves: np.ndarray
    notes_of: np.ndarray
    room: np.ndarray
    total: np.ndarray
    low: np.ndarray
    high: np.ndarray


@njit(cache=True, error_model="numpy", nogil=True)
def forward(left, right, ones, other_ones, rules, labels, most, until, knows_left, unopened, n_states, operations):
    """[pair, k]: bounds on the probability of at least k qualifying segments, k up to `most`, by points up to `until`.

    The bounds are equal if `until` is NEVER. If every segment must qualify, there is one column.
    """
    n, width = ones.shape[0], 1 if rules[EVERY] else most + 1
    n_notes = (rules[CAP] + 1) * rules[N_PLACES]
    lower, upper, status = np.zeros((n, width)), np.zeros((n, width)), np.zeros(n, np.int8)
    pairs = Pairs(ones, other_ones, until, knows_left, unopened, lower, upper, status)
    at, others = np.zeros(N_COUNTS, np.int64), np.zeros(4, np.int64)
    at[N_NOTES], at[IS_QUICK] = n_notes, can_stretch(rules)
    quick_moves, quick_notes = tables_of(rules, others, labels, n_notes)
    work = Work(
        Key(left, np.zeros(N_FIELDS, np.int64), np.zeros(N_REALS), np.zeros((5, 8), np.int64), np.zeros((3, 8))),
        Key(right, np.zeros(N_FIELDS, np.int64), np.zeros(N_REALS), np.zeros((5, 8), np.int64), np.zeros((3, 8))),
        rules, others, labels, quick_moves, quick_notes, at, np.zeros(N_ON), np.zeros((2, 256)),
        np.zeros((4, 8), np.int64), np.zeros(max(64, n_notes), np.int64), np.zeros(max(64, n_notes), np.int64),
        np.zeros(16), np.zeros(16), np.zeros(16), np.zeros(16),
    )  # fmt: skip
    while _follow_pairs(work, pairs, most, n_states, operations) == NO_ROOM:
        work = _with_room(work)
    return lower, upper, status


@phase
def _sizes(work):
    """The pending lost points of each key plus one, including those that become pending now."""
    a, b, at = work.left.state, work.right.state, work.at
    return a[N_LOST] + 1 if a[OPENS_NOW] else at[N_X], b[N_LOST] + 1 if b[OPENS_NOW] else at[N_Y]


@phase
def _has_room(work):
    n_x, n_y = _sizes(work)
    block = work.at[N_NOTES] * work.at[N_NUMBERS]
    return (
        work.room.shape[0] >= block
        and work.masses.shape[1] >= n_x * n_y * block
        and work.moves.shape[0] >= n_x * n_y * work.at[N_NOTES]
        and work.left.table.shape[1] >= n_x
        and work.right.table.shape[1] >= n_y
    )


@njit(cache=True, error_model="numpy")
def _with_room(work):
    """The same state with arrays that are long enough for the pending points."""
    n_x, n_y = _sizes(work)
    one, other, n_notes, n_numbers = work.left, work.right, work.at[N_NOTES], work.at[N_NUMBERS]
    n_moves, block = n_x * n_y * n_notes, n_notes * n_numbers
    return Work(
        Key(one.points, one.state, one.reals, _width(one.table, n_x), _width(one.weights, n_x)),
        Key(other.points, other.state, other.reals, _width(other.table, n_y), _width(other.weights, n_y)),
        work.rules, work.others, work.labels, work.quick_moves, work.quick_notes, work.at, work.on,
        _width(work.masses, n_x * n_y * block), _width(work.rows, n_x), _length(work.moves, n_moves),
        _length(work.notes_of, n_moves), _length(work.room, block), _length(work.total, n_numbers),
        _length(work.low, n_numbers), _length(work.high, n_numbers),
    )  # fmt: skip


@phase
def _follow_pairs(work, pairs, most, n_states, operations):
    """Processes pairs one after the other, and resumes with the pair that had no room."""
    at = work.at
    while at[PAIR] < pairs.one.shape[0]:
        k = at[PAIR]
        ended = GOES_ON if at[IS_BEGUN] else _begin(work, pairs, k, most, operations)
        if ended == GOES_ON:
            at[IS_BEGUN] = 1
            ended = _follow(work, pairs, k, n_states)
        if ended == NO_ROOM:
            return NO_ROOM
        if ended in (DONE, STOPPED):
            _write_answers(work, pairs, k, ended == STOPPED)
        elif ended != FAILED:
            pairs.status[k] = ended
        at[PAIR], at[IS_BEGUN] = k + 1, 0
    return DONE


@phase
def _begin(work, pairs, k, most, operations):
    """The initial state of a pair."""
    left, right, a, b, of_a, of_b = _keys(work)
    at, on, one, other = work.at, work.on, pairs.one[k], pairs.other[k]
    begin_key(left.begins, left.segments, left.time, left.lost, one, a)
    begin_key(right.begins, right.segments, right.time, right.lost, other, b)
    of_a[RATE], of_b[RATE] = left.head[one], right.head[other]
    if a[N_LOST] and (a[TIME] == NEVER or of_a[RATE] <= 0.0):
        return NO_PLACE
    if b[N_LOST] and (b[TIME] == NEVER or of_b[RATE] <= 0.0):
        return NO_PLACE
    at[N_X] = at[N_Y] = 1
    at[N_NUMBERS] = 1 if work.rules[EVERY] else min(a[N_SEGMENTS], most) + 1
    if not _has_room(work):
        return NO_ROOM
    work.others[TOTAL], work.others[UNOPENED] = b[N_SEGMENTS], pairs.unopened[k]
    work.others[BY_LABEL], work.others[BY_LABEL_END] = right.segments[other], right.segments[other + 1]
    at[NOTE] = at[NUMBER] = at[LAST] = at[X_LO] = at[X_HI] = at[SIDE] = 0
    at[ENOUGH] = NEVER if work.rules[EVERY] else most
    at[IS_CERTAIN], at[BUDGET], at[UNTIL] = 1, operations, pairs.until[k]
    work.total[0] = 1.0
    at[TIME_0] = min(a[TIME], b[TIME])
    on[HERE] = on[ALONG_0] = 0.0
    if at[TIME_0] < NEVER:
        if a[TIME] == at[TIME_0] and left.along.shape[0]:
            on[ALONG_0] = left.along[a[NEXT]]
        elif b[TIME] == at[TIME_0] and right.along.shape[0]:
            on[ALONG_0] = right.along[b[NEXT]]
    if at[TIME_0] <= at[UNTIL]:
        if a[WAITS]:
            of_a[UP_TO] = _next_place(work, work.left)
            _border(work.left, False, 0.0, 0.0)
        if b[WAITS]:
            of_b[UP_TO] = _next_place(work, work.right)
            _border(work.right, False, 0.0, 0.0)
    at[IS_BEFORE_ALL] = a[OPENS_NOW] or b[OPENS_NOW]
    return GOES_ON


@phase
def _keys(work):
    one, other = work.left, work.right
    return one.points, other.points, one.state, other.state, one.reals, other.reals


@phase
def _next_place(work, key):
    """The position of the next recorded point of a key on the axis."""
    return place_on(key.points.time, key.points.along, key.state[NEXT], work.at[TIME_0], work.on[ALONG_0])


@phase
def _follow(work, pairs, k, n_states):
    """The pass over a pair, from one recorded point or border of a cell to the next; returns how it ended.

    This is the resolution algorithm (section 3.3) with one state for all branches with the same future.
    """
    a, b, at, on = work.left.state, work.right.state, work.at, work.on
    while True:
        if a[OPENS_NOW] or b[OPENS_NOW]:
            n_x, n_y = _sizes(work)
            if n_x * n_y * at[N_NOTES] * at[N_NUMBERS] > n_states:
                return GAVE_UP
            if not _has_room(work):
                return NO_ROOM
            _come_under_way(work, n_x, n_y)
        elif not at[IS_CERTAIN] and at[N_X] == 1 and at[N_Y] == 1:
            _settle(work)
        if at[BUDGET] == TOO_MUCH:
            return GAVE_UP
        if at[IS_CERTAIN]:
            if at[IS_QUICK] and not (a[N_LOST] or b[N_LOST]):
                _stretch(work)
            if at[NUMBER] >= at[ENOUGH]:
                return DONE
        cell = _next_cell(work)
        if cell.kind == NOTHING_LEFT:
            return DONE
        if cell.kind == NOT_KNOWN:
            return STOPPED
        if cell.kind == AGAIN:
            continue
        on[HERE] = cell.end if cell.kind == NO_CELL else _go_through(work, cell)
        is_early = cell.is_left_over or cell.is_right_over
        if cell.kind == HEADS or at[BUDGET] == TOO_MUCH or (on[HERE] < cell.there and not is_early):
            continue
        _let_come(work, cell)
        if is_early:
            continue
        ended = _take_recorded(work, pairs, k, cell.now)
        if ended != GOES_ON:
            return ended


@phase
def _spread_out(work):
    """Changes from a certain state to masses: the one block has mass 1 at the certain note."""
    at, rows, lefts = work.at, work.rows, work.left.table
    for note in range(at[N_NOTES]):
        work.masses[at[SIDE], note * at[N_NUMBERS]] = 1.0 if note == at[NOTE] else 0.0
    lefts[TOP, 0] = rows[LO, 0] = rows[HI, 0] = at[X_LO] = at[X_HI] = 0
    _unfold(work, work.left, 0)
    _unfold(work, work.right, 0)


@phase
def _unfold(work, key, n_lost):
    unfold(key.points.turn, key.points.label, key.state, n_lost, work.rules[LABELED] == 1, key.table)


@phase
def _come_under_way(work, n_x, n_y):
    """Lost points become pending, with all mass where none of them has occurred."""
    a, b, at, rows, lefts = work.left.state, work.right.state, work.at, work.rows, work.left.table
    if at[IS_CERTAIN]:
        _spread_out(work)
        at[IS_CERTAIN] = 0
    if b[OPENS_NOW]:
        widen(work.masses[at[SIDE]], rows, lefts, at[N_X], n_y, at[N_NOTES], at[N_NUMBERS])
        _unfold(work, work.right, b[N_LOST])
        b[OPENS_NOW] = b[WAITS] = 0
    if a[OPENS_NOW]:
        _unfold(work, work.left, a[N_LOST])
        for x in range(1, n_x):
            found = 0 if work.rules[EVERY] else lefts[CLOSED, x] - lefts[CLOSED, 0]
            lefts[TOP, x] = min(lefts[TOP, 0] + found, at[N_NUMBERS] - 1)
            rows[LO, x], rows[HI, x] = NONE_LO, NONE_HI
        a[OPENS_NOW] = a[WAITS] = 0
    at[N_X], at[N_Y] = n_x, n_y


@phase
def _settle(work):
    """No points are pending: if only one note has mass, it is certain again, and the numbers are set aside."""
    at, top = work.at, work.left.table[TOP, 0]
    masses, n_numbers = work.masses[at[SIDE]], at[N_NUMBERS]
    only = only_note(masses, at[N_NOTES], n_numbers, top) if work.left.state[IS_INSIDE] else 0
    if only >= 0:
        at[LAST] = set_aside(work.total, at[LAST], masses, only * n_numbers, top, n_numbers, work.room)
        at[NOTE], at[IS_CERTAIN] = only, 1


@phase
def _stretch(work):
    """Processes recorded points one after the other by tables, in a certain state."""
    left, right, a, b, _, _ = _keys(work)
    at = work.at
    at[NOTE], at[NUMBER] = stretch(
        left.time, left.lost, left.turn, right.time, right.lost, right.turn, work.quick_moves, work.quick_notes, a, b,
        at[NOTE], at[NUMBER], at[ENOUGH], at[UNTIL],
    )  # fmt: skip


class Cell(NamedTuple):
    """The next cell, and the recorded points at its end."""

    kind: int
    now: int  # the time of the next recorded points
    there: float  # their position on the axis
    end: float  # position of the end of the cell, or of a part of it with constant rates
    is_left_over: bool  # all lost left points at a rate have occurred
    is_right_over: bool


@phase
def _next_cell(work):
    """The cell up to the next recorded point, or up to where the points at a rate start or are over."""
    _, _, a, b, of_a, of_b = _keys(work)
    at, here = work.at, work.on[HERE]
    x_lost, y_lost = at[N_X] > 1, at[N_Y] > 1
    now = min(a[TIME], b[TIME])
    if at[IS_BEFORE_ALL]:
        at[IS_BEFORE_ALL] = 0
        return Cell(HEADS, now, here, here, False, False)
    if a[NEXT] == a[STOP] and a[N_LOST] == 0:
        return Cell(NOTHING_LEFT, now, here, here, False, False)
    if now > at[UNTIL]:
        return Cell(NOT_KNOWN, now, here, here, False, False)
    if now == NEVER:
        return Cell(TAILS, now, here, here, True, True)
    if not (x_lost or y_lost or a[WAITS] or b[WAITS]):
        return Cell(NO_CELL, now, here, here, False, False)
    there = _next_place(work, work.left) if a[TIME] == now else _next_place(work, work.right)
    if a[TIME] == now:
        of_a[UP_TO] = there
    if b[TIME] == now:
        of_b[UP_TO] = there
    is_left_over, is_right_over = _is_over(work.left, x_lost, here), _is_over(work.right, y_lost, here)
    if is_left_over or is_right_over:
        return Cell(NO_CELL, now, there, here, is_left_over, is_right_over)
    end = _border(work.right, y_lost, here, _border(work.left, x_lost, here, there))
    if a[OPENS_NOW] or b[OPENS_NOW]:
        return Cell(AGAIN, now, there, end, False, False)
    kind = NO_CELL
    if x_lost or y_lost:
        left_ends = not x_lost or (a[KIND] == SPREAD and of_a[UP_TO] <= end)
        right_ends = not y_lost or (b[KIND] == SPREAD and of_b[UP_TO] <= end)
        kind = URN if left_ends and right_ends else ANY
    return Cell(kind, now, there, end, False, False)


@phase
def _border(key, is_under_way, here, end):
    """The end of the part of a cell in which the points at a rate neither start nor are over."""
    state, reals = key.state, key.reals
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


@phase
def _is_over(key, is_under_way, here):
    return is_under_way and key.state[KIND] == TAIL and key.reals[SINCE] + reach(key.state, key.reals) <= here


@phase
def _go_through(work, cell):
    """Lost points occur in a cell in any order (section 3.2); returns the position reached, maybe before its end."""
    _, _, a, b, of_a, of_b = _keys(work)
    at, rows, moves, notes_of = work.at, work.rows, work.moves, work.notes_of
    lefts, rights, x_lo, x_hi, n_x, n_y = work.left.table, work.right.table, at[X_LO], at[X_HI], at[N_X], at[N_Y]
    n_notes, n_numbers, here, end = at[N_NOTES], at[N_NUMBERS], work.on[HERE], cell.end
    masses, kept = work.masses[at[SIDE]], work.masses[1 - at[SIDE]]
    find_moves(work.rules, work.others, work.labels, lefts, rights, n_x, n_y, n_notes, moves, notes_of)
    if cell.kind == ANY:
        while growth(a, of_a, n_x - 1 - x_lo, here, end) + growth(b, of_b, n_y - 1, here, end) > LARGEST:
            end = here + (end - here) / 2.0
        expected = weigh(a, of_a, n_x - 1, here, end, work.left.weights)
        expected += weigh(b, of_b, n_y - 1, here, end, work.right.weights)
        at[BUDGET] = series(
            masses, kept, rows, x_lo, x_hi, lefts, work.left.weights, work.right.weights, moves, notes_of, n_x, n_y,
            n_notes, n_numbers, expected, at[BUDGET],
        )  # fmt: skip
        at[SIDE] = 1 - at[SIDE]
        if n_x * n_y > FEW:
            trim(kept, rows, lefts, n_x, n_y, n_notes, n_numbers)
    else:
        at[BUDGET] = sweep(
            masses, rows, x_lo, x_hi, lefts, moves, notes_of, n_x, n_y, n_notes, n_numbers, cell.kind, of_a[RATE],
            of_b[RATE], at[BUDGET],
        )  # fmt: skip
    at[X_LO], at[X_HI] = live_rows(rows, n_x)
    return end


@phase
def _let_come(work, cell):
    """All pending points before the next recorded one of their key have occurred, and those whose rate is over."""
    left, right, a, b, _, _ = _keys(work)
    at, rows, lefts, rights, labeled = work.at, work.rows, work.left.table, work.right.table, work.rules[LABELED] == 1
    is_early = cell.is_left_over or cell.is_right_over
    if at[N_X] > 1 and (cell.is_left_over or (a[TIME] == cell.now and not is_early)):
        last = at[N_X] - 1
        drop_rows(work.masses[at[SIDE]], rows, lefts, at[N_X], at[N_Y], at[N_NOTES], at[N_NUMBERS])
        lefts[TOP, 0] = lefts[TOP, last]
        have_come(left.turn, left.label, a, last, labeled, lefts)
        at[N_X], at[X_LO], at[X_HI] = 1, 0, 0
    if at[N_Y] > 1 and (cell.is_right_over or (b[TIME] == cell.now and not is_early)):
        narrow(work.masses[at[SIDE]], rows, lefts, at[N_X], at[N_Y], at[N_NOTES], at[N_NUMBERS])
        have_come(right.turn, right.label, b, at[N_Y] - 1, labeled, rights)
        at[N_Y] = 1
        at[X_LO], at[X_HI] = live_rows(rows, at[N_X])


@phase
def _take_recorded(work, pairs, k, now):
    """Processes the recorded points of a time, and makes the lost points after them pending."""
    _, _, a, b, of_a, of_b = _keys(work)
    at, is_left, is_right = work.at, a[TIME] == now, b[TIME] == now
    if is_left and is_right:
        found = _take_both(work)
    elif is_left:
        found = _take_left(work)
    else:
        found = _take_right(work)
    if found == FAILS:
        return FAILED
    at[NUMBER] += found
    if is_left:
        _go_on(work, work.left, work.left.points.tail[pairs.one[k]])
    if is_right:
        _go_on(work, work.right, work.right.points.tail[pairs.other[k]])
    has_no_place = (is_left and a[N_LOST] and not a[OPENS_NOW]) or (is_right and b[N_LOST] and not b[OPENS_NOW])
    if has_no_place and at[UNTIL] == NEVER:
        return NO_PLACE
    if a[OPENS_NOW] or b[OPENS_NOW]:
        work.on[HERE] = of_a[SINCE] if a[OPENS_NOW] else of_b[SINCE]
        if at[IS_CERTAIN]:
            return _pass_over(work)
    return GOES_ON


@phase
def _take_both(work):
    """Recorded points of both keys; returns the number of segments that now certainly qualify, or FAILS."""
    left, right, a, b, _, _ = _keys(work)
    at = work.at
    a_end, b_end = end_of_moment(left.time, left.lost, a), end_of_moment(right.time, right.lost, b)
    at[NOTE], found = both(
        work.rules, work.others, work.labels, left.turn, right.turn, left.label, right.label, a, b, a_end, b_end,
        at[IS_CERTAIN] == 1, at[NOTE], work.masses[at[SIDE]], work.left.table, at[N_NOTES], at[N_NUMBERS], work.moves,
        work.room,
    )  # fmt: skip
    a[NEXT], b[NEXT] = a_end - 1, b_end - 1
    return found


@phase
def _take_left(work):
    """A recorded left point; returns the same as `_take_both`."""
    at, a = work.at, work.left.state
    if at[IS_CERTAIN]:
        return _take_certain_lefts(work, a[NEXT], a[NEXT] + 1)
    turn = work.left.points.turn[a[NEXT]]
    spread_left(
        work.rules, work.others, work.labels, work.masses[at[SIDE]], work.rows, turn, work.left.table,
        work.right.table, at[N_NOTES], at[N_NUMBERS], work.moves, work.room,
    )  # fmt: skip
    turned(a, turn)
    return 0


@phase
def _take_right(work):
    """A recorded right point; returns the same as `_take_both`."""
    at, b = work.at, work.right.state
    if at[IS_CERTAIN]:
        return _take_certain_rights(work, b[NEXT], b[NEXT] + 1)
    turn = work.right.points.turn[b[NEXT]]
    spread_right(
        work.rules, work.masses[at[SIDE]], work.rows, turn, work.left.table, work.right.table, at[X_LO], at[X_HI],
        at[N_NOTES], at[N_NUMBERS], work.notes_of, work.room,
    )  # fmt: skip
    turned(b, turn)
    return 0


@phase
def _take_certain_lefts(work, begin, end):
    left, right, a, b, _, _ = _keys(work)
    work.at[NOTE], found = certain_lefts(
        work.rules, work.others, work.labels, left.turn, begin, end, left.label, right.label, a, b, work.at[NOTE]
    )
    return found


@phase
def _take_certain_rights(work, begin, end):
    left, right, a, b, _, _ = _keys(work)
    note = certain_rights(work.rules, right.turn, begin, end, left.label, right.label, a, b, work.at[NOTE])
    work.at[NOTE] = note
    return 0


@phase
def _go_on(work, key, tail):
    """Advances a key to its next recorded point."""
    points, at, on = key.points, work.at, work.on
    go_on(points.time, points.along, points.lost, tail, key.state, key.reals, at[TIME_0], on[ALONG_0])
    if not at[IS_CERTAIN]:
        _unfold(work, key, 0)


@phase
def _pass_over(work):
    """Lost points of one key without points of the other among them: their times are irrelevant."""
    a, b, at = work.left.state, work.right.state, work.at
    if a[OPENS_NOW] and not b[N_LOST] and a[TIME] <= min(b[TIME], at[UNTIL]):
        found = _take_certain_lefts(work, a[NEXT] - a[N_LOST], a[NEXT])
        if found == FAILS:
            return FAILED
        at[NUMBER] += found
        a[OPENS_NOW] = a[N_LOST] = 0
    elif b[OPENS_NOW] and not a[N_LOST] and b[TIME] <= min(a[TIME], at[UNTIL]):
        _take_certain_rights(work, b[NEXT] - b[N_LOST], b[NEXT])
        b[OPENS_NOW] = b[N_LOST] = 0
    return GOES_ON


@phase
def _write_answers(work, pairs, k, is_stopped):
    """Writes the probability of a query result (section 3.2), or bounds if later points are unknown."""
    _, right, a, b, of_a, of_b = _keys(work)
    at, every, knows_left = work.at, work.rules[EVERY] == 1, pairs.knows_left[k]
    if at[IS_CERTAIN]:
        _spread_out(work)
    here, n_numbers = work.on[HERE], at[N_NUMBERS]
    ahead_of_left = of_a[RATE] * (of_a[UP_TO] - here) if at[N_X] > 1 and a[KIND] == HEAD else 0.0
    ahead_of_right = of_b[RATE] * (of_b[UP_TO] - here) if at[N_Y] > 1 and b[KIND] == HEAD else 0.0
    tally(
        work.rules, work.others, work.labels, right.turn, right.label, a, b, work.masses[at[SIDE]], work.rows,
        work.left.table, work.right.table, at[X_LO], at[X_HI], at[N_X], at[N_Y], at[N_NOTES], n_numbers, ahead_of_left,
        ahead_of_right, is_stopped, knows_left, work.low, work.high,
    )  # fmt: skip
    answer(work.total, at[LAST], work.low, n_numbers, at[NUMBER], every, pairs.lower[k])
    answer(work.total, at[LAST], work.high, n_numbers, at[NUMBER], every, pairs.upper[k])
    if is_stopped and not knows_left and not every:
        for number in range(pairs.upper.shape[1]):
            pairs.upper[k, number] = 1.0


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
