"""The sequence operator of safe plans for a stage over Markov streams, by moves of the joint value of its streams.

Ré, Letchner, Balazinska, Suciu: Event Queries on Correlated Probabilistic Streams, SIGMOD 2008 (Lahar), section 3.3.1:
the sequence operator of safe plans, here for Markov streams.

The kind of a move is 0 for no event, 1 for an event that matches and is rejected, 2 for one that is accepted. Columns
are starts, as in `intervals`. The child is the plan of the stages before.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from inkling.kernels.query.intervals import TILE


class ChildColumns(NamedTuple):
    """Columns of the child, and the transitions of the value between them."""

    made: np.ndarray  # [column]: the step before which it begins
    starts: np.ndarray  # [column]
    landed: np.ndarray  # [column, value]: distribution of the value after an event at the start
    waited: np.ndarray  # [column, value, value]: transitions from the start before without an event
    free: np.ndarray  # [column, value, value]: all transitions from this start to now


@njit(cache=True)
def chained_after(first, last, moves, cuts, made, full, weights, child, out):
    """out[i]: the probability that the stage accepts an event at step first + i, after its child.

    weights[v, c] is the probability that the value is v, and the latest event that ends waiting (`cuts[kind]`) was at
    the start of column c; full[v] that of the value.
    """
    step_cells, _, offsets, source, target, weight, kind = moves
    n_values, n_columns = weights.shape
    moved = np.zeros((n_values, n_columns + 1), weights.dtype)
    later = np.zeros(n_values, weights.dtype)
    n = 0
    while n < n_columns and made[n] < first:
        n += 1
    for i in range(first, last):
        found = full[0] * 0
        for cell in range(step_cells[i], step_cells[i + 1]):
            moved[:, : n + 1] = 0
            later[:] = 0
            ends = False
            for m in range(offsets[cell], offsets[cell + 1]):
                p, v, w = weight[m], source[m], target[m]
                later[w] += p * full[v]
                if kind[m] == 2:
                    for c in range(n):
                        found += p * weights[v, c] * child[i - first, c]
                if cuts[kind[m]]:
                    moved[w, n] += p * full[v]
                    ends = True
                else:
                    for c in range(n):
                        moved[w, c] += p * weights[v, c]
            if ends:
                n += 1
            weights[:, :n] = moved[:, :n]
            full[:] = later
        out[i - first] = found


@njit(cache=True)
def chained_within(first, last, moves, columns, full, child, mine_made, mine_starts, held, out):
    """out[i, c]: the probability that the stage matched an event from the start of column c to step first + i."""
    made, starts, landed, waited, free = columns
    step_cells, _, offsets, source, target, weight, kind = moves
    n_values, n_columns, n_mine = len(full), len(made), len(mine_made)
    later = np.zeros(n_values, full.dtype)
    here = np.zeros(n_values, full.dtype)
    there = np.zeros(n_values, full.dtype)
    moved = np.zeros((n_values, n_values), full.dtype)
    after = np.zeros(n_values, full.dtype)
    n, k = 0, 0
    while n < n_columns and made[n] < first:
        n += 1
    while k < n_mine and mine_made[k] < first:
        k += 1
    for i in range(first, last):
        while k < n_mine and mine_made[k] <= i:
            held[:, k] = 0
            k += 1
        for cell in range(step_cells[i], step_cells[i + 1]):
            begin, end = offsets[cell], offsets[cell + 1]
            here[:] = 0
            there[:] = 0
            j = 0
            for c in range(k):
                reached = False
                while j < n and starts[j] < mine_starts[c]:
                    for w in range(n_values):
                        later[w] = landed[j, w] * child[i - first, j]
                        for v in range(n_values):
                            later[w] += here[v] * waited[j, v, w]
                    here[:] = later
                    reached = True
                    j += 1
                if reached:
                    for w in range(n_values):
                        there[w] = 0
                        for v in range(n_values):
                            there[w] += here[v] * free[j - 1, v, w]
                after[:] = 0
                for m in range(begin, end):
                    if kind[m] == 0:
                        after[target[m]] += weight[m] * held[source[m], c]
                    else:
                        after[target[m]] += weight[m] * there[source[m]]
                held[:, c] = after
            ends = False
            later[:] = 0
            for m in range(begin, end):
                later[target[m]] += weight[m] * full[source[m]]
                ends = ends or kind[m] != 0
            if ends:
                landed[n, :] = 0
                waited[n, :, :] = 0
                for m in range(begin, end):
                    if kind[m] != 0:
                        landed[n, target[m]] += weight[m] * full[source[m]]
                    elif n > 0:
                        for v in range(n_values):
                            waited[n, v, target[m]] += weight[m] * free[n - 1, v, source[m]]
            for j in range(n):
                moved[:, :] = 0
                for m in range(begin, end):
                    for v in range(n_values):
                        moved[v, target[m]] += weight[m] * free[j, v, source[m]]
                free[j, :, :] = moved
            if ends:
                free[n, :, :] = 0
                for v in range(n_values):
                    free[n, v, v] = 1
                n += 1
            full[:] = later
        for c in range(k):
            total = full[0] * 0
            for v in range(n_values):
                total += held[v, c]
            out[i - first, c] = total


@njit(cache=True)
def chained_any_within(first, last, moves, full, child, mine_made, held, out):
    """`chained_within` for a repeated stage that accepts all its events; child[i] is for all steps before first + i."""
    step_cells, _, offsets, source, target, weight, kind = moves
    n_values, n_mine = held.shape
    later = np.zeros(n_values, full.dtype)
    after = np.zeros(n_values, full.dtype)
    k = 0
    while k < n_mine and mine_made[k] < first:
        k += 1
    for i in range(first, last):
        while k < n_mine and mine_made[k] <= i:
            held[:, k] = 0
            k += 1
        for cell in range(step_cells[i], step_cells[i + 1]):
            later[:] = 0
            for m in range(offsets[cell], offsets[cell + 1]):
                later[target[m]] += weight[m] * full[source[m]]
            for c in range(k):
                after[:] = 0
                for m in range(offsets[cell], offsets[cell + 1]):
                    if kind[m] == 0:
                        after[target[m]] += weight[m] * held[source[m], c]
                    else:
                        after[target[m]] += weight[m] * full[source[m]] * child[i - first]
                held[:, c] = after
            full[:] = later
        for c in range(k):
            total = full[0] * 0
            for v in range(n_values):
                total += held[v, c]
            out[i - first, c] = total


@njit(cache=True)
def chained_possible(first, last, moves, cuts, can_be, waits, satisfied, out):
    """out[i]: whether the stage can accept an event at step first + i, after its child.

    `can_be` are the possible values, `waits` those that are possible while the stage waits for an event.
    """
    step_cells, _, offsets, source, target, _, kind = moves
    for i in range(first, last):
        for cell in range(step_cells[i], step_cells[i + 1]):
            now, still = np.zeros_like(can_be), np.zeros_like(waits)
            for m in range(offsets[cell], offsets[cell + 1]):
                if can_be[source[m]]:
                    now[target[m]] = True
                if waits[source[m]]:
                    if kind[m] == 2:
                        out[i - first] = True
                    if not cuts[kind[m]]:
                        still[target[m]] = True
            can_be[:] = now
            waits[:] = still
        if satisfied[i - first]:
            waits |= can_be


@njit(cache=True)
def grouped_after(first, last, moves, base, made, full, ways, sums, child, use_child, repeated, out):
    """out[i]: the probability that the stage accepts an event at step first + i, if units can also be in the child.

    The kind of a move is 3 more if it satisfies the child. ways[k, state, c] are the probabilities of states of a unit
    without an event since the start of column c; k & 1 also excludes one at the start, k & 2 that the child is
    satisfied since then; sums[k, unit, c] are their sums. Inclusion and exclusion over k gives the result. With
    `use_child`, the child is independent of all units and has the probability child[i, c]. A `repeated` stage accepts
    all its events, and none ends waiting.
    """
    step_cells, cell_unit, offsets, source, target, weight, kind = moves
    n_ways, n_units, n_columns = sums.shape
    widest = 1
    for u in range(n_units):
        widest = max(widest, base[u + 1] - base[u])
    moved = np.zeros((widest, min(TILE, max(n_columns, 1))), full.dtype)
    later = np.zeros(widest, full.dtype)
    spared = np.zeros((n_ways, n_units, n_columns), full.dtype)
    spares = np.zeros(n_units, np.bool_)
    n = 0
    while n < n_columns and made[n] < first:
        n += 1
    for i in range(first, last):
        ends, taken = False, False
        for cell in range(step_cells[i], step_cells[i + 1]):
            u, b = cell_unit[cell], base[cell_unit[cell]]
            size = base[u + 1] - b
            for m in range(offsets[cell], offsets[cell + 1]):
                ends = ends or (kind[m] % 3 > 0 and not repeated)
                spares[u] = spares[u] or kind[m] % 3 == 2
            if spares[u]:
                taken = True
                for k in range(n_ways):
                    for c in range(n):
                        spared[k, u, c] = 0
                    for m in range(offsets[cell], offsets[cell + 1]):
                        if kind[m] % 3 < 2:
                            for c in range(n):
                                spared[k, u, c] += weight[m] * ways[k, b + source[m], c]
        found = full[0] * 0
        if taken:
            for c in range(n):
                for k in range(n_ways):
                    any_way = full[0] * 0 + 1
                    for u in range(n_units):
                        any_way *= sums[k, u, c]
                    if any_way == 0:
                        continue
                    none_taken = full[0] * 0 + 1
                    for u in range(n_units):
                        none_taken *= spared[k, u, c] if spares[u] else sums[k, u, c]
                    part = any_way - none_taken
                    if use_child:
                        part *= child[i - first, c]
                    if k == 0 or k == 3:
                        found += part
                    else:
                        found -= part
        out[i - first] = found
        if ends:
            for k in range(n_ways):
                ways[k, :, n] = full
                sums[k, :, n] = 1
        for cell in range(step_cells[i], step_cells[i + 1]):
            u, b = cell_unit[cell], base[cell_unit[cell]]
            size = base[u + 1] - b
            spares[u] = False
            begin, end = offsets[cell], offsets[cell + 1]
            for k in range(n_ways):
                _without_events(begin, end, moves, repeated, k, b, size, n, ways[k], sums[k, u], moved)
                if ends:
                    _at_start(begin, end, moves, k, b, size, n, ways[k], sums[k, u], later)
            later[:size] = 0
            for m in range(begin, end):
                later[target[m]] += weight[m] * full[b + source[m]]
            full[b : b + size] = later[:size]
        if ends:
            n += 1


@njit(cache=True)
def _without_events(begin, end, moves, repeated, k, b, size, n, ways, sums, moved):
    """Advances a unit by one time without an event, in columns that have started."""
    _, _, _, source, target, weight, kind = moves
    width = moved.shape[1]
    low = 0
    while low < n:
        high = min(n, low + width)
        moved[:size, : high - low] = 0
        for m in range(begin, end):
            if (kind[m] % 3 == 0 or repeated) and (kind[m] < 3 or k < 2):
                p, come, gone = weight[m], b + source[m], target[m]
                for c in range(high - low):
                    moved[gone, c] += p * ways[come, low + c]
        for c in range(low, high):
            sums[c] = 0
        for s in range(size):
            for c in range(high - low):
                ways[b + s, low + c] = moved[s, c]
                sums[low + c] += moved[s, c]
        low = high


@njit(cache=True)
def _at_start(begin, end, moves, k, b, size, n, ways, sums, later):
    """Advances a unit by the time at which column n starts, from its states before that time."""
    _, _, _, source, target, weight, kind = moves
    later[:size] = 0
    for m in range(begin, end):
        if (kind[m] % 3 == 0 or k % 2 == 0) and (kind[m] < 3 or k < 2):
            later[target[m]] += weight[m] * ways[b + source[m], n]
    sums[n] = 0
    for s in range(size):
        ways[b + s, n] = later[s]
        sums[n] += later[s]
