"""Random draws as a pure function of seed, world and event, so that all workers draw the same worlds.

Each event has a SplitMix64 sequence, which starts at a mix of the seed and the hash of the event; world w uses its w-th
number.
"""

import numpy as np
from numba import njit

from inkling.kernels.uncompiled import wraps_around

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_TO_UNIT = 1.0 / 9007199254740992.0  # 2 ** -53


@wraps_around
@njit(cache=True, inline="always")
def _finished(h):
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return h ^ (h >> np.uint64(31))


@wraps_around
@njit(cache=True, inline="always")
def sequence_start(seed, token):
    return _finished(_finished(token + _GAMMA) ^ seed)


@wraps_around
@njit(cache=True, inline="always")
def uniform(start, world):
    return float(_finished(start + np.uint64(world + 1) * _GAMMA) >> np.uint64(11)) * _TO_UNIT


@njit(cache=True)
def uniforms(seed, tokens, first, n_worlds):
    """[event, world]: a number in [0, 1)."""
    out = np.empty((len(tokens), n_worlds))
    for i in range(len(tokens)):
        start = sequence_start(seed, tokens[i])
        for w in range(n_worlds):
            out[i, w] = uniform(start, first + w)
    return out


@njit(cache=True)
def draw_ticks(seed, tokens, low, width, steps, shares, first, n_worlds):
    """The tick of every event in every world: uniform over `width` ticks from `low`, or by cumulated shares.

    Shares of event i are shares[steps[i]:steps[i + 1]]; none means uniform.
    """
    out = np.empty((len(tokens), n_worlds), np.int64)
    for i in range(len(tokens)):
        start = sequence_start(seed, tokens[i])
        begin, end = steps[i], steps[i + 1]
        for w in range(n_worlds):
            u = uniform(start, first + w)
            if begin == end:
                tick = np.int64(u * width[i])
                out[i, w] = low[i] + min(tick, width[i] - 1)
            else:
                out[i, w] = low[i] + chosen_row(shares, begin, end, u) - begin
    return out


@njit(cache=True, inline="always")
def chosen_row(shares, begin, end, u):
    """The first of the cumulated shares that exceeds u, or end if none does."""
    low, high = begin, end
    while low < high:
        middle = (low + high) >> 1
        if shares[middle] > u:
            high = middle
        else:
            low = middle + 1
    return low


@njit(cache=True)
def draw_alternatives(seed, tokens, offsets, shares, first, n_worlds):
    """The row of each group in each world, or -1 for none; shares are cumulated within groups."""
    out = np.empty((len(tokens), n_worlds), np.int64)
    for g in range(len(tokens)):
        start = sequence_start(seed, tokens[g])
        begin, end = offsets[g], offsets[g + 1]
        for w in range(n_worlds):
            row = chosen_row(shares, begin, end, uniform(start, first + w))
            out[g, w] = row if row < end else -1
    return out


@njit(cache=True)
def draw_paths(seed, tokens, chains, offsets, anew, given, value, shares, first, n_worlds, latest):
    """The row of each group in each world, or -1 for none; it depends on the row of the previous group of its chain.

    Groups chains[c]:chains[c + 1] belong to chain c. Rows of a group are sorted by `given`, the hash of the previous
    value (0: no event), with shares cumulated within the rows of one given value. A group that starts `anew` does not
    depend on the previous value. `latest` is the value before each chain in each world, and becomes the
    value after it.
    """
    out = np.empty((len(tokens), n_worlds), np.int64)
    for c in range(len(chains) - 1):
        previous = latest[c]
        for g in range(chains[c], chains[c + 1]):
            start = sequence_start(seed, tokens[g])
            for w in range(n_worlds):
                before = np.uint64(0) if anew[g] else previous[w]
                begin = _lower(given, offsets[g], offsets[g + 1], before)
                end = begin
                while end < offsets[g + 1] and given[end] == before:
                    end += 1
                row = chosen_row(shares, begin, end, uniform(start, first + w))
                out[g, w] = row if row < end else -1
                previous[w] = value[row] if row < end else np.uint64(0)
    return out


