"""The next cell (a part of the axis without recorded points), and the pass through it."""

from typing import NamedTuple

from inkling.kernels.phase import phase
from inkling.kernels.relation.blocks import drop_rows, narrow
from inkling.kernels.relation.cells import HEADS, LARGEST, TAILS, URN, live_rows, series, sweep, trim
from inkling.kernels.relation.keys import (
    KIND,
    N_LOST,
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
    growth,
    have_come,
    place_on,
    reach,
    weigh,
)
from inkling.kernels.relation.pair import (
    ALONG_0,
    BUDGET,
    HERE,
    IS_BEFORE_ALL,
    N_X,
    N_Y,
    SIDE,
    TIME_0,
    UNTIL,
    X_HI,
    X_LO,
    blocks_of,
)
from inkling.kernels.relation.rules import LABELED
from inkling.kernels.relation.steps import find_moves

ANY, NO_CELL, NOTHING_LEFT, NOT_KNOWN, AGAIN = range(3, 8)
"""Kinds of cells besides URN, TAILS and HEADS. ANY: not all pending points must occur in the cell. NO_CELL: none are
pending. No cell follows if no left point does (NOTHING_LEFT), if later points are unknown (NOT_KNOWN), or if lost
points must become pending first (AGAIN)."""

FEW = 64
"""Up to this number of blocks, negligible ones are not trimmed."""


class NextCell(NamedTuple):
    """The next cell, and the recorded points at its end."""

    kind: int
    now: int  # the time of the next recorded points
    there: float  # their position on the axis
    end: float  # position of the end of the cell, or of a part of it with constant rates
    is_left_over: bool  # all lost left points at a rate have occurred
    is_right_over: bool


@phase
def next_cell(pair):
    """The cell up to the next recorded point, or up to where the points at a rate start or are over."""
    at, here, a, b = pair.at, pair.on[HERE], pair.left.state, pair.right.state
    left_pending, right_pending = at[N_X] > 1, at[N_Y] > 1
    now = min(a[TIME], b[TIME])
    if at[IS_BEFORE_ALL]:
        at[IS_BEFORE_ALL] = 0
        return NextCell(HEADS, now, here, here, False, False)
    if a[NEXT] == a[STOP] and a[N_LOST] == 0:
        return NextCell(NOTHING_LEFT, now, here, here, False, False)
    if now > at[UNTIL]:
        return NextCell(NOT_KNOWN, now, here, here, False, False)
    if now == NEVER:
        return NextCell(TAILS, now, here, here, True, True)
    if not (left_pending or right_pending or a[WAITS] or b[WAITS]):
        return NextCell(NO_CELL, now, here, here, False, False)
    there = next_place(pair, pair.left) if a[TIME] == now else next_place(pair, pair.right)
    if a[TIME] == now:
        pair.left.reals[UP_TO] = there
    if b[TIME] == now:
        pair.right.reals[UP_TO] = there
    is_left_over, is_right_over = _is_over(pair.left, left_pending, here), _is_over(pair.right, right_pending, here)
    if is_left_over or is_right_over:
        return NextCell(NO_CELL, now, there, here, is_left_over, is_right_over)
    end = border(pair.right, right_pending, here, border(pair.left, left_pending, here, there))
    if a[OPENS_NOW] or b[OPENS_NOW]:
        return NextCell(AGAIN, now, there, end, False, False)
    kind = NO_CELL
    if left_pending or right_pending:
        left_ends = not left_pending or (a[KIND] == SPREAD and pair.left.reals[UP_TO] <= end)
        right_ends = not right_pending or (b[KIND] == SPREAD and pair.right.reals[UP_TO] <= end)
        kind = URN if left_ends and right_ends else ANY
    return NextCell(kind, now, there, end, False, False)


@phase
def next_place(pair, key):
    """The position of the next recorded point of a key on the axis."""
    return place_on(key.points, key.state[NEXT], pair.at[TIME_0], pair.on[ALONG_0])


@phase
def border(key, is_pending, here, end):
    """The end of the part of a cell in which the points at a rate neither start nor are over."""
    state, reals = key.state, key.reals
    if state[WAITS]:
        begins = reals[UP_TO] - reach(key)
        if begins <= here:
            state[OPENS_NOW] = 1
        else:
            end = min(end, begins)
    elif is_pending and state[KIND] == TAIL:
        ends = reals[SINCE] + reach(key)
        if ends > here:
            end = min(end, ends)
    return end


@phase
def _is_over(key, is_pending, here):
    return is_pending and key.state[KIND] == TAIL and key.reals[SINCE] + reach(key) <= here


@phase
def pass_through(pair, cell):
    """Lost points occur in a cell in any order (section 3.2); returns the position reached, maybe before its end."""
    at, here, end, moves, blocks = pair.at, pair.on[HERE], cell.end, pair.moves, blocks_of(pair)
    left, right, m_a, m_b = pair.left, pair.right, blocks.n_x - 1, blocks.n_y - 1
    find_moves(pair.query, blocks, moves)
    if cell.kind == ANY:
        while growth(left, m_a - blocks.x_lo, here, end) + growth(right, m_b, here, end) > LARGEST:
            end = here + (end - here) / 2.0
        expected = weigh(left, m_a, here, end)
        expected += weigh(right, m_b, here, end)
        kept = pair.masses[1 - at[SIDE]]
        at[BUDGET] = series(blocks, kept, left.weights, right.weights, moves, expected, at[BUDGET])
        at[SIDE] = 1 - at[SIDE]
        if blocks.n_x * blocks.n_y > FEW:
            trim(blocks_of(pair))
    else:
        at[BUDGET] = sweep(blocks, moves, cell.kind, left.reals[RATE], right.reals[RATE], at[BUDGET])
    at[X_LO], at[X_HI] = live_rows(pair.rows, blocks.n_x)
    return end


@phase
def end_runs(pair, cell):
    """All pending points before the next recorded one of their key have occurred, and those whose rate is over."""
    at, labeled = pair.at, pair.query.rules[LABELED] == 1
    is_early = cell.is_left_over or cell.is_right_over
    if at[N_X] > 1 and (cell.is_left_over or (pair.left.state[TIME] == cell.now and not is_early)):
        drop_rows(blocks_of(pair))
        have_come(pair.left, at[N_X] - 1, labeled)
        at[N_X], at[X_LO], at[X_HI] = 1, 0, 0
    if at[N_Y] > 1 and (cell.is_right_over or (pair.right.state[TIME] == cell.now and not is_early)):
        narrow(blocks_of(pair))
        have_come(pair.right, at[N_Y] - 1, labeled)
        at[N_Y] = 1
        at[X_LO], at[X_HI] = live_rows(pair.rows, at[N_X])
