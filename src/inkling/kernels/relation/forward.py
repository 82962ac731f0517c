"""The number of left segments that qualify, for many pairs of keys: a forward pass over recorded points and cells.

Busany, van der Aa, Senderovich, Gal, Weidlich: Interval-based Queries over Lossy IoT Event Streams, 2020 (SimpMatch),
sections 3.2 and 3.3: the probability of a query result, and the resolution algorithm. Branches with the same future are
summed, so possible worlds are not enumerated.

A point opens or closes a segment. A left segment qualifies if it is related to enough right segments. A state has the
note of the open left segment (see `rules`) and the number of qualifying segments so far. It is deterministic while no
lost points are pending; otherwise masses are spread over blocks by the lost points that have occurred. Once only one
note has mass, the distribution of numbers is independent of what follows and is set aside in `total`. Example:

    left:    opens 1                               closes 9
    right:            opens 4, closes ?, opens 8             (the lost point is pending in the cell from 4 to 8)
    states:  deterministic     y = 0 or 1        deterministic again
"""

import numpy as np
from numba import njit

from inkling.kernels.phase import long_phase, phase
from inkling.kernels.relation.answers import answer, tally
from inkling.kernels.relation.blocks import CLOSED, HI, LO, NONE_HI, NONE_LO, TOP, widen
from inkling.kernels.relation.cells import HEADS, TOO_MUCH
from inkling.kernels.relation.keys import (
    HEAD,
    IS_INSIDE,
    KIND,
    N_LOST,
    N_SEGMENTS,
    NEVER,
    NEXT,
    OPENS_NOW,
    RATE,
    TIME,
    UP_TO,
    WAITS,
    begin_key,
    unfold,
)
from inkling.kernels.relation.next_cell import (
    AGAIN,
    NO_CELL,
    NOT_KNOWN,
    NOTHING_LEFT,
    border,
    end_runs,
    next_cell,
    next_place,
    pass_through,
)
from inkling.kernels.relation.pair import (
    ALONG_0,
    BUDGET,
    ENOUGH,
    HERE,
    IS_BEFORE_ALL,
    IS_BEGUN,
    IS_CERTAIN,
    IS_QUICK,
    LAST,
    N_NOTES,
    N_NUMBERS,
    N_X,
    N_Y,
    NOTE,
    NUMBER,
    PAIR,
    SIDE,
    TIME_0,
    UNTIL,
    X_HI,
    X_LO,
    KeyPairs,
    blocks_of,
    has_room,
    new_pass,
    sizes,
    with_room,
)
from inkling.kernels.relation.recorded import DONE, FAILED, GAVE_UP, GOES_ON, NO_PLACE, NO_ROOM, STOPPED, take_recorded
from inkling.kernels.relation.rules import BY_LABEL, BY_LABEL_END, EVERY, LABELED, TOTAL, UNOPENED
from inkling.kernels.relation.steps import only_note, set_aside
from inkling.kernels.relation.stretches import stretch


@njit(cache=True, error_model="numpy", nogil=True)
def forward(left, right, ones, other_ones, rules, labels, most, until, knows_left, unopened, n_states, operations):
    """[pair, k]: bounds on the probability of at least k qualifying segments, k up to `most`, by points up to `until`.

    The bounds are equal if `until` is NEVER. If every segment must qualify, there is one column.
    """
    n, width = ones.shape[0], 1 if rules[EVERY] else most + 1
    lower, upper, status = np.zeros((n, width)), np.zeros((n, width)), np.zeros(n, np.int8)
    pairs = KeyPairs(ones, other_ones, until, knows_left, unopened, lower, upper, status)
    pair = new_pass(left, right, rules, labels)
    while _follow_pairs(pair, pairs, most, n_states, operations) == NO_ROOM:
        pair = with_room(pair)
    return lower, upper, status


@njit(cache=True, error_model="numpy")
def _follow_pairs(pair, pairs, most, n_states, operations):
    """Processes pairs one after the other, and resumes with the pair that had no room."""
    at = pair.at
    while at[PAIR] < pairs.one.shape[0]:
        k = at[PAIR]
        ended = GOES_ON if at[IS_BEGUN] else _begin(pair, pairs, k, most, operations)
        if ended == GOES_ON:
            at[IS_BEGUN] = 1
            ended = _follow(pair, pairs, k, n_states)
        if ended == NO_ROOM:
            return NO_ROOM
        if ended in (DONE, STOPPED):
            _write_answers(pair, pairs, k, ended == STOPPED)
        elif ended != FAILED:
            pairs.status[k] = ended
        at[PAIR], at[IS_BEGUN] = k + 1, 0
    return DONE


