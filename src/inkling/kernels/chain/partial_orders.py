"""Probabilities of partial orders of events with imprecise times: a bounded enumeration of their own ticks.

Zhang, Diao, Immerman: Recognizing Patterns in Streams with Imprecise Timestamps, PVLDB 2010, section 3.3: the
confidence of a match is the sum over the ticks of its events. Differences of times have least values (a system of
difference constraints), so the ticks that are left to an event are an interval, and the last event needs no loop.
"""

import numpy as np
from numba import njit

from inkling.kernels.chain.bounds import FAR


@njit(cache=True, nogil=True)
def in_partial_orders(rows, offsets, lo, hi, apart, gapless, ticks, most_steps):
    """Per match: its probability, its first and last tick, whether it is certain, and whether it was computed.

    `rows[m, i]` is the event in place i of match m. It holds if one of its systems, `offsets[m]` to
    `offsets[m + 1] - 1`, does: each place i of system s within `lo[s, i]` and `hi[s, i]`, and each place j at least
    `apart[s, i, j]` after place i. Systems are closed: limits that follow from others are there. An event in two places
    has one tick. Example: a in [1, 3] and b in [2, 4], at most one tick apart: 6 of 9 cases.
    """
    n, k = rows.shape
    lower, upper, at, mass, cum_at, cum = ticks.lower, ticks.upper, ticks.at, ticks.mass, ticks.cum_at, ticks.cum
    zero = mass[0] * 0
    chances = np.zeros(n, mass.dtype)
    first, last = np.full(n, FAR), np.full(n, -FAR)
    certain, found = np.zeros(n, np.bool_), np.ones(n, np.bool_)
    most = 1
    for m in range(n):
        most = max(most, offsets[m + 1] - offsets[m])
    begin, end = np.zeros((k, most), np.int64), np.zeros((k, most), np.int64)
    alive = np.zeros((k + 1, most), np.bool_)
    tick, stop = np.zeros(k, np.int64), np.zeros(k, np.int64)
    weight = np.zeros(k + 1, mass.dtype)
    tied, order = np.full(k, -1), np.arange(k)
    for m in range(n):
        s0, many = offsets[m], offsets[m + 1] - offsets[m]
        any_tied = _tied(rows[m], tied)
        _widest_last(lo, hi, s0, many, any_tied, order)
        if _n_steps(lo, hi, s0, many, order) > most_steps:
            found[m] = False
            continue
        whole = True
        for i in range(k):
            whole = whole and gapless[rows[m, i]]
        if many == 1:
            certain[m] = _is_certain(s0, rows[m], tied, lo, hi, apart, lower, upper)
        lost = many == 1
        weight[0] = zero + 1
        for s in range(many):
            alive[0, s] = True
        if many == 1 and whole:
            for i in range(k):
                first[m], last[m] = min(first[m], lo[s0, i]), max(last[m], hi[s0, i])
        d = 0
        lost = _open(d, order, tied, s0, many, alive, tick, stop, begin, end, lo, hi, apart, rows[m], ticks) or lost
        while d >= 0:
            x, place = rows[m, order[d]], order[d]
            if tick[place] > stop[d]:
                d -= 1
                if d >= 0:
                    tick[order[d]] += 1
                continue
            t = tick[place]
            one = zero + 1
            if tied[place] < 0:
                one = mass[at[x] + t - lower[x]]
            if d == k - 1 and many == 1 and whole and tied[place] < 0:
                base = cum_at[x] - lower[x]
                chances[m] += weight[d] * (cum[base + stop[d] + 1] - cum[base + t])
                tick[place] = stop[d] + 1
                continue
            if one == 0:
                tick[place] += 1
                continue
            holds = False
            for s in range(many):
                alive[d + 1, s] = alive[d, s] and begin[d, s] <= t and t <= end[d, s]
                holds = holds or alive[d + 1, s]
            if not holds:
                lost = True
                tick[place] += 1
                continue
            if d == k - 1:
                chances[m] += weight[d] * one
                for i in range(k):
                    first[m], last[m] = min(first[m], tick[i]), max(last[m], tick[i])
                tick[place] += 1
                continue
            weight[d + 1] = weight[d] * one
            d += 1
            lost = _open(d, order, tied, s0, many, alive, tick, stop, begin, end, lo, hi, apart, rows[m], ticks) or lost
        certain[m] = certain[m] or not lost
    return chances, first, last, certain, found


@njit(cache=True, nogil=True)
def _tied(row, tied):
    """Sets, per place, the first place with the same event, or -1; returns whether there is one."""
    found = False
    for i in range(row.shape[0]):
        tied[i] = -1
        for j in range(i):
            if row[j] == row[i] and tied[i] < 0:
                tied[i] = j
                found = True
    return found


@njit(cache=True, nogil=True)
def _widest_last(lo, hi, s0, many, any_tied, order):
    """The order in which places are filled: the one with the most ticks last, where no two places are tied."""
    k = order.shape[0]
    widest, width = k - 1, -1
    for i in range(k):
        order[i] = i
        if many == 1 and not any_tied and hi[s0, i] - lo[s0, i] > width:
            widest, width = i, hi[s0, i] - lo[s0, i]
    for d in range(widest, k - 1):
        order[d] = d + 1
    order[k - 1] = widest


@njit(cache=True, nogil=True)
def _n_steps(lo, hi, s0, many, order):
    """A bound on the number of ticks that are tried."""
    steps = 1.0
    for d in range(order.shape[0] - (many == 1)):
        begin, end = lo[s0, order[d]], hi[s0, order[d]]
        for s in range(s0, s0 + many):
            begin, end = min(begin, lo[s, order[d]]), max(end, hi[s, order[d]])
        steps *= end - begin + 1
    return steps


@njit(cache=True, nogil=True)
def _is_certain(s, row, tied, lo, hi, apart, lower, upper):
    """Whether a system holds whatever the ticks of its events are."""
    k = row.shape[0]
    for i in range(k):
        if lo[s, i] > lower[row[i]] or hi[s, i] < upper[row[i]]:
            return False
        for j in range(k):
            if row[i] == row[j]:
                if apart[s, i, j] > 0:
                    return False
            elif lower[row[j]] - upper[row[i]] < apart[s, i, j]:
                return False
    return True


@njit(cache=True, nogil=True)
def _open(d, order, tied, s0, many, alive, tick, stop, begin, end, lo, hi, apart, row, ticks):
    """The ticks that each system leaves to the event of a depth; returns whether all leave out possible ones."""
    place, x = order[d], row[order[d]]
    a, b = FAR, -FAR
    for s in range(many):
        if not alive[d, s]:
            continue
        begin[d, s], end[d, s] = lo[s0 + s, place], hi[s0 + s, place]
        for c in range(d):
            i = order[c]
            begin[d, s] = max(begin[d, s], tick[i] + apart[s0 + s, i, place])
            end[d, s] = min(end[d, s], tick[i] - apart[s0 + s, place, i])
        if begin[d, s] <= end[d, s]:
            a, b = min(a, begin[d, s]), max(b, end[d, s])
    if tied[place] >= 0:
        t = tick[tied[place]]
        is_out = t < a or t > b
        tick[place], stop[d] = (t + 1, t) if is_out else (t, t)
        return is_out
    tick[place], stop[d] = a, b
    if a > b:
        return True
    base = ticks.cum_at[x] - ticks.lower[x]
    left = ticks.cum[base + a] > 0
    right = ticks.cum[base + ticks.upper[x] + 1] > ticks.cum[base + b + 1]
    return left or right
