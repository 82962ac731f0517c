"""How many segments share time if lost points have finite sets of possible times: masses, by a sweep over these."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from inkling.kernels.joins.segments import first_from


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
            _left_has_come(masses, n_lost)
            at, n_lost = at + n_lost, 0
        if other_comes:
            _right_has_come(masses, n_other_lost)
            other_at, n_other_lost = other_at + n_other_lost, 0
        turn = left.turn[at] if comes else 0
        other_turn = right.turn[other_at] if other_comes else 0
        if other_turn == 1:
            _right_opens(masses, inside, at - begin, n_lost)
        if other_comes and other_turn != -1:
            other_at += 1
        if turn == 1:
            _left_opens(masses, other_inside, other_at - other_begin, n_other_lost)
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
def _left_has_come(masses, n_lost):
    """Worlds in which lost points before a recorded one found no place are none."""
    _, n_others, n_counts, _ = masses.shape
    for other_come in range(n_others):
        for count in range(n_counts):
            for met in range(2):
                last = masses[n_lost, other_come, count, met]
                for come in range(n_lost + 1):
                    masses[come, other_come, count, met] = 0.0
                masses[0, other_come, count, met] = last


@njit(cache=True)
def _right_has_come(masses, n_other_lost):
    n_ones, _, n_counts, _ = masses.shape
    for come in range(n_ones):
        for count in range(n_counts):
            for met in range(2):
                last = masses[come, n_other_lost, count, met]
                for other_come in range(n_other_lost + 1):
                    masses[come, other_come, count, met] = 0.0
                masses[come, 0, count, met] = last


@njit(cache=True)
def _right_opens(masses, inside, place, n_lost):
    """The left segment that is open, if it is, has met a right one."""
    for come in range(n_lost + 1):
        if inside[place + come]:
            for other_come in range(masses.shape[1]):
                _meet(masses, come, other_come)


@njit(cache=True)
def _left_opens(masses, other_inside, other_place, n_other_lost):
    for other_come in range(n_other_lost + 1):
        if other_inside[other_place + other_come]:
            for come in range(masses.shape[0]):
                _meet(masses, come, other_come)


@njit(cache=True)
def _meet(masses, come, other_come):
    for count in range(masses.shape[2]):
        masses[come, other_come, count, 1] += masses[come, other_come, count, 0]
        masses[come, other_come, count, 0] = 0.0


@njit(cache=True)
def _left_closes(masses):
    n_ones, n_others, n_counts, _ = masses.shape
    for come in range(n_ones):
        for other_come in range(n_others):
            for count in range(n_counts - 1, -1, -1):
                met = masses[come, other_come, count, 1]
                masses[come, other_come, count, 1] = 0.0
                masses[come, other_come, min(count + 1, n_counts - 1), 0] += met


@njit(cache=True)
def _between(left, right, at, n_lost, other_at, n_other_lost, lo, hi, inside, other_inside, masses, strict):
    """Lost points of the open runs come at their possible times from `lo` to `hi`."""
    time = lo - 1
    while True:
        time = min(
            _possible_after(left, at, n_lost, time, hi), _possible_after(right, other_at, n_other_lost, time, hi)
        )
        if time > hi:
            break
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
def _possible_after(points, at, n_lost, time, hi):
    """The first possible time of lost points after the given one, or one after `hi`."""
    first = hi + 1
    for lost in range(at, at + n_lost):
        place = first_from(points.possible, time + 1, points.choices[lost], points.choices[lost + 1])
        if place < points.choices[lost + 1]:
            first = min(first, points.possible[place])
    return first


@njit(cache=True)
def _weights(points, at, n_lost, time):
    """Of each lost point: one part of its possible times, if this is one of them."""
    weight = np.zeros(n_lost)
    for lost in range(n_lost):
        lo, hi = points.choices[at + lost], points.choices[at + lost + 1]
        place = first_from(points.possible, time, lo, hi)
        if place < hi and points.possible[place] == time:
            weight[lost] = 1.0 / (hi - lo)
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
