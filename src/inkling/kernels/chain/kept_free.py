"""Probabilities of chains with forbidden regions, in which other events must not happen, by sums over ticks.

Negation is named as future work in Zhang, Diao, Immerman: Recognizing Patterns in Streams with Imprecise Timestamps,
PVLDB 2010; the sums are over the possible worlds of its section 3.3. Times are in ticks.

Probabilities are as in `chances`, regions as in `bounds`.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from inkling.kernels.chain.bounds import LEADING, TRAILING
from inkling.kernels.phase import phase

MOST_POINTS = 1 << 14
"""Up to this number of combinations of ticks, they are enumerated without comparing methods."""

MOST_CHOICES = 4096
"""The most combinations of places of other events to enumerate."""

KEPT_OUT, UP_TO, AT, FROM, FROM_TO, AFTER_TO, LONG_BEFORE, LONG_AFTER, NOWHERE = range(9)
"""The places of another event: KEPT_OUT of its only region; or one of several places outside its regions: up to, at or
from an event of the chain, between neighboring events (with or without the tick of the first), or beyond the window."""


class OthersByChain(NamedTuple):
    """Other events, which must not happen in some regions of a chain: rows offsets[m]:offsets[m + 1] of chain m."""

    offsets: np.ndarray
    rows: np.ndarray
    regions: np.ndarray  # bits


class OneChain(NamedTuple):
    """A chain and its other events."""

    lo: np.ndarray  # [place]
    hi: np.ndarray
    rows: np.ndarray
    others: np.ndarray
    regions: np.ndarray


class AskedPlaces(NamedTuple):
    """The place of each other event, and the event of the chain to which it refers."""

    what: np.ndarray  # KEPT_OUT … NOWHERE
    place: np.ndarray


class GapArrays(NamedTuple):
    """Scratch arrays, long enough for the widest chain."""

    free: np.ndarray  # [place, tick before, tick]: probability of the regions and places in the gap
    ends: np.ndarray  # [tick before, tick]
    one: np.ndarray  # [tick]
    other: np.ndarray


@njit(cache=True, nogil=True)
def kept_free(window, chains, others, ticks, tight, most_steps):
    """Per chain: its probability, its first and last possible tick, and whether they were computed.

    If every other event is forbidden in one region only, gaps are independent given their borders. Otherwise, either
    the ticks of the chain are enumerated, or the places of events with several regions; if both need more than
    `most_steps`, the chain is not computed. For `tight` chains, the first and last tick are exact.
    """
    lo, hi, rows = chains
    offsets, regions, dtype = others.offsets, others.regions, ticks.mass.dtype
    n, k = lo.shape
    chances = np.zeros(n, dtype)
    first, last, found = lo[:, 0].copy(), hi[:, k - 1].copy(), np.ones(n, np.bool_)
    wide = 1
    for m in range(n):
        for j in range(k):
            wide = max(wide, hi[m, j] - lo[m, j] + 1)
    room = GapArrays(
        np.zeros((max(k, 2), wide, wide), dtype), np.zeros((wide, wide + 1), dtype), np.zeros(wide, dtype),
        np.zeros(wide, dtype),
    )  # fmt: skip
    left = most_steps * MANY
    for m in range(n):
        begin, end = offsets[m], offsets[m + 1]
        chain = OneChain(lo[m], hi[m], rows[m], others.rows[begin:end], regions[begin:end])
        several, choices = 0, 1.0
        for i in range(begin, end):
            if _n_regions(regions[i]) > 1:
                several += 1
                choices *= _n_places(k, regions[i])
        if several:
            points, pairs = 1.0, 0.0
            for j in range(k):
                points *= hi[m, j] - lo[m, j] + 1
                if j > 0:
                    pairs += (hi[m, j] - lo[m, j] + 1) * (hi[m, j - 1] - lo[m, j - 1] + 1)
            tries, turns = points * (end - begin), choices * pairs * (end - begin + hi[m, 0] - lo[m, 0])
            by_points = points <= MOST_POINTS or (tries <= most_steps and (tight[m] or tries <= turns))
            if not by_points and (choices > MOST_CHOICES or turns > most_steps):
                by_points = tries <= most_steps
                found[m] = by_points
            left -= tries if by_points else turns
            if left < 0:
                found[m] = False
            if not found[m]:
                continue
            if by_points:
                chances[m], first[m], last[m] = _by_points(window, chain, ticks)
            else:
                chances[m] = _by_choices(window, chain, ticks, room)
            continue
        asked = AskedPlaces(np.zeros(end - begin, np.int64), np.zeros(end - begin, np.int64))
        chances[m], first[m], last[m] = _by_gaps(window, chain, asked, ticks, room, tight[m])
    return chances, first, last, found


MANY = 100.0
"""The steps for all chains of a call, as a multiple of `most_steps`."""


@njit(cache=True, nogil=True)
def _n_regions(where):
    many = 0
    while where:
        where &= where - 1
        many += 1
    return many


@phase
def _within(x, a, b, ticks):
    """The probability that event x is at one of the ticks a to b."""
    lower, upper, _, _, cum_at, cum = ticks
    a, b = max(a, lower[x]), min(b, upper[x])
    if a > b:
        return cum[cum_at[x]]
    return cum[cum_at[x] + b - lower[x] + 1] - cum[cum_at[x] + a - lower[x]]


@njit(cache=True, nogil=True)
def _n_places(k, where):
    """The number of places of an event outside its regions; each depends on at most two neighbors in the chain."""
    n = 0
    while _place(k, where, n)[0] != NOWHERE:
        n += 1
    return n


@njit(cache=True, nogil=True)
def _place(k, where, number):
    """One of these places, and the event of the chain that it refers to; NOWHERE after the last place."""
    if where >> LEADING & 1:
        if number == 0:
            return LONG_BEFORE, 0
        number -= 1
        opened = True
    else:
        if number == 0:
            return UP_TO, 0
        number -= 1
        opened = False
    fresh = opened  # whether the open place starts at event j - 1
    for j in range(1, k):
        if where >> j & 1:
            if fresh:
                if number == 0:
                    return AT, j - 1
                number -= 1
            fresh = True
        else:
            if number == 0:
                return (FROM_TO if fresh else AFTER_TO), j
            number -= 1
            fresh = False
    if where >> TRAILING & 1:
        if fresh:
            if number == 0:
                return AT, k - 1
            number -= 1
        if number == 0:
            return LONG_AFTER, 0
        number -= 1
    else:
        if number == 0:
            return (FROM if fresh else AFTER_TO), (k - 1 if fresh else k)
        number -= 1
    return NOWHERE, 0


@phase
def _by_gaps(window, chain, asked, ticks, room, tight):
    """The probability if each other event has one region or one chosen place, so that gaps are independent."""
    lo, hi, rows, others, regions = chain
    lower, _, at, mass, _, _ = ticks
    free, ends, one, other = room
    k = len(rows)
    zero, unit = mass[0] * 0, mass[0] * 0 + 1
    around = False
    for j in range(1, k):
        for u in range(hi[j - 1] - lo[j - 1] + 1):
            for t in range(hi[j] - lo[j] + 1):
                free[j, u, t] = unit
    for i in range(others.shape[0]):
        where, x, what, place = regions[i], others[i], asked.what[i], asked.place[i]
        if what == KEPT_OUT:
            if where >> LEADING & 1 or where >> TRAILING & 1:
                around = True
                continue
            for j in range(1, k):
                if where >> j & 1:
                    for u in range(lo[j - 1], hi[j - 1] + 1):
                        for t in range(max(lo[j], u + 1), hi[j] + 1):
                            inside = _within(x, u + 1, t - 1, ticks)
                            free[j, u - lo[j - 1], t - lo[j]] *= 1 - inside
        elif what in (FROM_TO, AFTER_TO) and place < k:
            for u in range(lo[place - 1], hi[place - 1] + 1):
                for t in range(max(lo[place], u + 1), hi[place] + 1):
                    begin = u if what == FROM_TO else u + 1
                    free[place, u - lo[place - 1], t - lo[place]] *= _within(x, begin, t, ticks)
        else:
            around = True
    last_base = at[rows[k - 1]] - lower[rows[k - 1]]
    bound = window > 0 and hi[k - 1] - lo[0] >= window
    first_base = at[rows[0]] - lower[rows[0]]
    if not (bound or around or tight):
        for s in range(lo[0], hi[0] + 1):
            one[s - lo[0]] = mass[first_base + s]
        for j in range(1, k):
            _successor(j, lo[j - 1], hi[j - 1], hi[j], chain, ticks, free, one, other)
            one, other = other, one
        total = zero
        for t in range(hi[k - 1] - lo[k - 1] + 1):
            total += one[t]
        return total, lo[0], hi[k - 1]
    by_ends = not around and not tight and k > 1
    if by_ends:
        for u in range(lo[k - 2], hi[k - 2] + 1):
            row, before = u - lo[k - 2], zero
            ends[row, 0] = zero
            for t in range(lo[k - 1], hi[k - 1] + 1):
                if t > u:
                    before += mass[last_base + t] * free[k - 1, row, t - lo[k - 1]]
                ends[row, t - lo[k - 1] + 1] = before
    total, first, last = zero, hi[0] + 1, lo[k - 1] - 1
    for s in range(lo[0], hi[0] + 1):
        weight = mass[first_base + s] * _at_event(0, s, others, asked, ticks, unit)
        if weight == 0:
            continue
        until = hi[k - 1] if window <= 0 else min(hi[k - 1], s + window - 1)
        one[s - lo[0]] = weight
        a, b = s, s
        for j in range(1, k - 1 if by_ends else k):
            until_here = min(hi[j], until)
            _successor(j, a, b, until_here, chain, ticks, free, one, other)
            if around:
                for t in range(lo[j], until_here + 1):
                    other[t - lo[j]] *= _at_event(j, t, others, asked, ticks, unit)
            one, other = other, one
            a, b = lo[j], until_here
        if by_ends:
            for u in range(a, b + 1):
                place = until - lo[k - 1] + 1
                if place > 0:
                    total += one[u - lo[k - 2]] * ends[u - lo[k - 2], place]
            continue
        for t in range(a, b + 1):
            here = one[t - lo[k - 1]]
            if around and here != 0:
                here *= _around(window, chain, s, t, asked, ticks, unit)
            if here != 0:
                total += here
                first, last = min(first, s), max(last, t)
    return (total, first, last) if not by_ends else (total, lo[0], hi[k - 1])


@phase
def _at_event(j, t, others, asked, ticks, unit):
    """The probability of the places that refer to event j of a chain, which happens at t."""
    what, places = asked
    share = unit
    for i in range(others.shape[0]):
        if places[i] == j:
            if what[i] == UP_TO:
                share *= _within(others[i], ticks.lower[others[i]], t, ticks)
            elif what[i] == AT:
                share *= _within(others[i], t, t, ticks)
            elif what[i] == FROM:
                share *= _within(others[i], t, ticks.upper[others[i]], ticks)
    return share


@phase
def _around(window, chain, s, t, asked, ticks, unit):
    """The probability of the places and regions before and after a chain that begins at s and ends at t."""
    others, regions = chain.others, chain.regions
    share = unit
    for i in range(others.shape[0]):
        where, x, what = regions[i], others[i], asked.what[i]
        if what == KEPT_OUT and where >> LEADING & 1:
            share *= 1 - _within(x, t - window + 1, s - 1, ticks)
        elif what == KEPT_OUT and where >> TRAILING & 1:
            share *= 1 - _within(x, t + 1, s + window - 1, ticks)
        elif what == LONG_BEFORE:
            share *= _within(x, ticks.lower[x], t - window, ticks)
        elif what == LONG_AFTER:
            share *= _within(x, s + window, ticks.upper[x], ticks)
        elif what == AFTER_TO and asked.place[i] == len(chain.rows):
            share *= _within(x, t + 1, ticks.upper[x], ticks)
    return share


@phase
def _successor(j, a, b, until, chain, ticks, free, one, other):
    """The step from event j - 1 at ticks a to b, with weights `one`, to event j at ticks up to `until`."""
    lo, mass, x = chain.lo, ticks.mass, chain.rows[j]
    base = ticks.at[x] - ticks.lower[x]
    for t in range(lo[j], until + 1):
        before = mass[0] * 0
        for u in range(a, min(b, t - 1) + 1):
            before += one[u - lo[j - 1]] * free[j, u - lo[j - 1], t - lo[j]]
        other[t - lo[j]] = before * mass[base + t]


@njit(cache=True, nogil=True)
def _by_choices(window, chain, ticks, room):
    """Enumerates the places of events with several regions; only adds, so nothing cancels."""
    k, regions, n = len(chain.rows), chain.regions, len(chain.others)
    asked, numbers = AskedPlaces(np.zeros(n, np.int64), np.zeros(n, np.int64)), np.zeros(n, np.int64)
    total = ticks.mass[0] * 0
    while True:
        for i in range(n):
            if _n_regions(regions[i]) > 1:
                asked.what[i], asked.place[i] = _place(k, regions[i], numbers[i])
        part, _, _ = _by_gaps(window, chain, asked, ticks, room, False)
        total += part
        i = 0
        while i < n:
            if _n_regions(regions[i]) > 1:
                numbers[i] += 1
                if _place(k, regions[i], numbers[i])[0] != NOWHERE:
                    break
                numbers[i] = 0
            i += 1
        if i == n:
            break
    return total


@njit(cache=True, nogil=True)
def _by_points(window, chain, ticks):
    """Enumerates the ticks of the chain."""
    lo, hi, rows, others, regions = chain
    lower, _, at, mass, _, _ = ticks
    k = len(rows)
    zero = mass[0] * 0
    chosen, weights = lo.copy(), np.zeros(k + 1, mass.dtype)
    weights[0] = zero + 1
    total, first, last = zero, hi[0] + 1, lo[k - 1] - 1
    j = 0
    chosen[0] = lo[0] - 1
    while j >= 0:
        chosen[j] += 1
        until = hi[j] if window <= 0 or j == 0 else min(hi[j], chosen[0] + window - 1)
        if chosen[j] > until:
            j -= 1
            continue
        weights[j + 1] = weights[j] * mass[at[rows[j]] - lower[rows[j]] + chosen[j]]
        if weights[j + 1] == 0:
            continue
        if j + 1 < k:
            j += 1
            chosen[j] = max(lo[j], chosen[j - 1] + 1) - 1
            continue
        here = weights[k]
        for i in range(others.shape[0]):
            where, x = regions[i], others[i]
            inside = zero
            for g in range(1, k):
                if where >> g & 1:
                    inside += _within(x, chosen[g - 1] + 1, chosen[g] - 1, ticks)
            if where >> LEADING & 1:
                inside += _within(x, chosen[k - 1] - window + 1, chosen[0] - 1, ticks)
            if where >> TRAILING & 1:
                inside += _within(x, chosen[k - 1] + 1, chosen[0] + window - 1, ticks)
            here *= 1 - inside
        if here > 0:
            total += here
            first, last = min(first, chosen[0]), max(last, chosen[k - 1])
    return total, first, last
