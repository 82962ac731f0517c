"""How many segments share time if lost points have finite sets of possible times: masses, by a sweep over these."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit


class Points(NamedTuple):
    """Of many keys, in order; with the possible times of each lost point, none of a recorded one."""

    begins: np.ndarray
    time: np.ndarray
    lost: np.ndarray
    turn: np.ndarray
    choices: np.ndarray  # possible times of point p are possible[choices[p]] … possible[choices[p + 1] - 1], in order
    possible: np.ndarray


@njit(cache=True)
def sharing_masses(left, right, ones, others, most, strict):
    """For each pair, the mass of worlds in which 0, 1, … left segments touch a right one; the last holds all above."""
    found = np.zeros((len(ones), most + 1))
    for pair in range(len(ones)):
        one, other = ones[pair], others[pair]
        inside, other_inside = _inside(left, one), _inside(right, other)
        longest, other_longest = _longest_run(left, one), _longest_run(right, other)
        masses = np.zeros((longest + 1, other_longest + 1, most + 1, 2))
        masses[0, 0, 0, 0] = 1.0
        _sweep(left, right, one, other, inside, other_inside, masses, strict)
        for count in range(most + 1):
            found[pair, count] = masses[0, 0, count, 0]
    return found


@njit(cache=True)
def _inside(points, key):
    """For each point of a key, whether a segment is open before it; and after the last one."""
    first, stop = points.begins[key], points.begins[key + 1]
    inside = np.zeros(stop - first + 1, np.bool_)
    for point in range(first, stop):
        turn = points.turn[point]
        inside[point - first + 1] = inside[point - first] if turn == 0 else turn == 1
    return inside


@njit(cache=True)
def _longest_run(points, key):
    longest, length = 0, 0
    for point in range(points.begins[key], points.begins[key + 1]):
        length = length + 1 if points.lost[point] else 0
        longest = max(longest, length)
    return longest


@njit(cache=True)
def _run_length(points, point, stop):
    length = 0
    while point + length < stop and points.lost[point + length]:
        length += 1
    return length


@njit(cache=True)
def _sweep(left, right, one, other, inside, other_inside, masses, strict):
    """Recorded points of both keys in the order of time; between them, lost ones at their possible times.

    Masses are by how many points of the open run of either key have come, by the count, and by whether the open left
    segment has met a right one.
    """
    begin, stop = left.begins[one], left.begins[one + 1]
    other_begin, other_stop = right.begins[other], right.begins[other + 1]
    at, other_at, n_lost, n_other_lost = begin, other_begin, 0, 0
    while at + n_lost < stop or other_at + n_other_lost < other_stop:
        now = _next_time(left, at + n_lost, stop, right, other_at + n_other_lost, other_stop)
        comes = at + n_lost < stop and left.time[at + n_lost] == now
        other_comes = other_at + n_other_lost < other_stop and right.time[other_at + n_other_lost] == now
        if comes:
            _all_have_come(masses, n_lost)
            at, n_lost = at + n_lost, 0
        if other_comes:
            _all_have_come(masses.transpose(1, 0, 2, 3), n_other_lost)
            other_at, n_other_lost = other_at + n_other_lost, 0
        turn = left.turn[at] if comes else 0
        other_turn = right.turn[other_at] if other_comes else 0
        if other_turn == 1:
            _right_opens(masses, inside[at - begin :], n_lost)
        if other_comes and other_turn != -1:
            other_at += 1
        if turn == 1:
            _left_opens(masses, other_inside[other_at - other_begin :], n_other_lost)
        if turn == -1:
            _left_closes(masses)
        if comes:
            at += 1
            n_lost = _run_length(left, at, stop)
        if other_turn == -1:
            other_at += 1
        if other_comes:
            n_other_lost = _run_length(right, other_at, other_stop)
        if n_lost or n_other_lost:
            later = _next_time(left, at + n_lost, stop, right, other_at + n_other_lost, other_stop)
            run, other_run = inside[at - begin :], other_inside[other_at - other_begin :]
            _between(left, right, at, n_lost, other_at, n_other_lost, now, later, run, other_run, masses, strict)


@njit(cache=True)
def _next_time(left, at, stop, right, other_at, other_stop):
    if at < stop and other_at < other_stop:
        return min(left.time[at], right.time[other_at])
    return left.time[at] if at < stop else right.time[other_at]


@njit(cache=True)
def _all_have_come(masses, n_lost):
    """Worlds in which lost points before a recorded one found no place are none."""
    if n_lost:
        masses[0] = masses[n_lost]
        masses[1 : n_lost + 1] = 0.0


@njit(cache=True)
def _right_opens(masses, inside, n_lost):
    for come in range(n_lost + 1):
        if inside[come]:
            masses[come, :, :, 1] += masses[come, :, :, 0]
            masses[come, :, :, 0] = 0.0


@njit(cache=True)
def _left_opens(masses, other_inside, n_other_lost):
    for come in range(n_other_lost + 1):
        if other_inside[come]:
            masses[:, come, :, 1] += masses[:, come, :, 0]
            masses[:, come, :, 0] = 0.0


@njit(cache=True)
def _left_closes(masses):
    most = masses.shape[2] - 1
    masses[:, :, most, 0] += masses[:, :, most, 1]
    for count in range(most - 1, -1, -1):
        masses[:, :, count + 1, 0] += masses[:, :, count, 1]
    masses[:, :, :, 1] = 0.0


@njit(cache=True)
def _between(left, right, at, n_lost, other_at, n_other_lost, lo, hi, inside, other_inside, masses, strict):
    """Lost points of the open runs come at their possible times from `lo` to `hi`."""
    possible = _possible_between(left, at, n_lost, lo, hi)
    times = np.concatenate((possible, _possible_between(right, other_at, n_other_lost, lo, hi)))
    for time in np.unique(times):
        weight, other_weight = _weights(left, at, n_lost, time), _weights(right, other_at, n_other_lost, time)
        for step in range((n_lost + 1) * (n_other_lost + 1)):
            state = (n_lost + 1) * (n_other_lost + 1) - 1 - step if strict else step
            come, other_come = state // (n_other_lost + 1), state % (n_other_lost + 1)
            if come < n_lost and weight[come]:
                _left_step(masses, come, other_come, left.turn[at + come], other_inside[other_come], weight[come])
            if other_come < n_other_lost and other_weight[other_come]:
                meets = right.turn[other_at + other_come] == 1 and inside[come]
                _right_step(masses, come, other_come, meets, other_weight[other_come])


@njit(cache=True)
def _possible_between(points, at, n_lost, lo, hi):
    some = points.possible[points.choices[at] : points.choices[at + n_lost]]
    return some[(some >= lo) & (some <= hi)]


@njit(cache=True)
def _weights(points, at, n_lost, time):
    """Of each lost point: one part of its possible times, if this is one of them."""
    weight = np.zeros(n_lost)
    for lost in range(n_lost):
        some = points.possible[points.choices[at + lost] : points.choices[at + lost + 1]]
        place = np.searchsorted(some, time)
        if place < len(some) and some[place] == time:
            weight[lost] = 1.0 / len(some)
    return weight


@njit(cache=True)
def _left_step(masses, come, other_come, turn, meets, weight):
    most = masses.shape[2] - 1
    for count in range(most, -1, -1):
        apart, met = weight * masses[come, other_come, count, 0], weight * masses[come, other_come, count, 1]
        if turn == -1:
            masses[come + 1, other_come, min(count + 1, most), 0] += met
            masses[come + 1, other_come, count, 0] += apart
        elif turn == 1 and meets:
            masses[come + 1, other_come, count, 1] += apart + met
        else:
            masses[come + 1, other_come, count, 0] += apart
            masses[come + 1, other_come, count, 1] += met


@njit(cache=True)
def _right_step(masses, come, other_come, meets, weight):
    for count in range(masses.shape[2]):
        apart, met = weight * masses[come, other_come, count, 0], weight * masses[come, other_come, count, 1]
        masses[come, other_come + 1, count, 1] += met
        masses[come, other_come + 1, count, int(meets)] += apart
