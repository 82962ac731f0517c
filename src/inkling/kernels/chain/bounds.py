"""Bounds on the ticks of events with imprecise times in a sequence, and candidates for its next event.

Zhang, Diao, Immerman: Recognizing Patterns in Streams with Imprecise Timestamps, PVLDB 2010, section 5.1, the query
order evaluation method: valid lower and upper bounds of each event. Times are in ticks; bounds are inclusive.

A chain is a sequence of events, each at one tick of its interval, one after the other, all within a window of ticks
(0: no limit). `lo` and `hi`, [chain, event], bound the ticks at which an event can be in its chain.
"""

import numpy as np
from numba import njit

FAR = 1 << 61

LEADING = 62
TRAILING = 61
"""Bits of the regions in the window before and after a chain; bit j is the gap before event j."""


@njit(cache=True, nogil=True)
def candidates(key, least_upper, most_lower, offsets, lower, upper, widest):
    """Per chain, the events of its key whose last tick is at least `least_upper` and first tick at most `most_lower`.

    Events of a key are sorted by first tick; none has more than `widest` ticks.
    """
    n = key.shape[0]
    begin, many = np.empty(n, np.int64), 0
    for i in range(n):
        left, right = offsets[key[i]], offsets[key[i] + 1]
        wanted = least_upper[i] - widest + 1
        while left < right:
            middle = (left + right) >> 1
            if lower[middle] < wanted:
                left = middle + 1
            else:
                right = middle
        begin[i] = left
        end = offsets[key[i] + 1]
        while left < end and lower[left] <= most_lower[i]:
            if upper[left] >= least_upper[i]:
                many += 1
            left += 1
    origin, place = np.empty(many, np.int64), np.empty(many, np.int64)
    at = 0
    for i in range(n):
        one, end = begin[i], offsets[key[i] + 1]
        while one < end and lower[one] <= most_lower[i]:
            if upper[one] >= least_upper[i]:
                origin[at] = i
                place[at] = one
                at += 1
            one += 1
    return origin, place


@njit(cache=True, nogil=True)
def least_to_come(offsets, upper):
    """Per event, the minimum of the last ticks of this event and of all later ones of its key, sorted by first tick."""
    least = upper.copy()
    for c in range(offsets.shape[0] - 1):
        for i in range(offsets[c + 1] - 2, offsets[c] - 1, -1):
            least[i] = min(least[i], least[i + 1])
    return least


@njit(cache=True, nogil=True)
def least_after(key, tick, offsets, lower, least):
    """Per chain, the minimum of the last ticks of events of its key that begin after a tick; FAR if there are none."""
    found = np.full(key.shape[0], FAR)
    for i in range(key.shape[0]):
        left, right = offsets[key[i]], offsets[key[i] + 1]
        end = right
        while left < right:
            middle = (left + right) >> 1
            if lower[middle] <= tick[i]:
                left = middle + 1
            else:
                right = middle
        if left < end:
            found[i] = least[left]
    return found


@njit(cache=True, nogil=True)
def least_from(owner, values, n):
    """Per owner the minimum of its values; FAR if it has none."""
    least = np.full(n, FAR)
    for i in range(owner.shape[0]):
        if values[i] < least[owner[i]]:
            least[owner[i]] = values[i]
    return least


@njit(cache=True, nogil=True)
def tighten(places, length, window, lo, hi):
    """Tightens the bounds of partial chains, whose events are at some `places` of `length`; returns which are possible.

    Every place between two filled ones needs a tick of its own, and so does every place before and after them in the
    window.
    """
    n, k = lo.shape
    possible = np.ones(n, np.bool_)
    room = window - 1 - places[0] - (length - 1 - places[k - 1])
    for m in range(n):
        if window > 0 and room < places[k - 1] - places[0]:
            possible[m] = False
            continue
        for j in range(1, k):
            least = lo[m, j - 1] + places[j] - places[j - 1]
            if lo[m, j] < least:
                lo[m, j] = least
        if window > 0 and hi[m, k - 1] > hi[m, 0] + room:
            hi[m, k - 1] = hi[m, 0] + room
        for j in range(k - 1, 0, -1):
            most = hi[m, j] - (places[j] - places[j - 1])
            if hi[m, j - 1] > most:
                hi[m, j - 1] = most
        if window > 0:
            if hi[m, k - 1] > hi[m, 0] + room:
                hi[m, k - 1] = hi[m, 0] + room
                for j in range(k - 1, 0, -1):
                    most = hi[m, j] - (places[j] - places[j - 1])
                    if hi[m, j - 1] > most:
                        hi[m, j - 1] = most
            if lo[m, 0] < lo[m, k - 1] - room:
                lo[m, 0] = lo[m, k - 1] - room
                for j in range(1, k):
                    least = lo[m, j - 1] + places[j] - places[j - 1]
                    if lo[m, j] < least:
                        lo[m, j] = least
        for j in range(k):
            if lo[m, j] > hi[m, j]:
                possible[m] = False
    return possible


