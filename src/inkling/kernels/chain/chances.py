"""Probabilities of chains under the policy ANY, by dynamic programming over ticks.

Zhang, Diao, Immerman: Recognizing Patterns in Streams with Imprecise Timestamps, PVLDB 2010, section 3.3: the
confidence of a match, here as a sum over ticks instead of possible worlds. Times are in ticks; the probabilities of the
ticks of an event sum to 1, and events are independent.

Probabilities are doubles or, in tests, fractions. `mass[at[x] + i]` is
the probability that event x happened at tick `lower[x] + i`.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from inkling.kernels.chain.bounds import LEADING, TRAILING


class TickChances(NamedTuple):
    """The ticks at which each event can have happened, with probabilities."""

    lower: np.ndarray  # [event]: its first tick, lower(e)
    upper: np.ndarray  # [event]: its last tick, upper(e)
    at: np.ndarray  # [event]
    mass: np.ndarray  # mass[at[x] + i]: probability that event x happened at tick lower[x] + i
    cum_at: np.ndarray  # [event]
    cum: np.ndarray  # cum[cum_at[x] + i]: probability that it happened before that tick


class ChainTicks(NamedTuple):
    """Chains of events, with bounds on their ticks."""

    lo: np.ndarray  # [chain, place]
    hi: np.ndarray
    rows: np.ndarray


@njit(cache=True, nogil=True)
def in_any_order(window, lo, hi, rows, lower, at, mass):
    """The probability that the events of each chain happen one after the other, within the window.

    `rows`, [chain, place], are the events, `lo` and `hi` the bounds on their ticks. Example: events at ticks {1, 2} and
    {2, 3}, uniformly, are in this order in 3 of 4 cases.
    """
    n, k = lo.shape
    chances = np.zeros(n, mass.dtype)
    longest = 1
    for m in range(n):
        longest = max(longest, hi[m, k - 1] - lo[m, 0] + 2)
    table = np.zeros((k, longest), mass.dtype)
    one, other = np.zeros(longest, mass.dtype), np.zeros(longest, mass.dtype)
    left, right = np.zeros((k, longest), mass.dtype), np.zeros((k, longest), mass.dtype)
    for m in range(n):
        if window <= 0 or hi[m, k - 1] - lo[m, 0] < window:
            chances[m] = _unlimited(k, lo[m], hi[m], rows[m], lower, at, mass, one, other)
        else:
            chances[m] = _limited(window, k, lo[m], hi[m], rows[m], lower, at, mass, table, one, left, right)
    return chances


@njit(cache=True, nogil=True)
def _unlimited(k, lo, hi, rows, lower, at, mass, one, other):
    """Without a window: event by event, the probability that the chain so far ends at each tick."""
    origin = lo[0]
    base = at[rows[0]] - lower[rows[0]]
    for t in range(lo[0], hi[0] + 1):
        one[t - origin] = mass[base + t]
    for j in range(1, k):
        base = at[rows[j]] - lower[rows[j]]
        before = mass[0] * 0
        u = lo[j - 1]
        for t in range(lo[j], hi[j] + 1):
            while u < t and u <= hi[j - 1]:
                before += one[u - origin]
                u += 1
            other[t - origin] = mass[base + t] * before
        one, other = other, one
    total = mass[0] * 0
    for t in range(lo[k - 1], hi[k - 1] + 1):
        total += one[t - origin]
    return total


@njit(cache=True, nogil=True)
def _limited(window, k, lo, hi, rows, lower, at, mass, table, chain, left, right):
    """With a window: first ticks are divided into blocks as long as the window, which then limits only later events.

    `left[c]`, by first tick, is the weight of the first c + 1 events inside the block; `right[c]`, by tick, that of the
    other events after the block up to this tick.
    """
    origin, end = lo[0], hi[k - 1]
    zero = mass[0] * 0
    for j in range(k):
        for t in range(end - origin + 1):
            table[j, t] = zero
        base = at[rows[j]] - lower[rows[j]]
        for t in range(lo[j], hi[j] + 1):
            table[j, t - origin] = mass[base + t]
    total = zero
    p = lo[0]
    while p <= hi[0]:
        q = min(p + window - 1, hi[0])
        first, last = p - origin, q - origin
        for c in range(k):
            for t in range(first, last + 1):
                left[c, t] = table[c, t]
            for i in range(c - 1, -1, -1):
                after = zero
                for t in range(last, first - 1, -1):
                    held = left[c, t]
                    left[c, t] = table[i, t] * after
                    after += held
        furthest = min(q + window - 1, end) - origin
        for c in range(k - 1):
            for t in range(last + 1, furthest + 1):
                right[c, t] = table[c + 1, t]
            for i in range(c + 2, k):
                before = zero
                for t in range(last + 1, furthest + 1):
                    held = right[c, t]
                    right[c, t] = table[i, t] * before
                    before += held
            before = zero
            for t in range(last + 1, furthest + 1):
                before += right[c, t]
                right[c, t] = before
        for s in range(first, last + 1):
            total += left[k - 1, s]
            r = min(s + window - 1, end - origin)
            if r > last:
                for c in range(k - 1):
                    total += left[c, s] * right[c, r]
        p = q + 1
    return total


@njit(cache=True, nogil=True)
def mass_left(lo, hi, rows, lower, cum_at, cum):
    """Per chain, the probability that each event is within its bounds: an upper bound on that of the chain."""
    n, k = lo.shape
    most = np.ones(n)
    for m in range(n):
        for j in range(k):
            x = rows[m, j]
            begin = cum_at[x] - lower[x]
            most[m] *= cum[begin + hi[m, j] + 1] - cum[begin + lo[m, j]]
    return most


@njit(cache=True, nogil=True)
def are_certain(window, lo, hi, rows, offsets, others, regions, lower, upper, cum_at, cum):
    """Whether each chain has probability 1: its events are in order in all worlds, and forbidden regions are free.

    `lo` and `hi` are the bounds on the ticks of events in the chain.
    """
    n, k = rows.shape
    certain = np.ones(n, np.bool_)
    for m in range(n):
        for j in range(k):
            if lo[m, j] > lower[rows[m, j]] or hi[m, j] < upper[rows[m, j]]:
                certain[m] = False
            if j > 0 and upper[rows[m, j - 1]] >= lower[rows[m, j]]:
                certain[m] = False
        begin, end = rows[m, 0], rows[m, k - 1]
        if k > 1 and window > 0 and upper[end] - lower[begin] >= window:
            certain[m] = False
        for i in range(offsets[m], offsets[m + 1]):
            if not certain[m]:
                break
            where, x = regions[i], others[i]
            for j in range(1, k):
                if where >> j & 1 and _can_be(
                    x, lower[rows[m, j - 1]] + 1, upper[rows[m, j]] - 1, lower, upper, cum_at, cum
                ):
                    certain[m] = False
            if where >> LEADING & 1:
                if k == 1:
                    for t in range(lower[begin], upper[begin] + 1):
                        if _can_be(begin, t, t, lower, upper, cum_at, cum) and _can_be(
                            x, t - window + 1, t - 1, lower, upper, cum_at, cum
                        ):
                            certain[m] = False
                elif _can_be(x, lower[end] - window + 1, upper[begin] - 1, lower, upper, cum_at, cum):
                    certain[m] = False
            if where >> TRAILING & 1:
                if k == 1:
                    for t in range(lower[begin], upper[begin] + 1):
                        if _can_be(begin, t, t, lower, upper, cum_at, cum) and _can_be(
                            x, t + 1, t + window - 1, lower, upper, cum_at, cum
                        ):
                            certain[m] = False
                elif _can_be(x, lower[end] + 1, upper[begin] + window - 1, lower, upper, cum_at, cum):
                    certain[m] = False
    return certain


@njit(cache=True, nogil=True)
def _can_be(x, a, b, lower, upper, cum_at, cum):
    a, b = max(a, lower[x]), min(b, upper[x])
    return a <= b and cum[cum_at[x] + b - lower[x] + 1] > cum[cum_at[x] + a - lower[x]]
