"""One automaton over alternatives: the probability of every state, carried forward from time to time.

The forward pass for regular and extended regular queries of Lahar (Ré, Letchner, Balazinska, Suciu: Event Queries on
Correlated Probabilistic Streams, SIGMOD 2008, sections 3.1.2 and 3.2), and for patterns that are regular
expressions over one probable stream per key.

A unit is what is followed on its own: the streams of one grounding, or one stream. A step is one time of a unit, at
which each of its streams has one group of alternatives; at most one alternative of a group happens. Independent streams
of a step are combined into one distribution of symbols. At most one stream of a unit is Markov: its probabilities
depend on its value before, so that mass is kept for each value. A unit without such a stream has one entry, that of no
event.

Beside the probabilities, runs of the nondeterministic automaton say how early a match can have begun.

Invariants: the mass of a unit sums to 1 (to the probability of no match so far with `ever`); symbol 0 leaves every
state and run as it is; no edge of a run leads to its state 0. Times are in the unit of the caller. Probabilities have
the type of `rows.chance`: floats, or fractions where the kernel runs uncompiled.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

NEVER = np.int64(2**62)
UNSTARTED = np.int64(2**62 - 1)
"""A run that has not met an event of its own; of state 0, that there may be a world that is so far."""


class Transitions(NamedTuple):
    """Transitions of states and of runs by symbol."""

    # shape, name in Lahar
    union: np.ndarray  # [symbol, symbol]: both at one time
    delta: np.ndarray  # [state, symbol]: δ
    hit: np.ndarray  # [state, symbol]: a match ends with it, δ(s, σ) ∈ F
    moves: np.ndarray  # edges of symbol y are moves[y]:moves[y + 1]
    source: np.ndarray  # [edge]
    target: np.ndarray  # [edge]
    marked: np.ndarray  # [edge]: it takes an event of the match
    final: np.ndarray  # [state of runs]: F


class Steps(NamedTuple):
    """Steps units[u]:units[u + 1] of unit u; groups[first[i]:first[i + 1]] of step i."""

    units: np.ndarray
    first: np.ndarray
    groups: np.ndarray
    time: np.ndarray  # [step]: t


class Groups(NamedTuple):
    """Alternatives that exclude each other: rows begin[g]:end[g]."""

    begin: np.ndarray
    end: np.ndarray
    rest: np.ndarray  # probability of no event, of independent streams: P[⊥]
    anew: np.ndarray  # what happens does not depend on the value before
    is_markov: np.ndarray


class Rows(NamedTuple):
    """Alternatives; values are numbers below `n_values`, which itself stands for no event."""

    symbol: np.ndarray  # σ
    chance: np.ndarray  # P[e(t) = d], or E(t)[d', d] of Markov streams
    value: np.ndarray  # d
    given: np.ndarray  # d', the value before
    rank: np.ndarray  # of equally likely last rows, the one of the least rank is reported


class StateBefore(NamedTuple):
    """The state of units before the first step: entries first[u]:first[u + 1], one per possible value."""

    first: np.ndarray
    value: np.ndarray
    mass: np.ndarray  # [entry, state]: P[value d and state s]
    begun: np.ndarray  # [entry, row, state of runs]: earliest start; one row, or with `restart` one per state


class StateAfter(NamedTuple):
    """The state after the last step: n_entries[u] entries from first[u] on."""

    first: np.ndarray
    n_entries: np.ndarray
    value: np.ndarray
    mass: np.ndarray
    begun: np.ndarray


class Ends(NamedTuple):
    """What is found; `weight` and `belief` are left out where they are empty."""

    chance: np.ndarray  # [step]: a match ends, with `ever` for the first time; μ(q@t)
    start: np.ndarray  # [step]: how early it can have begun, NEVER where none can end
    last: np.ndarray  # [step]: the likeliest row with which it ends, of steps without independent streams
    weight: np.ndarray  # [row]: probability of each row of a Markov stream
    belief: np.ndarray  # [step, state]: afterwards


@njit(cache=True)
def shares_of_symbols(groups, begin, end, symbol, chance, rest, union, share, more):
    """How probable each symbol is at one time, from all independent streams that have something then."""
    share[:] = 0
    share[0] = 1
    for i in range(len(groups)):
        g = groups[i]
        if i == 0:
            share[0] = rest[g]
            for r in range(begin[g], end[g]):
                share[symbol[r]] += chance[r]
            continue
        for x in range(len(share)):
            more[x] = share[x] * rest[g]
        for r in range(begin[g], end[g]):
            for x in range(len(share)):
                if share[x] != 0:
                    more[union[x, symbol[r]]] += share[x] * chance[r]
        share[:] = more


@njit(cache=True)
def forward(steps, groups, rows, transitions, held, kept, ends, n_values, nearly_nothing, ever, restart):
    """Carries the entries of each unit over its steps.

    A match ends all runs of its world with `restart`; with `ever`, a world counts once. Mass of at most
    `nearly_nothing` that no alternative of a Markov stream takes is rounding.
    """
    # fields are read once: each access to one counts a reference
    begin, end, rest, anew, is_markov = groups
    symbol, chance, value, given, rank = rows
    union, delta, hit, moves, source, target, marked, final = transitions
    units, first_group, groups_of, time = steps
    out, start, last, weight, belief = ends
    n_states, n_symbols = delta.shape
    n_rows, n_runs = held.begun.shape[1], held.begun.shape[2]
    share, more = np.zeros(n_symbols, chance.dtype), np.zeros(n_symbols, chance.dtype)
    independent = np.empty(len(groups_of), np.int64)
    mass, new_mass = np.zeros((n_values + 1, n_states), chance.dtype), np.zeros((n_values + 1, n_states), chance.dtype)
    begun, new_begun = np.full((n_values + 1, n_rows, n_runs), NEVER), np.full((n_values + 1, n_rows, n_runs), NEVER)
    left = np.zeros(n_values + 1, chance.dtype)
    active, next_active = np.empty(n_values + 1, np.int64), np.empty(n_values + 1, np.int64)
    is_active, is_next = np.zeros(n_values + 1, np.bool_), np.zeros(n_values + 1, np.bool_)
    none = share[0] * 0
    weighs, keeps_belief = len(weight) > 0, len(belief) > 0
    for u in range(len(units) - 1):
        n_active = 0
        for h in range(held.first[u], held.first[u + 1]):
            d = held.value[h]
            mass[d, :] = held.mass[h]
            begun[d, :, :] = held.begun[h]
            is_active[d] = True
            active[n_active] = d
            n_active += 1
        for i in range(units[u], units[u + 1]):
            now = time[i]
            n_independent, chained = 0, -1
            for j in range(first_group[i], first_group[i + 1]):
                if is_markov[groups_of[j]]:
                    chained = groups_of[j]
                else:
                    independent[n_independent] = groups_of[j]
                    n_independent += 1
            if n_independent > 0:
                shares_of_symbols(independent[:n_independent], begin, end, symbol, chance, rest, union, share, more)
            found, most = none, none
            earliest, ending = NEVER, np.int64(-1)
            n_next, first_row, n_in_group = 0, 0, 0
            if chained >= 0:
                first_row, n_in_group = begin[chained], end[chained] - begin[chained]
                if anew[chained]:
                    n_active = _forgotten(mass, begun, active, n_active, is_active, n_values)
            for a in range(n_active):
                left[active[a]] = 1
            for k in range(n_in_group + n_active):
                # the rows of the Markov stream, and then no row of it
                r = first_row + k if k < n_in_group else -1
                if r >= 0:
                    d, v, y, p = given[r], value[r], symbol[r], chance[r]
                    if not is_active[d] or p == 0:
                        continue
                    left[d] -= p
                else:
                    d = active[k - n_in_group]
                    v, y, p = d if chained < 0 else n_values, 0, left[d]
                    if p <= nearly_nothing:
                        continue
                if not is_next[v]:
                    n_next = _opened(v, new_mass, new_begun, is_next, next_active, n_next)
                if r >= 0 and weighs:
                    for s in range(n_states):
                        weight[r] += mass[d, s] * p
                ended, arrives = none, NEVER
                for x in range(n_symbols if n_independent > 0 else 1):
                    if n_independent == 0:
                        z, part_of = y, p
                    elif share[x] != 0:
                        z, part_of = union[y, x], p * share[x]
                    else:
                        continue
                    for s in range(n_states):
                        part = mass[d, s] * part_of
                        if hit[s, z]:
                            ended += part
                            if ever:
                                continue
                        new_mass[v, delta[s, z]] += part
                    for c in range(n_rows):
                        if begun[d, c, 0] == NEVER:
                            continue
                        to = delta[c, z] if restart else 0
                        new_begun[v, to, 0] = UNSTARTED
                        if z == 0:
                            for q in range(1, n_runs):
                                if begun[d, c, q] < new_begun[v, to, q]:
                                    new_begun[v, to, q] = begun[d, c, q]
                            continue
                        ends_all = restart and hit[c, z]
                        for j in range(moves[z], moves[z + 1]):
                            began = begun[d, c, source[j]]
                            if began == UNSTARTED and marked[j]:
                                began = now
                            if final[target[j]] and began < arrives:
                                arrives = began
                            if not ends_all and began < new_begun[v, to, target[j]]:
                                new_begun[v, to, target[j]] = began
                found += ended
                if arrives < UNSTARTED:
                    earliest = min(earliest, arrives)
                    if r >= 0 and (ending < 0 or ended > most or (ended == most and rank[r] < rank[ending])):
                        most, ending = ended, np.int64(r)
            for a in range(n_active):
                is_active[active[a]] = False
            for a in range(n_next):
                d = next_active[a]
                is_next[d] = False
                is_active[d] = True
                active[a] = d
                if keeps_belief:
                    for s in range(n_states):
                        belief[i, s] += new_mass[d, s]
            n_active = n_next
            mass, new_mass = new_mass, mass
            begun, new_begun = new_begun, begun
            out[i] = found
            start[i] = earliest
            last[i] = ending
        kept.n_entries[u] = n_active
        for a in range(n_active):
            d = active[a]
            is_active[d] = False
            kept.value[kept.first[u] + a] = d
            kept.mass[kept.first[u] + a] = mass[d]
            kept.begun[kept.first[u] + a] = begun[d]


@njit(cache=True)
def _opened(value, new_mass, new_begun, is_next, next_active, n_next):
    """Makes a value one that there may be now."""
    is_next[value] = True
    next_active[n_next] = value
    for s in range(new_mass.shape[1]):
        new_mass[value, s] = 0
    for c in range(new_begun.shape[1]):
        for q in range(new_begun.shape[2]):
            new_begun[value, c, q] = NEVER
    return n_next + 1


@njit(cache=True)
def _forgotten(mass, begun, active, n_active, is_active, nothing):
    """All values as one, that of no event."""
    if not is_active[nothing]:
        mass[nothing, :] = 0
        begun[nothing, :, :] = NEVER
    for a in range(n_active):
        d = active[a]
        is_active[d] = False
        if d != nothing:
            for s in range(mass.shape[1]):
                mass[nothing, s] += mass[d, s]
            for c in range(begun.shape[1]):
                for q in range(begun.shape[2]):
                    begun[nothing, c, q] = min(begun[nothing, c, q], begun[d, c, q])
    active[0] = nothing
    is_active[nothing] = True
    return 1