@njit(cache=True, inline="always")
def _lower(given, begin, end, wanted):
    low, high = begin, end
    while low < high:
        middle = (low + high) >> 1
        if given[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True)
def draw_between(seed, tokens, gaps, low, high, first, n_worlds):
    """The times of lost events in every world: order statistics of uniform draws between the borders of their gap.

    Events gaps[g]:gaps[g + 1] were lost between low[g] and high[g]. Times are integers, strictly between the borders
    and strictly increasing; the gap must be wide enough.
    """
    out = np.empty((len(tokens), n_worlds), np.int64)
    for g in range(len(gaps) - 1):
        begin, end = gaps[g], gaps[g + 1]
        lost = end - begin
        length = high[g] - low[g]
        starts = np.empty(lost + 1, np.uint64)
        for i in range(lost):
            starts[i] = sequence_start(seed, tokens[begin + i])
        starts[lost] = sequence_start(seed ^ _GAMMA, tokens[begin])
        passed = np.empty(lost + 1)
        for w in range(n_worlds):
            total = 0.0
            for i in range(lost + 1):
                total -= np.log(1.0 - uniform(starts[i], first + w))
                passed[i] = total
            for i in range(lost):
                place = np.int64(passed[i] / total * length)
                floor = (out[begin + i - 1, w] - low[g] if i else 0) + 1
                ceiling = length - (lost - i)
                out[begin + i, w] = low[g] + min(max(place, floor), ceiling)
    return out


@njit(cache=True)
def cumulated(offsets, weights, full):
    """Cumulated weights within each group; those of a `full` group are scaled to end at 1."""
    out = np.empty(len(weights))
    for g in range(len(offsets) - 1):
        begin, end = offsets[g], offsets[g + 1]
        total = 0.0
        last = begin
        for i in range(begin, end):
            total += weights[i]
            out[i] = total
            if weights[i] > 0.0:
                last = i
        if full[g]:
            for i in range(begin, last):
                out[i] /= total
            out[last:end] = 1.0
    return out


@njit(cache=True)
def count_paths(chains, offsets, anew, given, value, some, limit):
    """The number of paths of each chain, at most `limit`; `some` are the rows of positive probability, and if the rows
    after a value do not sum to 1, no event is one more alternative."""
    out = np.empty(len(chains) - 1)
    for c in range(len(chains) - 1):
        latest = np.zeros(1, np.uint64)
        ways = np.ones(1)
        for g in range(chains[c], chains[c + 1]):
            begin, end = offsets[g], offsets[g + 1]
            if anew[g]:
                total = ways.sum()
                latest, ways = np.zeros(1, np.uint64), np.full(1, total)
            n = end - begin
            reached = np.zeros(n)
            nothing = 0.0
            for k in range(len(latest)):
                mass = 0.0
                for i in range(begin, end):
                    if given[i] == latest[k] and some[i] > 0.0:
                        reached[i - begin] += ways[k]
                        mass += some[i]
                if mass < 1.0 - 1e-12:
                    nothing += ways[k]
            values = np.append(value[begin:end], np.uint64(0))
            reached = np.append(reached, nothing)
            kept = reached > 0
            order = np.argsort(values[kept])
            values, reached = values[kept][order], reached[kept][order]
            n_distinct = 0
            for k in range(len(values)):
                if n_distinct and values[n_distinct - 1] == values[k]:
                    reached[n_distinct - 1] += reached[k]
                else:
                    values[n_distinct], reached[n_distinct] = values[k], reached[k]
                    n_distinct += 1
            latest, ways = values[:n_distinct].copy(), np.minimum(reached[:n_distinct], limit)
        out[c] = min(ways.sum(), limit)
    return out
