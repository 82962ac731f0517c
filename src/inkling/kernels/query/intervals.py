"""Interval probabilities for safe plans: that something happened since a start, for many starts at once.

Ré, Letchner, Balazinska, Suciu: Event Queries on Correlated Probabilistic Streams, SIGMOD 2008 (Lahar), section 3.3.1:
the probability that a query holds in an interval. One vector of surviving mass per start replaces the printed
recursion. Probabilities do not increase with a later start.

A column is a start; columns are sorted by start. `made[c]` is the step before which column c begins, less than the
first step for older columns. Numbers are floats, or fractions where kernels run uncompiled. All functions process steps
`first` to `last` - 1; cells and moves are those of `moves`; a hit is a move at which a match ends.
"""

import numpy as np
from numba import njit

TILE = 512


@njit(cache=True)
def survivors(first, last, moves, hits, base, full, alive, gone, made, out):
    """out[i, c]: the probability that some unit had a hit from the start of column c to step first + i.

    `full` has the probabilities of states, `alive[state, column]` those without a hit since the start, and
    `gone[unit, column]` the probability of a hit since then.
    """
    step_cells, cell_unit, offsets, source, target, weight, _ = moves
    n_units, n_columns = gone.shape
    widest = 1
    for u in range(n_units):
        widest = max(widest, base[u + 1] - base[u])
    moved = np.zeros((widest, min(TILE, max(n_columns, 1))), alive.dtype)
    later = np.zeros(widest, alive.dtype)
    some = np.zeros(n_columns, alive.dtype)
    n = 0
    while n < n_columns and made[n] < first:
        n += 1
    stale = True
    for i in range(first, last):
        while n < n_columns and made[n] <= i:
            alive[:, n] = full
            gone[:, n] = 0
            some[n] = 0
            n += 1
        cell = step_cells[i]
        stale = stale or cell < step_cells[i + 1]
        if stale:
            some[:n] = 0
            for u in range(n_units):
                if cell < step_cells[i + 1] and cell_unit[cell] == u:
                    b, size = base[u], base[u + 1] - base[u]
                    begin, end = offsets[cell], offsets[cell + 1]
                    if size == 2:
                        _advanced_pair(
                            begin, end, source, target, weight, hits, alive[b, :n], alive[b + 1, :n], gone[u, :n]
                        )
                    else:
                        _advanced(begin, end, source, target, weight, hits, b, size, n, alive, gone[u], moved)
                    later[:size] = 0
                    for m in range(begin, end):
                        later[target[m]] += weight[m] * full[b + source[m]]
                    full[b : b + size] = later[:size]
                    cell += 1
                _either(some[:n], gone[u, :n])
        stale = False
        out[i - first, :n] = some[:n]


@njit(cache=True)
def _either(some, more):
    """The probability of the union of independent events, without cancellation if it is tiny."""
    for c in range(len(some)):
        some[c] += more[c] * (1 - some[c])


@njit(cache=True)
def _advanced_pair(begin, end, source, target, weight, hits, one, other, gone):
    """Advances a unit of two states by one time, in all columns."""
    zero = weight[begin] * 0
    stay, go, come, rest, hit, strike = zero, zero, zero, zero, zero, zero
    for m in range(begin, end):
        if source[m] == 0:
            if hits[m]:
                hit += weight[m]
            elif target[m] == 0:
                stay += weight[m]
            else:
                go += weight[m]
        elif hits[m]:
            strike += weight[m]
        elif target[m] == 0:
            come += weight[m]
        else:
            rest += weight[m]
    for c in range(len(gone)):
        here, there = one[c], other[c]
        one[c] = stay * here + come * there
        other[c] = go * here + rest * there
        gone[c] += hit * here + strike * there


@njit(cache=True)
def _advanced(begin, end, source, target, weight, hits, b, size, n, alive, gone, moved):
    """Advances a unit by one time, in all columns."""
    width = moved.shape[1]
    low = 0
    while low < n:
        high = min(n, low + width)
        for s in range(size):
            moved[s, : high - low] = 0
        for m in range(begin, end):
            if hits[m]:
                _added(gone[low:high], weight[m], alive[b + source[m], low:high])
            else:
                _added(moved[target[m], : high - low], weight[m], alive[b + source[m], low:high])
        for s in range(size):
            alive[b + s, low:high] = moved[s, : high - low]
        low = high