@njit(cache=True, nogil=True)
def narrow(window, lo, hi, offsets, others, regions, lower, upper):
    """Tightens the bounds of complete chains, without ticks that force another event into a forbidden region.

    `others[offsets[m]:offsets[m + 1]]` must not happen in the `regions` of chain m: gaps by bit, LEADING, TRAILING.
    Repeats until nothing changes; returns which chains are possible.
    """
    n, k = lo.shape
    possible = np.ones(n, np.bool_)
    for m in range(n):
        last = k - 1
        changed = True
        while changed and possible[m]:
            changed = False
            for j in range(1, k):
                if lo[m, j] < lo[m, j - 1] + 1:
                    lo[m, j] = lo[m, j - 1] + 1
                    changed = True
            for j in range(k - 1, 0, -1):
                if hi[m, j - 1] > hi[m, j] - 1:
                    hi[m, j - 1] = hi[m, j] - 1
                    changed = True
            if window > 0:
                if lo[m, 0] < lo[m, last] - window + 1:
                    lo[m, 0] = lo[m, last] - window + 1
                    changed = True
                if hi[m, last] > hi[m, 0] + window - 1:
                    hi[m, last] = hi[m, 0] + window - 1
                    changed = True
            for at in range(offsets[m], offsets[m + 1]):
                x, where = others[at], regions[at]
                for j in range(1, k):
                    if where >> j & 1:
                        if lower[x] > hi[m, j - 1] and upper[x] < hi[m, j]:
                            hi[m, j] = upper[x]
                            changed = True
                        if upper[x] < lo[m, j] and lower[x] > lo[m, j - 1]:
                            lo[m, j - 1] = lower[x]
                            changed = True
                if where >> LEADING & 1:
                    if upper[x] < lo[m, 0] and lower[x] + window > lo[m, last]:
                        lo[m, last] = lower[x] + window
                        changed = True
                    if lower[x] + window > hi[m, last] and upper[x] < hi[m, 0]:
                        hi[m, 0] = upper[x]
                        changed = True
                if where >> TRAILING & 1:
                    if upper[x] - window < lo[m, 0] and lower[x] > lo[m, last]:
                        lo[m, last] = lower[x]
                        changed = True
                    if lower[x] > hi[m, last] and upper[x] - window < hi[m, 0]:
                        hi[m, 0] = upper[x] - window
                        changed = True
            for j in range(k):
                if lo[m, j] > hi[m, j]:
                    possible[m] = False
    return possible


@njit(cache=True, nogil=True)
def needed_regions(window, lo, hi, offsets, others, regions, lower, upper):
    """The forbidden regions that other events can reach, by the bounds of the chains."""
    n, k = lo.shape
    needed = np.zeros(regions.shape[0], np.int64)
    for m in range(n):
        for at in range(offsets[m], offsets[m + 1]):
            x, where, left = others[at], regions[at], 0
            for j in range(1, k):
                if where >> j & 1 and upper[x] > lo[m, j - 1] and lower[x] < hi[m, j]:
                    left |= 1 << j
            if where >> LEADING & 1 and upper[x] >= lo[m, k - 1] - window + 1 and lower[x] < hi[m, 0]:
                left |= 1 << LEADING
            if where >> TRAILING & 1 and upper[x] > lo[m, k - 1] and lower[x] <= hi[m, 0] + window - 1:
                left |= 1 << TRAILING
            needed[at] = left
    return needed
