"""Matches over imprecise times in sampled worlds: in how many of them all their events are where they must be.

Ticks are drawn between the bounds of a match, so the share of hits is a conditional probability. A draw depends only on
the seed, the token of the event in the match, and the number of the world.
"""

import numpy as np
from numba import njit

from inkling.kernels.worlds.draws import sequence_start, uniform

BEFORE, AFTER = -1, -2
"""Regions in the window before and after a chain; region j is the gap before event j."""


@njit(cache=True, nogil=True)
def hits_of_chains(seed, n_worlds, window, chain, tokens, others, other_tokens, ticks):
    """Per chain: the number of worlds in which its events are in order and no other is in its forbidden region.

    `others` are offsets by chain, rows and one region each.
    """
    n, k = chain.rows.shape
    hits = np.zeros(n, np.int64)
    tick, starts = np.zeros(k, np.int64), np.zeros(k, np.uint64)
    for m in range(n):
        for j in range(k):
            starts[j] = sequence_start(seed, tokens[m, j])
        for w in range(n_worlds):
            holds = True
            for j in range(k):
                tick[j] = _drawn(chain.rows[m, j], chain.lo[m, j], chain.hi[m, j], uniform(starts[j], w), ticks)
                if j > 0 and tick[j] <= tick[j - 1]:
                    holds = False
                    break
            if not holds or (window > 0 and tick[k - 1] - tick[0] >= window):
                continue
            for at in range(others.offsets[m], others.offsets[m + 1]):
                x, region = others.rows[at], others.regions[at]
                t = _drawn(x, ticks.lower[x], ticks.upper[x], uniform(sequence_start(seed, other_tokens[at]), w), ticks)
                if region == BEFORE:
                    begin, end = tick[k - 1] - window, tick[0]
                elif region == AFTER:
                    begin, end = tick[k - 1], tick[0] + window
                else:
                    begin, end = tick[region - 1], tick[region]
                if begin < t and t < end:
                    holds = False
                    break
            if holds:
                hits[m] += 1
    return hits


@njit(cache=True, nogil=True)
def hits_of_orders(seed, n_worlds, rows, offsets, lo, hi, apart, tokens, ticks):
    """Per match of `in_partial_orders`: the number of worlds in which one of its systems holds."""
    n, k = rows.shape
    hits = np.zeros(n, np.int64)
    tick, starts, same = np.zeros(k, np.int64), np.zeros(k, np.uint64), np.arange(k)
    for m in range(n):
        for j in range(k):
            starts[j], same[j] = sequence_start(seed, tokens[m, j]), j
            for i in range(j - 1, -1, -1):
                if rows[m, i] == rows[m, j]:
                    same[j] = i
        for w in range(n_worlds):
            for j in range(k):
                if same[j] < j:
                    tick[j] = tick[same[j]]
                else:
                    begin, end = lo[offsets[m], j], hi[offsets[m], j]
                    for s in range(offsets[m], offsets[m + 1]):
                        begin, end = min(begin, lo[s, j]), max(end, hi[s, j])
                    tick[j] = _drawn(rows[m, j], begin, end, uniform(starts[j], w), ticks)
            for s in range(offsets[m], offsets[m + 1]):
                if _holds(s, k, tick, lo, hi, apart):
                    hits[m] += 1
                    break
    return hits


@njit(cache=True, nogil=True)
def _holds(s, k, tick, lo, hi, apart):
    for i in range(k):
        if tick[i] < lo[s, i] or tick[i] > hi[s, i]:
            return False
        for j in range(k):
            if tick[j] - tick[i] < apart[s, i, j]:
                return False
    return True


@njit(cache=True, nogil=True)
def _drawn(x, begin, end, share, ticks):
    """The tick of event x between two ticks at a share of its probability there."""
    base = ticks.cum_at[x] - ticks.lower[x]
    low, high = begin, end
    wanted = ticks.cum[base + begin] + share * (ticks.cum[base + end + 1] - ticks.cum[base + begin])
    while low < high:
        middle = (low + high) >> 1
        if ticks.cum[base + middle + 1] > wanted:
            high = middle
        else:
            low = middle + 1
    return low
