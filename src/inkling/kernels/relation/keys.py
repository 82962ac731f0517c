"""The state of one key of a pair during the pass: its next recorded point, and the lost points before it."""

from typing import NamedTuple

import numpy as np

from inkling.kernels.phase import phase
from inkling.kernels.relation.blocks import CLOSED, INSIDE, LABEL, TURN
from inkling.kernels.relation.cells import LEAK, STAY, STEP
from inkling.kernels.relation.rules import CLOSES, OPENS

NEXT, STOP, TIME, N_LOST, KIND, IS_INSIDE, N_CLOSED, FIRST, N_SEGMENTS, WAITS, OPENS_NOW, N_FIELDS = range(12)
"""State of a key: the next recorded point, the end of its points, the time of the next recorded point, the number and
kind of lost points before it, whether a segment is open, the number of closed ones, the first segment, the number of
segments, whether lost points at a rate are not pending yet, and whether lost points become pending now."""

UP_TO, RATE, SINCE, N_REALS = range(4)
"""Also real numbers: the end of the lost points on the axis, their rate (per unit of the axis), and their start."""

SPREAD, HEAD, TAIL = range(3)
"""Kinds of lost points: uniform between two recorded points, or at a rate before the first or after the last one."""

NEVER = 1 << 62

FAR = 100.0
"""Lost points at a rate are assumed over after the time in which twice their number plus FAR are expected."""


class Key(NamedTuple):
    """One key of a pair: the points of all keys, its state, and tables by the lost points that have occurred."""

    points: tuple[np.ndarray, ...]  # `PointLists`
    state: np.ndarray  # [NEXT … OPENS_NOW]
    reals: np.ndarray  # [UP_TO … SINCE]: hi, λ and lo of the lost points
    table: np.ndarray  # [TURN … TOP, x]
    weights: np.ndarray  # [STEP … LEAK, x]


@phase
def place_on(points, i, time_0, along_0):
    """The position of a recorded point on the axis, relative to the first one of the pair."""
    if points.along.shape[0]:
        return points.along[i] - along_0
    return float(points.time[i] - time_0)


@phase
def begin_key(key, k):
    """The initial state of a key; points lost before the first recorded one are not pending yet."""
    points, state = key.points, key.state
    first, stop = points.begins[k], points.begins[k + 1]
    state[STOP] = stop
    state[IS_INSIDE] = state[N_CLOSED] = state[OPENS_NOW] = 0
    state[FIRST] = points.segments[k]
    state[N_SEGMENTS] = points.segments[k + 1] - points.segments[k]
    i = first
    while i < stop and points.lost[i]:
        i += 1
    state[NEXT], state[N_LOST], state[KIND] = i, i - first, HEAD
    state[WAITS] = 1 if i > first else 0
    state[TIME] = points.time[i] if i < stop else NEVER


@phase
def go_on(key, tail, time_0, along_0):
    """Advances to the following recorded point, and the points lost before it."""
    points, state, reals = key.points, key.state, key.reals
    here, stop = state[NEXT], state[STOP]
    i = here + 1
    if i < stop and not points.lost[i]:
        state[NEXT], state[TIME] = i, points.time[i]
        return
    while i < stop and points.lost[i]:
        i += 1
    state[NEXT], state[N_LOST] = i, i - here - 1
    state[TIME] = points.time[i] if i < stop else NEVER
    if state[N_LOST]:
        reals[SINCE] = place_on(points, here, time_0, along_0)
        if i < stop:
            state[KIND], state[OPENS_NOW] = SPREAD, 1
            reals[UP_TO] = place_on(points, i, time_0, along_0)
        else:
            reals[RATE] = tail
            state[KIND], state[OPENS_NOW] = TAIL, 1 if tail > 0.0 else 0


@phase
def turned(state, turn):
    """Applies a point to the counts of segments."""
    if turn == OPENS:
        state[IS_INSIDE] = 1
    elif turn == CLOSES:
        state[IS_INSIDE] = 0
        state[N_CLOSED] += 1


@phase
def label_after(key, closed, labeled):
    """The label of the open or next segment after `closed` segments; -1 if there is none."""
    if not labeled:
        return 0
    return key.points.label[key.state[FIRST] + closed] if closed < key.state[N_SEGMENTS] else -1


@phase
def unfold(key, n_lost, labeled):
    """Fills the table by lost points: the state of the key after each of them."""
    state, turns, table = key.state, key.points.turn, key.table
    inside, closed = state[IS_INSIDE], state[N_CLOSED]
    at = state[NEXT] - state[N_LOST]
    for x in range(n_lost + 1):
        table[INSIDE, x], table[CLOSED, x] = inside, closed
        table[LABEL, x] = label_after(key, closed, labeled)
        if x < n_lost:
            turn = turns[at + x]
            table[TURN, x] = turn
            if turn == OPENS:
                inside = 1
            elif turn == CLOSES:
                inside = 0
                closed += 1


@phase
def have_come(key, n_lost, labeled):
    """Applies all pending lost points."""
    state, table = key.state, key.table
    state[IS_INSIDE], state[N_CLOSED], state[N_LOST] = table[INSIDE, n_lost], table[CLOSED, n_lost], 0
    unfold(key, 0, labeled)


@phase
def reach(key):
    """The length on the axis of lost points at a rate."""
    return (2.0 * key.state[N_LOST] + FAR) / key.reals[RATE]


@phase
def _share(reals, begin, end):
    """The share of a part of the axis in the remaining time of uniform lost points."""
    return 1.0 if reals[UP_TO] <= end else (end - begin) / (reals[UP_TO] - begin)


@phase
def weigh(key, n_lost, begin, end):
    """Fills the weights of lost points in a part of the axis; returns a bound on their mean number."""
    state, reals, table = key.state, key.reals, key.weights
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


@phase
def growth(key, rest, begin, end):
    """Logarithm of the largest factor by which a part of the axis can multiply a mass."""
    state, reals = key.state, key.reals
    if rest == 0:
        return 0.0
    if state[KIND] == SPREAD:
        return rest * np.log1p(_share(reals, begin, end))
    return 2.0 * reals[RATE] * (end - begin)