@phase
def _begin(pair, pairs, k, most, operations):
    """The initial state of a pair."""
    left, right, a, b = pair.left.points, pair.right.points, pair.left.state, pair.right.state
    at, on, query, of_a, of_b = pair.at, pair.on, pair.query, pair.left.reals, pair.right.reals
    one, other = pairs.one[k], pairs.other[k]
    begin_key(pair.left, one)
    begin_key(pair.right, other)
    of_a[RATE], of_b[RATE] = left.head[one], right.head[other]
    if a[N_LOST] and (a[TIME] == NEVER or of_a[RATE] <= 0.0):
        return NO_PLACE
    if b[N_LOST] and (b[TIME] == NEVER or of_b[RATE] <= 0.0):
        return NO_PLACE
    at[N_X] = at[N_Y] = 1
    at[N_NUMBERS] = 1 if query.rules[EVERY] else min(a[N_SEGMENTS], most) + 1
    if not has_room(pair):
        return NO_ROOM
    query.others[TOTAL], query.others[UNOPENED] = b[N_SEGMENTS], pairs.unopened[k]
    query.others[BY_LABEL], query.others[BY_LABEL_END] = right.segments[other], right.segments[other + 1]
    at[NOTE] = at[NUMBER] = at[LAST] = at[X_LO] = at[X_HI] = at[SIDE] = 0
    at[ENOUGH] = NEVER if query.rules[EVERY] else most
    at[IS_CERTAIN], at[BUDGET], at[UNTIL] = 1, operations, pairs.until[k]
    pair.total[0] = 1.0
    at[TIME_0] = min(a[TIME], b[TIME])
    on[HERE] = on[ALONG_0] = 0.0
    if at[TIME_0] < NEVER:
        if a[TIME] == at[TIME_0] and left.along.shape[0]:
            on[ALONG_0] = left.along[a[NEXT]]
        elif b[TIME] == at[TIME_0] and right.along.shape[0]:
            on[ALONG_0] = right.along[b[NEXT]]
    if at[TIME_0] <= at[UNTIL]:
        if a[WAITS]:
            of_a[UP_TO] = next_place(pair, pair.left)
            border(pair.left, False, 0.0, 0.0)
        if b[WAITS]:
            of_b[UP_TO] = next_place(pair, pair.right)
            border(pair.right, False, 0.0, 0.0)
    at[IS_BEFORE_ALL] = a[OPENS_NOW] or b[OPENS_NOW]
    return GOES_ON


@long_phase
def _follow(pair, pairs, k, n_states):
    """The pass over a pair, from one recorded point or border of a cell to the next; returns how it ended.

    This is the resolution algorithm (section 3.3) with one state for all branches with the same future.
    """
    a, b, at, on = pair.left.state, pair.right.state, pair.at, pair.on
    while True:
        if a[OPENS_NOW] or b[OPENS_NOW]:
            n_x, n_y = sizes(pair)
            if n_x * n_y * at[N_NOTES] * at[N_NUMBERS] > n_states:
                return GAVE_UP
            if not has_room(pair):
                return NO_ROOM
            _begin_runs(pair, n_x, n_y)
        elif not at[IS_CERTAIN] and at[N_X] == 1 and at[N_Y] == 1:
            _settle(pair)
        if at[BUDGET] == TOO_MUCH:
            return GAVE_UP
        if at[IS_CERTAIN]:
            if at[IS_QUICK] and not (a[N_LOST] or b[N_LOST]):
                at[NOTE], at[NUMBER] = stretch(
                    pair.left, pair.right, pair.tables, at[NOTE], at[NUMBER], at[ENOUGH], at[UNTIL]
                )
            if at[NUMBER] >= at[ENOUGH]:
                return DONE
        cell = next_cell(pair)
        if cell.kind == NOTHING_LEFT:
            return DONE
        if cell.kind == NOT_KNOWN:
            return STOPPED
        if cell.kind == AGAIN:
            continue
        on[HERE] = cell.end if cell.kind == NO_CELL else pass_through(pair, cell)
        is_early = cell.is_left_over or cell.is_right_over
        if cell.kind == HEADS or at[BUDGET] == TOO_MUCH or (on[HERE] < cell.there and not is_early):
            continue
        end_runs(pair, cell)
        if is_early:
            continue
        ended = take_recorded(pair, pairs, k, cell.now)
        if ended != GOES_ON:
            return ended


