"""One stream of alternatives per unit, followed by an automaton: the chance of every state, and where matches began.

Each time has one group of alternatives, of which one happens or none. A stream whose value depends on the one before
has chances of its own for each value. All numbers are those of `chance`: floats, or fractions where the kernel runs
uncompiled.
"""

from __future__ import annotations

import numpy as np
from numba import njit

NEVER = np.int64(2**62)
UNSTARTED = np.int64(2**62 - 1)
"""A run that has not met an event of its own; of state 0, that there may be a world that is so far."""


@njit(cache=True)
def follow_alone(
    units, begin, end, anew, time, letter, value, given, chance, rank, nearly_nothing, delta, hit, moves, source,
    target, marked, final, restart, ever, n_values, held, held_value, held_mass, held_begun, room, kept_count,
    kept_value, kept_mass, kept_begun, out, start, last, tells, belief,
):  # fmt: skip
    """Carries mass[value, state] over the groups units[u]:units[u + 1] of each unit, rows begin[g]:end[g] each.

    Values before and after are numbers below `n_values`, which itself stands for no event. Runs tell how early matches
    began: one row of them for all states, or with `restart` one per state, because a match ends all runs of its world.
    Each unit comes with entries held[u]:held[u + 1], one per value, and leaves its own from room[u] on.
    `out` tells the chance that a match ends in each group, with `ever` for the first time; `start` how early it can
    have begun, NEVER where none can end; `last` the likeliest row with which one ends, of equal ones that of the least
    rank. If `tells`, belief[g] is the chance of each state afterwards.
    """
    n_states, n_rows, n_runs = delta.shape[0], held_begun.shape[1], held_begun.shape[2]
    mass = np.zeros((n_values + 1, n_states), chance.dtype)
    begun = np.full((n_values + 1, n_rows, n_runs), NEVER)
    new_mass = np.zeros((n_values + 1, n_states), chance.dtype)
    new_begun = np.full((n_values + 1, n_rows, n_runs), NEVER)
    left = np.zeros(n_values + 1, chance.dtype)
    active = np.empty(n_values + 1, np.int64)
    next_active = np.empty(n_values + 1, np.int64)
    is_active = np.zeros(n_values + 1, np.bool_)
    is_next = np.zeros(n_values + 1, np.bool_)
    for u in range(len(units) - 1):
        n_active = 0
        for h in range(held[u], held[u + 1]):
            d = held_value[h]
            mass[d, :] = held_mass[h]
            begun[d, :, :] = held_begun[h]
            is_active[d] = True
            active[n_active] = d
            n_active += 1
        for g in range(units[u], units[u + 1]):
            if anew[g]:
                n_active = _forgotten(mass, begun, active, n_active, is_active, n_values)
            for a in range(n_active):
                left[active[a]] = 1
            n_next = 0
            found = chance[begin[g]] * 0
            most = found
            ending = np.int64(-1)
            earliest = NEVER
            for r in range(begin[g], end[g]):
                d, p = given[r], chance[r]
                if not is_active[d] or p == 0:
                    continue
                left[d] -= p
                v, x = value[r], letter[r]
                n_next = _opened(v, new_mass, new_begun, is_next, next_active, n_next)
                ended = p * 0
                for s in range(n_states):
                    part = mass[d, s] * p
                    if hit[s, x]:
                        ended += part
                        if ever:
                            continue
                    new_mass[v, delta[s, x]] += part
                found += ended
                arrives = _moved_runs(
                    begun[d], new_begun[v], time[g], x, delta, hit, moves, source, target, marked, final, restart
                )
                if arrives < UNSTARTED:
                    earliest = min(earliest, arrives)
                    if ending < 0 or ended > most or (ended == most and rank[r] < rank[ending]):
                        most, ending = ended, np.int64(r)
            for a in range(n_active):
                d = active[a]
                if left[d] > nearly_nothing:
                    n_next = _opened(n_values, new_mass, new_begun, is_next, next_active, n_next)
                    for s in range(n_states):
                        new_mass[n_values, s] += mass[d, s] * left[d]
                    for c in range(n_rows):
                        for q in range(n_runs):
                            new_begun[n_values, c, q] = min(new_begun[n_values, c, q], begun[d, c, q])
            for a in range(n_active):
                is_active[active[a]] = False
            for a in range(n_next):
                d = next_active[a]
                is_next[d] = False
                is_active[d] = True
                active[a] = d
                if tells:
                    for s in range(n_states):
                        belief[g, s] += new_mass[d, s]
            n_active = n_next
            mass, new_mass = new_mass, mass
            begun, new_begun = new_begun, begun
            out[g], start[g], last[g] = found, earliest, ending
        kept_count[u] = n_active
        for a in range(n_active):
            d = active[a]
            is_active[d] = False
            kept_value[room[u] + a] = d
            kept_mass[room[u] + a] = mass[d]
            kept_begun[room[u] + a] = begun[d]


@njit(cache=True)
def _opened(value, new_mass, new_begun, is_next, next_active, n_next):
    """Makes a value one that there may be now."""
    if is_next[value]:
        return n_next
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


@njit(cache=True)
def _moved_runs(begun, arrived, now, letter, delta, hit, moves, source, target, marked, final, restart):
    """Runs that a letter moves; those that began earlier stay. The earliest start of a match that ends with it."""
    earliest = NEVER
    for c in range(begun.shape[0]):
        if begun[c, 0] == NEVER:
            continue
        to = delta[c, letter] if restart else 0
        arrived[to, 0] = UNSTARTED
        ends = restart and hit[c, letter]
        for j in range(moves[letter], moves[letter + 1]):
            began = begun[c, source[j]]
            if began == UNSTARTED and marked[j]:
                began = now
            if final[target[j]] and began < earliest:
                earliest = began
            if not ends and began < arrived[to, target[j]]:
                arrived[to, target[j]] = began
    return earliest
