"""The state of one key of a pair during the pass: its next recorded point, and the lost points before it."""

from __future__ import annotations

import numpy as np
from numba import njit

from inkling.kernels.relation.blocks import CLOSED, INSIDE, LABEL, TURN
from inkling.kernels.relation.cells import LEAK, STAY, STEP
from inkling.kernels.relation.rules import CLOSES, OPENS

NEXT, STOP, TIME, N_LOST, KIND, IS_INSIDE, N_CLOSED, FIRST, N_SEGMENTS, WAITS, OPENS_NOW, N_FIELDS = range(12)
"""Fields of a key: the next recorded point, the end of its points, the time of the next recorded point, the number and
kind of lost points before it, whether a segment is open, the number of closed ones, the first segment, the number of
segments, whether lost points at a rate are not pending yet, and whether lost points become pending now."""

UP_TO, RATE, SINCE, N_REALS = range(4)
"""More fields: the end of the lost points on the axis, their rate (per unit of the axis), and their start."""

SPREAD, HEAD, TAIL = range(3)
"""Kinds of lost points: uniform between two recorded points, or at a rate before the first or after the last one."""

NEVER = 1 << 62

FAR = 100.0
"""Lost points at a rate are assumed over after the time in which twice their number plus FAR are expected."""


@njit(cache=True, error_model="numpy")
def place_on(time, along, i, time_0, along_0):
    """The position of a recorded point on the axis, relative to the first one of the pair."""
    if along.shape[0]:
        return along[i] - along_0
    return float(time[i] - time_0)


@njit(cache=True, error_model="numpy")
def begin_key(begins, segments, time, lost, key, state):
    """The initial state of a key; points lost before the first recorded one are not pending yet."""
    first, stop = begins[key], begins[key + 1]
    state[STOP] = stop
    state[IS_INSIDE] = state[N_CLOSED] = state[OPENS_NOW] = 0
    state[FIRST] = segments[key]
    state[N_SEGMENTS] = segments[key + 1] - segments[key]
    i = first
    while i < stop and lost[i]:
        i += 1
    state[NEXT], state[N_LOST], state[KIND] = i, i - first, HEAD
    state[WAITS] = 1 if i > first else 0
    state[TIME] = time[i] if i < stop else NEVER


@njit(cache=True, error_model="numpy")
def go_on(time, along, lost, tail, state, reals, time_0, along_0):
    """Advances to the following recorded point, and the points lost before it."""
    here, stop = state[NEXT], state[STOP]
    i = here + 1
    if i < stop and not lost[i]:
        state[NEXT], state[TIME] = i, time[i]
        return
    while i < stop and lost[i]:
        i += 1
    state[NEXT], state[N_LOST] = i, i - here - 1
    state[TIME] = time[i] if i < stop else NEVER
    if state[N_LOST]:
        reals[SINCE] = place_on(time, along, here, time_0, along_0)
        if i < stop:
            state[KIND], state[OPENS_NOW] = SPREAD, 1
            reals[UP_TO] = place_on(time, along, i, time_0, along_0)
        else:
            reals[RATE] = tail
            state[KIND], state[OPENS_NOW] = TAIL, 1 if tail > 0.0 else 0


@njit(cache=True, error_model="numpy")
def turned(state, turn):
    """Applies a point to the counts of segments."""
    if turn == OPENS:
        state[IS_INSIDE] = 1
    elif turn == CLOSES:
        state[IS_INSIDE] = 0
        state[N_CLOSED] += 1


@njit(cache=True, error_model="numpy")
def label_after(label_of, state, closed, labeled):
    """The label of the open or next segment after `closed` segments; -1 if there is none."""
    if not labeled:
        return 0
    return label_of[state[FIRST] + closed] if closed < state[N_SEGMENTS] else -1


@njit(cache=True, error_model="numpy")
def unfold(turns, label_of, state, n_lost, labeled, table):
    """Fills the table by lost points: its state after each of them."""
    inside, closed = state[IS_INSIDE], state[N_CLOSED]
    at = state[NEXT] - state[N_LOST]
    for x in range(n_lost + 1):
        table[INSIDE, x], table[CLOSED, x] = inside, closed
        table[LABEL, x] = label_after(label_of, state, closed, labeled)
        if x < n_lost:
            turn = turns[at + x]
            table[TURN, x] = turn
            if turn == OPENS:
                inside = 1
            elif turn == CLOSES:
                inside = 0
                closed += 1


@njit(cache=True, error_model="numpy")
def have_come(turns, label_of, state, n_lost, labeled, table):
    """Applies all pending lost points."""
    state[IS_INSIDE], state[N_CLOSED], state[N_LOST] = table[INSIDE, n_lost], table[CLOSED, n_lost], 0
    unfold(turns, label_of, state, np.int64(0), labeled, table)


@njit(cache=True, error_model="numpy")
def reach(state, reals):
    """The length on the axis of lost points at a rate."""
    return (2.0 * state[N_LOST] + FAR) / reals[RATE]


@njit(cache=True, error_model="numpy")
def _share(reals, begin, end):
    """The share of a part of the axis in the remaining time of uniform lost points."""
    return 1.0 if reals[UP_TO] <= end else (end - begin) / (reals[UP_TO] - begin)


@njit(cache=True, error_model="numpy")
def weigh(state, reals, n_lost, begin, end, table):
    """Fills the weights of lost points in a part of the axis; returns a bound on their mean number."""
    if n_lost == 0:
        table[STEP, 0], table[STAY, 0], table[LEAK, 0] = 0.0, 1.0, 0.0
        return 0.0
    if state[KIND] == SPREAD:
        share = _share(reals, begin, end)
        stay = 1.0
        for x in range(n_lost, -1, -1):
            table[STEP, x], table[STAY, x], table[LEAK, x] = (n_lost - x) * share, stay, 0.0
            stay *= 1.0 - share
        return n_lost * share
    weight = reals[RATE] * (end - begin)
    is_over = state[KIND] == HEAD and end >= reals[UP_TO]
    for x in range(n_lost + 1):
        table[STEP, x] = weight if x < n_lost else 0.0
        table[STAY, x] = 0.0 if is_over and x < n_lost else 1.0
        runs = x > 0 if state[KIND] == HEAD else x < n_lost
        table[LEAK, x] = weight if runs else 0.0
    return 2.0 * weight


@njit(cache=True, error_model="numpy")
def growth(state, reals, rest, begin, end):
    """Logarithm of the largest factor by which a part of the axis can multiply a mass."""
    if rest == 0:
        return 0.0
    if state[KIND] == SPREAD:
        return rest * np.log1p(_share(reals, begin, end))
    return 2.0 * reals[RATE] * (end - begin)
