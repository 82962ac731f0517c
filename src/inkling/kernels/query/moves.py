"""What a unit does at each time, as moves between its states: one list per unit and time at which it has rows.

Ré, Letchner, Balazinska, Suciu: Event Queries on Correlated Probabilistic Streams, SIGMOD 2008 (Lahar), section 3.1.2:
the Markov chain of automaton and stream values. The weights of the moves from one state sum to 1.

A state is a state of an automaton together with the values that the unit's chained streams have. Numbers are those of
`chance`: floats, or fractions where the kernels run uncompiled.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from inkling.kernels.query.forward import shares_of_symbols


@njit(cache=True)
def moves_of_cells(
    fill, offsets, cell_first, cell_unit, begin, end, chain_of, anew, symbol, chance, rest, value, given, first, size,
    union, delta, kind, n_kinds, nearly_nothing, source, target, weight, what,
):  # fmt: skip
    """Moves offsets[c]:offsets[c + 1] of each cell, from groups cell_first[c]:cell_first[c + 1] of unit cell_unit[c].

    `chain_of` names the chained stream of each group, -1 for none; those of unit u are first[u]:first[u + 1], each with
    `size` values of which 0 is no event. Without `fill` moves are only counted.
    """
    n_states, n_symbols = delta.shape
    share = np.zeros(n_symbols, chance.dtype)
    more = np.zeros(n_symbols, chance.dtype)
    landed = np.zeros((n_states, n_kinds), chance.dtype)
    widest = 1
    for c in range(len(cell_unit)):
        widest = max(widest, cell_first[c + 1] - cell_first[c])
    independent = np.empty(widest, np.int64)
    at = 0
    for c in range(len(cell_unit)):
        offsets[c] = at
        n_independent = 0
        for g in range(cell_first[c], cell_first[c + 1]):
            if chain_of[g] < 0:
                independent[n_independent] = g
                n_independent += 1
        shares_of_symbols(independent[:n_independent], begin, end, symbol, chance, rest, union, share, more)
        u = cell_unit[c]
        one = share[0] * 0 + 1
        if first[u] == first[u + 1]:
            at = _landings(fill, at, 0, 0, 0, one, share, union, delta, kind, landed, source, target, weight, what)
            continue
        n_chains = first[u + 1] - first[u]
        group = np.full(n_chains, -1, np.int64)
        for g in range(cell_first[c], cell_first[c + 1]):
            if chain_of[g] >= 0:
                group[chain_of[g] - first[u]] = g
        room = 0
        for j in range(n_chains):
            n_values = size[first[u] + j]
            room += n_values if group[j] < 0 else n_values * (end[group[j]] - begin[group[j]] + 1)
        before, after = np.empty(room, np.int64), np.empty(room, np.int64)
        symbols, chances = np.empty(room, np.int64), np.zeros(room, chance.dtype)
        steps = np.zeros(n_chains + 1, np.int64)
        for j in range(n_chains):
            steps[j + 1] = _steps_of_chain(
                steps[j], size[first[u] + j], group[j], begin, end, anew, symbol, chance, value, given, one,
                nearly_nothing, before, after, symbols, chances,
            )  # fmt: skip
        counter = steps[:-1].copy()
        while counter[0] < steps[1]:
            come, gone, x, p = 0, 0, 0, one
            for j in range(n_chains):
                i = counter[j]
                come = come * size[first[u] + j] + before[i]
                gone = gone * size[first[u] + j] + after[i]
                x = union[x, symbols[i]]
                p = p * chances[i]
            at = _landings(fill, at, come, gone, x, p, share, union, delta, kind, landed, source, target, weight, what)
            j = n_chains - 1
            counter[j] += 1
            while j > 0 and counter[j] == steps[j + 1]:
                counter[j] = steps[j]
                j -= 1
                counter[j] += 1
    offsets[len(cell_unit)] = at
    return at


@njit(cache=True)
def _steps_of_chain(
    at,
    n_values,
    g,
    begin,
    end,
    anew,
    symbol,
    chance,
    value,
    given,
    one,
    nearly_nothing,
    before,
    after,
    symbols,
    chances,
):
    """From which value to which one a chained stream goes at one time, and what it says then."""
    for v in range(n_values):
        if g < 0:
            before[at], after[at], symbols[at], chances[at] = v, v, 0, one
            at += 1
            continue
        left = one
        for r in range(begin[g], end[g]):
            if (anew[g] or given[r] == v) and chance[r] != 0:
                before[at], after[at], symbols[at], chances[at] = v, value[r], symbol[r], chance[r]
                left = left - chance[r]
                at += 1
        if left > nearly_nothing:
            before[at], after[at], symbols[at], chances[at] = v, 0, 0, left
            at += 1
    return at


@njit(cache=True)
def _landings(fill, at, come, gone, x, p, share, union, delta, kind, landed, source, target, weight, what):
    """The moves of all states of the automaton, with each symbol that independent streams may add."""
    n_states, n_kinds = landed.shape
    for s in range(n_states):
        for y in range(len(share)):
            if share[y] != 0:
                z = union[x, y]
                landed[delta[s, z], kind[s, z]] += p * share[y]
        for t in range(n_states):
            for k in range(n_kinds):
                if landed[t, k] != 0:
                    if fill:
                        source[at] = come * n_states + s
                        target[at] = gone * n_states + t
                        weight[at] = landed[t, k]
                        what[at] = k
                    at += 1
                    landed[t, k] = p * 0
    return at
