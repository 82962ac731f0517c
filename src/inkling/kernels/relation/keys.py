"""One key of a pair on its way through time: its next recorded point, and the lost ones before that."""

from __future__ import annotations

import numpy as np
from numba import njit

from inkling.kernels.relation.blocks import CLOSED, INSIDE, LABEL, TURN
from inkling.kernels.relation.cells import LEAK, STAY, STEP
from inkling.kernels.relation.rules import CLOSES, OPENS

NEXT, STOP, TIME, N_LOST, KIND, IS_INSIDE, N_CLOSED, FIRST, N_SEGMENTS, WAITS, OPENS_NOW, N_FIELDS = range(12)
"""What is noted of a key: next recorded point and where points end, its time, how many lost points come before it and
how, whether a segment is open, how many are closed, its first segment, how many it has; whether lost points are not
under way yet, and whether they come under way now."""

UP_TO, RATE, SINCE, N_REALS = range(4)
"""And: where on the axis the lost points end, at what rate they come, and since when."""

SPREAD, HEAD, TAIL = range(3)
"""Lost points lie evenly between two recorded ones, or come at a rate before the first or after the last."""

NEVER = 1 << 62

FAR = 100.0
"""Points that come at a rate have all come after twice their number and so many more units of the rate."""


@njit(cache=True, error_model="numpy")
def place_on(time, along, i, time_0, along_0):
    """Where a recorded point lies on the axis, from the first one of the pair."""
    if along.shape[0]:
        return along[i] - along_0
    return float(time[i] - time_0)


@njit(cache=True, error_model="numpy")
def begin_key(begins, segments, time, lost, key, state):
    """Before anything has come; what was lost before the first recorded point waits."""
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
    """After the next recorded point has come: the one after it, and what was lost in between."""
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
    """A point has come."""
    if turn == OPENS:
        state[IS_INSIDE] = 1
    elif turn == CLOSES:
        state[IS_INSIDE] = 0
        state[N_CLOSED] += 1


@njit(cache=True, error_model="numpy")
def label_after(label_of, state, closed, labeled):
    """The label of the segment that is open, or opens next, after so many have closed."""
    if not labeled:
        return 0
    return label_of[state[FIRST] + closed] if closed < state[N_SEGMENTS] else -1


@njit(cache=True, error_model="numpy")
def unfold(turns, label_of, state, n_lost, labeled, table):
    """How things are after each of the next lost points."""
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
    """All lost points that were under way have come."""
    state[IS_INSIDE], state[N_CLOSED], state[N_LOST] = table[INSIDE, n_lost], table[CLOSED, n_lost], 0
    unfold(turns, label_of, state, np.int64(0), labeled, table)


@njit(cache=True, error_model="numpy")
def reach(state, reals):
    """How far a rate reaches on the axis."""
    return (2.0 * state[N_LOST] + FAR) / reals[RATE]


@njit(cache=True, error_model="numpy")
def _share(reals, begin, end):
    """The part that is of what is left of a spread."""
    return 1.0 if reals[UP_TO] <= end else (end - begin) / (reals[UP_TO] - begin)


@njit(cache=True, error_model="numpy")
def weigh(state, reals, n_lost, begin, end, table):
    """Weights of the lost points in a part of the axis; returns how many come on average at most."""
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
    """Logarithm of the largest number that a part of the axis can make of 1."""
    if rest == 0:
        return 0.0
    if state[KIND] == SPREAD:
        return rest * np.log1p(_share(reals, begin, end))
    return 2.0 * reals[RATE] * (end - begin)