@phase
def _spread_out(pair):
    """Changes from a deterministic state to masses: the one block has mass 1 at the note."""
    at, rows, labeled = pair.at, pair.rows, pair.query.rules[LABELED] == 1
    for note in range(at[N_NOTES]):
        pair.masses[at[SIDE], note * at[N_NUMBERS]] = 1.0 if note == at[NOTE] else 0.0
    pair.left.table[TOP, 0] = rows[LO, 0] = rows[HI, 0] = at[X_LO] = at[X_HI] = 0
    unfold(pair.left, 0, labeled)
    unfold(pair.right, 0, labeled)


@phase
def _begin_runs(pair, n_x, n_y):
    """Lost points become pending, with all mass where none of them has occurred."""
    a, b, at, rows, lefts = pair.left.state, pair.right.state, pair.at, pair.rows, pair.left.table
    every, labeled = pair.query.rules[EVERY] == 1, pair.query.rules[LABELED] == 1
    if at[IS_CERTAIN]:
        _spread_out(pair)
        at[IS_CERTAIN] = 0
    if b[OPENS_NOW]:
        at[N_Y] = n_y
        widen(blocks_of(pair))
        unfold(pair.right, b[N_LOST], labeled)
        b[OPENS_NOW] = b[WAITS] = 0
    if a[OPENS_NOW]:
        at[N_X] = n_x
        unfold(pair.left, a[N_LOST], labeled)
        for x in range(1, n_x):
            found = 0 if every else lefts[CLOSED, x] - lefts[CLOSED, 0]
            lefts[TOP, x] = min(lefts[TOP, 0] + found, at[N_NUMBERS] - 1)
            rows[LO, x], rows[HI, x] = NONE_LO, NONE_HI
        a[OPENS_NOW] = a[WAITS] = 0


@phase
def _settle(pair):
    """No points are pending: if only one note has mass, it is deterministic again, and the numbers are set aside."""
    at, top = pair.at, pair.left.table[TOP, 0]
    masses, n_numbers = pair.masses[at[SIDE]], at[N_NUMBERS]
    only = only_note(masses, at[N_NOTES], n_numbers, top) if pair.left.state[IS_INSIDE] else 0
    if only >= 0:
        at[LAST] = set_aside(pair.total, at[LAST], masses, only * n_numbers, top, n_numbers, pair.room)
        at[NOTE], at[IS_CERTAIN] = only, 1


@phase
def _write_answers(pair, pairs, k, is_stopped):
    """Writes the probability of a query result (section 3.2), or bounds if later points are unknown."""
    at, every, knows_left = pair.at, pair.query.rules[EVERY] == 1, pairs.knows_left[k]
    if at[IS_CERTAIN]:
        _spread_out(pair)
    ahead_of_left = _expected_ahead(pair, pair.left) if at[N_X] > 1 else 0.0
    ahead_of_right = _expected_ahead(pair, pair.right) if at[N_Y] > 1 else 0.0
    tally(
        pair.query, pair.left, pair.right, blocks_of(pair), ahead_of_left, ahead_of_right, is_stopped, knows_left,
        pair.low, pair.high,
    )  # fmt: skip
    answer(pair.total, at[LAST], pair.low, at[N_NUMBERS], at[NUMBER], every, pairs.lower[k])
    answer(pair.total, at[LAST], pair.high, at[N_NUMBERS], at[NUMBER], every, pairs.upper[k])
    if is_stopped and not knows_left and not every:
        for number in range(pairs.upper.shape[1]):
            pairs.upper[k, number] = 1.0


@phase
def _expected_ahead(pair, key):
    """The expected number of lost points until the first recorded one, if they precede it."""
    reals = key.reals
    return reals[RATE] * (reals[UP_TO] - pair.on[HERE]) if key.state[KIND] == HEAD else 0.0
