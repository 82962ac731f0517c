"""Index-nested-loop joins of partial matches with candidates sorted by (group, start).

A time and its place are compared as a pair. Each partial match has a group, a strict lower bound and an inclusive upper
bound on the start of candidates. Conditions are bytecode (`vm`), which is compiled into each of these loops.
"""

import numpy as np
from numba import njit

from inkling.kernels.joins.vm import run

FAR = np.int64(2**62)


@njit(cache=True)
def _first_after(start, place, low, high, time, at):
    """First position in [low, high) whose (start, place) is greater than (time, at)."""
    while low < high:
        middle = (low + high) >> 1
        if start[middle] > time or (start[middle] == time and place[middle] > at):
            high = middle
        else:
            low = middle + 1
    return low


@njit(cache=True)
def _first_near(start, place, low, high, guess, time, at):
    """The same as `_first_after`, sought from a position on in steps that double."""
    step = 1
    if guess > low and (start[guess - 1] > time or (start[guess - 1] == time and place[guess - 1] > at)):
        high = guess - 1
        while high - step > low and (
            start[high - step] > time or (start[high - step] == time and place[high - step] > at)
        ):
            high -= step
            step *= 2
        low = max(low, high - step)
    else:
        low = guess
        while low + step < high and (
            start[low + step] < time or (start[low + step] == time and place[low + step] <= at)
        ):
            low += step
            step *= 2
        high = min(high, low + step)
    return _first_after(start, place, low, high, time, at)


@njit(cache=True)
def ranges(group, after, after_place, until, until_place, offsets, start, place):
    """Candidate positions [first, last) of each partial match; a negative group has none."""
    n = group.shape[0]
    first = np.zeros(n, np.int64)
    last = np.zeros(n, np.int64)
    for i in range(n):
        if group[i] < 0:
            continue
        low, high = offsets[group[i]], offsets[group[i] + 1]
        if i and group[i] == group[i - 1]:  # partial matches mostly come in the order of time
            first[i] = _first_near(start, place, low, high, first[i - 1], after[i], after_place[i])
            last[i] = max(first[i], _first_near(start, place, low, high, last[i - 1], until[i], until_place[i]))
        else:
            first[i] = _first_after(start, place, low, high, after[i], after_place[i])
            last[i] = max(first[i], _first_after(start, place, low, high, until[i], until_place[i]))
    return first, last


@njit(cache=True)
def _grown(array):
    wider = np.empty(2 * array.shape[0] + 16, np.int64)
    wider[: array.shape[0]] = array
    return wider


@njit(cache=True)
def pair_all(first, last, rows, registers, moments, code, constants, columns):
    """Every (partial match, candidate position) in range that passes the condition."""
    left = np.empty(first.shape[0] + 16, np.int64)
    right = np.empty(first.shape[0] + 16, np.int64)
    stack = np.empty(code.shape[0] + 1, np.float64)
    unconditional = code.shape[0] == 0
    n = 0
    for i in range(first.shape[0]):
        held, when = registers[i], moments[i]
        for j in range(first[i], last[i]):
            if unconditional or run(code, constants, columns, rows[j], held, when, stack) == 1.0:
                if n == left.shape[0]:
                    left, right = _grown(left), _grown(right)
                left[n] = i
                right[n] = j
                n += 1
    return left[:n], right[:n]


@njit(cache=True)
def pair_next(first, last, rows, start, place, end, end_place, registers, moments, code, constants, columns):
    """Like `pair_all`, but without candidates that start after another passing candidate has ended."""
    left = np.empty(first.shape[0] + 16, np.int64)
    right = np.empty(first.shape[0] + 16, np.int64)
    stack = np.empty(code.shape[0] + 1, np.float64)
    unconditional = code.shape[0] == 0
    n = 0
    for i in range(first.shape[0]):
        bound, bound_place = FAR, FAR
        held, when = registers[i], moments[i]
        for j in range(first[i], last[i]):
            if start[j] > bound or (start[j] == bound and place[j] > bound_place):
                break
            if unconditional or run(code, constants, columns, rows[j], held, when, stack) == 1.0:
                if end[j] < bound or (end[j] == bound and end_place[j] < bound_place):
                    bound, bound_place = end[j], end_place[j]
                if n == left.shape[0]:
                    left, right = _grown(left), _grown(right)
                left[n] = i
                right[n] = j
                n += 1
    kept = 0
    i = 0
    while i < n:
        j = i
        bound, bound_place = FAR, FAR
        while j < n and left[j] == left[i]:
            k = right[j]
            if end[k] < bound or (end[k] == bound and end_place[k] < bound_place):
                bound, bound_place = end[k], end_place[k]
            j += 1
        for k in range(i, j):
            r = right[k]
            if start[r] < bound or (start[r] == bound and place[r] <= bound_place):
                left[kept] = left[k]
                right[kept] = r
                kept += 1
        i = j
    return left[:kept], right[:kept]


@njit(cache=True)
def any_in_range(first, last, end, end_place, before, before_place, rows, registers, moments, code, constants, columns):
    """Whether a passing candidate ends before (before, before_place), per partial match."""
    found = np.zeros(first.shape[0], np.bool_)
    stack = np.empty(code.shape[0] + 1, np.float64)
    unconditional = code.shape[0] == 0
    for i in range(first.shape[0]):
        held, when = registers[i], moments[i]
        for j in range(first[i], last[i]):
            if end[j] > before[i] or (end[j] == before[i] and end_place[j] >= before_place[i]):
                continue
            if unconditional or run(code, constants, columns, rows[j], held, when, stack) == 1.0:
                found[i] = True
                break
    return found


@njit(cache=True)
def smallest_end_from(offsets, end, end_place):
    """Per position of a list sorted by (group, start): the smallest (end, place) from there to the group's end."""
    least = np.empty(end.shape[0], np.int64)
    least_place = np.empty(end.shape[0], np.int64)
    for g in range(offsets.shape[0] - 1):
        bound, bound_place = FAR, FAR
        for j in range(offsets[g + 1] - 1, offsets[g] - 1, -1):
            if end[j] < bound or (end[j] == bound and end_place[j] < bound_place):
                bound, bound_place = end[j], end_place[j]
            least[j], least_place[j] = bound, bound_place
    return least, least_place


@njit(cache=True)
def earliest_end_of(origin, n_origins, end, end_place):
    """Per origin, the smallest (end, place) among its occurrences."""
    bound = np.full(n_origins, FAR)
    bound_place = np.full(n_origins, FAR)
    for i in range(origin.shape[0]):
        o = origin[i]
        if end[i] < bound[o] or (end[i] == bound[o] and end_place[i] < bound_place[o]):
            bound[o], bound_place[o] = end[i], end_place[i]
    return bound, bound_place


@njit(cache=True)
def count_between(
    key, start, start_place, end, end_place, offsets, scope_start, scope_place, scope_end, scope_end_place
):
    """The number of events of the scope inside each closed interval; the scope is sorted by (key, start)."""
    count = np.zeros(key.shape[0], np.int64)
    for i in range(key.shape[0]):
        low = _first_after(scope_start, scope_place, offsets[key[i]], offsets[key[i] + 1], start[i], start_place[i] - 1)
        for j in range(low, offsets[key[i] + 1]):
            if scope_start[j] > end[i]:
                break
            if scope_end[j] < end[i] or (scope_end[j] == end[i] and scope_end_place[j] <= end_place[i]):
                count[i] += 1
    return count