@njit(cache=True)
def _added(total, weight, more):
    for c in range(len(total)):
        total[c] += weight * more[c]


@njit(cache=True)
def hits_at(first, last, moves, hits, base, full, out):
    """out[i]: the probability that some unit has a hit at step first + i."""
    step_cells, cell_unit, offsets, source, target, weight, _ = moves
    widest = 1
    for u in range(len(base) - 1):
        widest = max(widest, base[u + 1] - base[u])
    later = np.zeros(widest, full.dtype)
    for i in range(first, last):
        for c in range(step_cells[i], step_cells[i + 1]):
            u = cell_unit[c]
            b, size = base[u], base[u + 1] - base[u]
            later[:size] = 0
            found = weight[0] * 0
            for m in range(offsets[c], offsets[c + 1]):
                part = weight[m] * full[b + source[m]]
                later[target[m]] += part
                if hits[m]:
                    found += part
            full[b : b + size] = later[:size]
            out[i - first] += found * (1 - out[i - first])


@njit(cache=True)
def next_after(first, last, cut, taken, made, weights, child, out):
    """out[i]: the probability that a stage of independent events accepts an event at step first + i, after its child.

    weights[c] is the probability that the latest event that ends waiting was at the start of column c; child[i, c] that
    the stages before (the child) matched from there to the step before first + i.
    """
    n_columns = len(made)
    n = 0
    while n < n_columns and made[n] < first:
        n += 1
    for i in range(first, last):
        found = cut[i] * 0
        if taken[i] != 0:
            for c in range(n):
                found += weights[c] * child[i - first, c]
        out[i - first] = found * taken[i]
        if cut[i] != 0:
            for c in range(n):
                weights[c] *= 1 - cut[i]
            weights[n] = cut[i]
            n += 1


@njit(cache=True)
def next_within(first, last, match, made, starts, chances, passed, child, mine_made, mine_starts, held, out):
    """out[i, c]: the probability of a match of a stage of independent events from the start of column c to first + i.

    Column j of the child has the probability chances[j] of an event at its start, and passed[j] that waiting continues.
    """
    n_columns, n_mine = len(made), len(mine_made)
    n, k = 0, 0
    while n < n_columns and made[n] < first:
        n += 1
    while k < n_mine and mine_made[k] < first:
        k += 1
    for i in range(first, last):
        while k < n_mine and mine_made[k] <= i:
            held[k] = 0
            k += 1
        p = match[i]
        if p != 0:
            j = 0
            gone = p * 0
            for c in range(k):
                while j < n and starts[j] < mine_starts[c]:
                    gone = passed[j] * gone + chances[j] * child[i - first, j]
                    j += 1
                held[c] = (1 - p) * held[c] + p * gone
        while n < n_columns and made[n] <= i:
            n += 1
        for c in range(k):
            out[i - first, c] = held[c]


@njit(cache=True)
def any_within(first, last, match, child, mine_made, held, out):
    """`next_within` for a repeated stage that accepts all its events; child[i] is for all steps before first + i."""
    n_mine = len(mine_made)
    k = 0
    while k < n_mine and mine_made[k] < first:
        k += 1
    for i in range(first, last):
        while k < n_mine and mine_made[k] <= i:
            held[k] = 0
            k += 1
        p = match[i]
        for c in range(k):
            held[c] = (1 - p) * held[c] + p * child[i - first]
            out[i - first, c] = held[c]


@njit(cache=True)
def tails_of(segment, passed, tail):
    """tail[c]: the probability that waiting continues from after the start of column c to the end of its segment."""
    ahead = passed[0] * 0 + 1
    for c in range(len(segment) - 1, -1, -1):
        if c < len(segment) - 1 and segment[c] != segment[c + 1]:
            ahead = passed[0] * 0 + 1
        tail[c] = ahead
        ahead = ahead * passed[c]


@njit(cache=True)
def covered(match, taken, child, latest, out):
    """out[i]: the probability that a stage accepts an event, if every event that satisfies the child matches the stage.

    `latest` is the probability that the stages before were satisfied by the latest event that can be accepted.
    """
    for i in range(len(match)):
        out[i] = taken[i] * latest
        latest = (1 - match[i]) * latest + child[i]
    return latest
