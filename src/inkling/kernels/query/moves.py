"""Transitions of the states of a unit, as one list of moves per unit and time at which it has rows.

Ré, Letchner, Balazinska, Suciu: Event Queries on Correlated Probabilistic Streams, SIGMOD 2008 (Lahar), section 3.1.2:
the Markov chain of automaton and stream values. The weights of the moves from one state sum to 1.

A state of a unit is a state of an automaton and the values of its chained (Markov) streams. Numbers have the type of
`chance`: floats, or fractions where kernels run uncompiled.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from inkling.kernels.phase import phase
from inkling.kernels.query.forward import combined_symbols


class Cells(NamedTuple):
    """A cell is one time of a unit: groups first[c]:first[c + 1] of unit[c]."""

    first: np.ndarray
    unit: np.ndarray
    offsets: np.ndarray  # written: cell c has the moves offsets[c]:offsets[c + 1]


class ChainedStreams(NamedTuple):
    """Chained streams first[u]:first[u + 1] of unit u."""

    of_group: np.ndarray  # the chained stream of each group, -1 for none
    first: np.ndarray
    size: np.ndarray  # [stream]: number of values; value 0 is no event


class KindsBySymbol(NamedTuple):
    """Transitions of states by symbol."""

    union: np.ndarray  # [symbol, symbol]: both at one time
    delta: np.ndarray  # [state, symbol]: δ
    kind: np.ndarray  # [state, symbol]: the kind of the move
    n_kinds: int


class StateMoves(NamedTuple):
    """Moves between states of units, written."""

    source: np.ndarray
    target: np.ndarray
    weight: np.ndarray
    kind: np.ndarray


class CellArrays(NamedTuple):
    share: np.ndarray  # [symbol]: its probability from all independent streams
    more: np.ndarray  # [symbol]: the same with one stream more
    landed: np.ndarray  # [state, kind]: probability of the moves from one state


class ChainSteps(NamedTuple):
    """Steps of chained streams at one time: from one value to another, with a symbol."""

    before: np.ndarray  # d'
    after: np.ndarray  # d
    symbol: np.ndarray  # σ
    chance: np.ndarray  # E(t)[d', d]


@njit(cache=True)
def moves_of_cells(fill, cells, groups, rows, chains, alphabet, nearly_nothing, moves):
    """Writes the moves of each cell; without `fill`, only counts them."""
    n_states, n_symbols = alphabet.delta.shape
    dtype = rows.chance.dtype
    work = CellArrays(
        np.zeros(n_symbols, dtype), np.zeros(n_symbols, dtype), np.zeros((n_states, alphabet.n_kinds), dtype)
    )
    share, one = work.share, work.share[0] * 0 + 1
    at = 0
    for c in range(len(cells.unit)):
        cells.offsets[c] = at
        u, n_independent = cells.unit[c], 0
        for g in range(cells.first[c], cells.first[c + 1]):
            if not groups.is_markov[g]:
                combined_symbols(g, n_independent == 0, groups, rows, alphabet.union, share, work.more)
                n_independent += 1
        if n_independent == 0:
            share[:] = 0
            share[0] = one
        if chains.first[u] == chains.first[u + 1]:
            at = _landings(fill, at, 0, 0, 0, one, work, alphabet, moves)
        else:
            steps, ends = _steps_of_chains(c, cells, groups, rows, chains, one, nearly_nothing)
            at = _moves_of_chains(fill, at, steps, ends, chains.size[chains.first[u] :], work, alphabet, moves)
    cells.offsets[len(cells.unit)] = at
    return at


@njit(cache=True)
def _steps_of_chains(c, cells, groups, rows, chains, one, nearly_nothing):
    """The possible steps of chained streams in a cell; those of stream j are ends[j]:ends[j + 1]."""
    u = cells.unit[c]
    first, n_chains = chains.first[u], chains.first[u + 1] - chains.first[u]
    group = np.full(n_chains, -1, np.int64)
    for g in range(cells.first[c], cells.first[c + 1]):
        if groups.is_markov[g]:
            group[chains.of_group[g] - first] = g
    most = 0
    for j in range(n_chains):
        n_values, g = chains.size[first + j], group[j]
        most += n_values if g < 0 else n_values * (groups.end[g] - groups.begin[g] + 1)
    steps = ChainSteps(
        np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64), np.zeros(most, rows.chance.dtype)
    )
    ends = np.zeros(n_chains + 1, np.int64)
    for j in range(n_chains):
        size = chains.size[first + j]
        ends[j + 1] = _steps_of_chain(steps, ends[j], size, group[j], groups, rows, one, nearly_nothing)
    return steps, ends


@phase
def _steps_of_chain(steps, at, n_values, g, groups, rows, one, nearly_nothing):
    """The possible steps of one chained stream at one time."""
    before, after, symbol, chance = steps
    for v in range(n_values):
        if g < 0:
            before[at], after[at], symbol[at], chance[at] = v, v, 0, one
            at += 1
            continue
        left = one
        for r in range(groups.begin[g], groups.end[g]):
            if (groups.anew[g] or rows.given[r] == v) and rows.chance[r] != 0:
                before[at], after[at], symbol[at], chance[at] = v, rows.value[r], rows.symbol[r], rows.chance[r]
                left = left - rows.chance[r]
                at += 1
        if left > nearly_nothing:
            before[at], after[at], symbol[at], chance[at] = v, 0, 0, left
            at += 1
    return at


@njit(cache=True)
def _moves_of_chains(fill, at, steps, ends, size, work, alphabet, moves):
    """The moves for all combinations of steps of the chained streams of a cell; `size` has their numbers of values."""
    n_chains = len(ends) - 1
    counter = ends[:-1].copy()
    while counter[0] < ends[1]:
        come, gone, x, p = 0, 0, 0, work.share[0] * 0 + 1
        for j in range(n_chains):
            i = counter[j]
            come = come * size[j] + steps.before[i]
            gone = gone * size[j] + steps.after[i]
            x = alphabet.union[x, steps.symbol[i]]
            p = p * steps.chance[i]
        at = _landings(fill, at, come, gone, x, p, work, alphabet, moves)
        j = n_chains - 1
        counter[j] += 1
        while j > 0 and counter[j] == ends[j + 1]:
            counter[j] = ends[j]
            j -= 1
            counter[j] += 1
    return at


@phase
def _landings(fill, at, come, gone, x, p, work, alphabet, moves):
    """The moves of all states of the automaton, with each symbol of the independent streams."""
    share, landed = work.share, work.landed
    n_states, n_kinds = landed.shape
    for s in range(n_states):
        for y in range(len(share)):
            if share[y] != 0:
                z = alphabet.union[x, y]
                landed[alphabet.delta[s, z], alphabet.kind[s, z]] += p * share[y]
        for t in range(n_states):
            for k in range(n_kinds):
                if landed[t, k] != 0:
                    if fill:
                        moves.source[at] = come * n_states + s
                        moves.target[at] = gone * n_states + t
                        moves.weight[at] = landed[t, k]
                        moves.kind[at] = k
                    at += 1
                    landed[t, k] = p * 0
    return at
