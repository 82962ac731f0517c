"""Automata over what may happen: the chance of every state, carried from time to time.

Independent streams need one number per state. A stream whose value depends on the one before needs one per value and
state. Beside the chances, runs tell how early a match can have begun. All numbers are those of `chance`: floats, or
fractions where the kernels run uncompiled.
"""

from __future__ import annotations

import numpy as np
from numba import njit

NEVER = np.int64(2**62)
UNSTARTED = np.int64(2**62 - 1)
"""A run that has not met an event of its own."""


@njit(cache=True)
def shares_of_letters(groups, begin, end, letter, chance, rest, union, share, more):
    """How probable each letter is at one time, from all independent streams that have something then."""
    share[:] = 0
    share[0] = 1
    for i in range(len(groups)):
        g = groups[i]
        if i == 0:
            share[0] = rest[g]
            for r in range(begin[g], end[g]):
                share[letter[r]] += chance[r]
            continue
        for x in range(len(share)):
            more[x] = share[x] * rest[g]
        for r in range(begin[g], end[g]):
            for x in range(len(share)):
                if share[x] != 0:
                    more[union[x, letter[r]]] += share[x] * chance[r]
        share[:] = more


@njit(cache=True)
def moved_runs(begun, arrived, now, first, last, source, target, marked):
    """Runs that take the edges first:last at a time; those that arrive earlier stay."""
    for i in range(first, last):
        if source[i] == 0:
            from_here = now if marked[i] else UNSTARTED
        else:
            from_here = begun[source[i]]
            if from_here == UNSTARTED and marked[i]:
                from_here = now
        if from_here < arrived[target[i]]:
            arrived[target[i]] = from_here


@njit(cache=True)
def follow_independent(
    units, steps, groups, begin, end, letter, chance, rest, time, union, delta, hit, moves, source, target, marked,
    final, ever, mass, begun, out, start,
):  # fmt: skip
    """Carries mass[unit, state] over the steps units[u]:units[u + 1] of each unit.

    Groups groups[steps[i]:steps[i + 1]] happen at time[i]. `out` tells the chance that a match ends at each step, with
    `ever` for the first time; `start` how early it can have begun, NEVER where none can end.
    """
    n_states, n_letters, n_runs = delta.shape[0], delta.shape[1], begun.shape[1]
    share = np.zeros(n_letters, chance.dtype)
    more = np.zeros(n_letters, chance.dtype)
    after = np.zeros(n_states, chance.dtype)
    arrived = np.empty(n_runs, np.int64)
    for u in range(len(units) - 1):
        for i in range(units[u], units[u + 1]):
            shares_of_letters(groups[steps[i] : steps[i + 1]], begin, end, letter, chance, rest, union, share, more)
            for s in range(n_states):
                after[s] = mass[u, s] * share[0]
            arrived[:] = NEVER
            found = share[0] * 0
            for x in range(1, n_letters):
                if share[x] != 0:
                    for s in range(n_states):
                        part = mass[u, s] * share[x]
                        if hit[s, x]:
                            found += part
                            if ever:
                                continue
                        after[delta[s, x]] += part
                    moved_runs(begun[u], arrived, time[i], moves[x], moves[x + 1], source, target, marked)
            mass[u, :] = after
            earliest = NEVER
            for q in range(1, n_runs):
                if final[q] and arrived[q] < earliest:
                    earliest = arrived[q]
                if share[0] == 0 or arrived[q] < begun[u, q]:
                    begun[u, q] = arrived[q]
            out[i] = found
            start[i] = earliest if earliest < UNSTARTED else NEVER


@njit(cache=True)
def follow_markov(
    units, steps, groups, begin, end, is_markov, anew, letter, value, given, chance, rest, nearly_nothing, time, union,
    delta, hit, moves, source, target, marked, final, ever, n_values, held, held_value, held_mass, held_begun, room,
    kept_count, kept_value, kept_mass, kept_begun, out, start, weight,
):  # fmt: skip
    """The same for units with at most one stream whose value depends on the one before, `n_values` for none.

    `weight` tells how probable each row of such a stream is.

    Each unit comes with entries held[u]:held[u + 1], one per value that it may have now, and leaves its own from
    room[u] on, kept_count[u] many.
    """
    n_states, n_letters, n_runs = delta.shape[0], delta.shape[1], held_begun.shape[1]
    share = np.zeros(n_letters, chance.dtype)
    more = np.zeros(n_letters, chance.dtype)
    independent = np.empty(len(groups), np.int64)
    mass = np.zeros((n_values + 1, n_states), chance.dtype)
    begun = np.full((n_values + 1, n_runs), NEVER)
    new_mass = np.zeros((n_values + 1, n_states), chance.dtype)
    new_begun = np.full((n_values + 1, n_runs), NEVER)
    left = np.zeros(n_values + 1, chance.dtype)
    active = np.empty(n_values + 1, np.int64)
    next_active = np.empty(n_values + 1, np.int64)
    is_active = np.zeros(n_values + 1, np.bool_)
    is_next = np.zeros(n_values + 1, np.bool_)
    arrived = np.empty(n_runs, np.int64)
    for u in range(len(units) - 1):
        n_active = 0
        for h in range(held[u], held[u + 1]):
            d = held_value[h]
            mass[d, :] = held_mass[h]
            begun[d, :] = held_begun[h]
            is_active[d] = True
            active[n_active] = d
            n_active += 1
        for i in range(units[u], units[u + 1]):
            n_independent, chained = 0, -1
            for j in range(steps[i], steps[i + 1]):
                if is_markov[groups[j]]:
                    chained = groups[j]
                else:
                    independent[n_independent] = groups[j]
                    n_independent += 1
            shares_of_letters(independent[:n_independent], begin, end, letter, chance, rest, union, share, more)
            found = share[0] * 0
            earliest = NEVER
            n_next = 0
            if chained < 0:
                for a in range(n_active):
                    d = active[a]
                    found, earliest, n_next = _spread(
                        mass, begun, d, d, share[0] * 0 + 1, 0, share, time[i], union, delta, hit, moves, source,
                        target, marked, final, ever, new_mass, new_begun, is_next, next_active, n_next, arrived, found,
                        earliest,
                    )  # fmt: skip
            else:
                if anew[chained]:
                    n_active = _forget(mass, begun, active, n_active, is_active, n_values)
                for a in range(n_active):
                    left[active[a]] = share[0] * 0 + 1
                for r in range(begin[chained], end[chained]):
                    d, p = given[r], chance[r]
                    if not is_active[d] or p == 0:
                        continue
                    left[d] -= p
                    for s in range(n_states):
                        weight[r] += mass[d, s] * p
                    if n_independent > 0:
                        found, earliest, n_next = _spread(
                            mass, begun, d, value[r], p, letter[r], share, time[i], union, delta, hit, moves, source,
                            target, marked, final, ever, new_mass, new_begun, is_next, next_active, n_next, arrived,
                            found, earliest,
                        )  # fmt: skip
                        continue
                    v, y = value[r], letter[r]
                    if not is_next[v]:
                        is_next[v] = True
                        next_active[n_next] = v
                        n_next += 1
                        for s in range(n_states):
                            new_mass[v, s] = 0
                        for q in range(n_runs):
                            new_begun[v, q] = NEVER
                    for s in range(n_states):
                        part = mass[d, s] * p
                        if hit[s, y]:
                            found += part
                            if ever:
                                continue
                        new_mass[v, delta[s, y]] += part
                    if y == 0:
                        for q in range(1, n_runs):
                            if begun[d, q] < new_begun[v, q]:
                                new_begun[v, q] = begun[d, q]
                    for j in range(moves[y], moves[y + 1]):
                        begins = begun[d, source[j]]
                        if source[j] == 0:
                            begins = UNSTARTED
                        if begins == UNSTARTED and marked[j]:
                            begins = time[i]
                        if begins < new_begun[v, target[j]]:
                            new_begun[v, target[j]] = begins
                        if final[target[j]] and begins < earliest:
                            earliest = begins
                for a in range(n_active):
                    d = active[a]
                    if left[d] > nearly_nothing:
                        found, earliest, n_next = _spread(
                            mass, begun, d, n_values, left[d], 0, share, time[i], union, delta, hit, moves, source,
                            target, marked, final, ever, new_mass, new_begun, is_next, next_active, n_next, arrived,
                            found, earliest,
                        )  # fmt: skip
            for a in range(n_active):
                is_active[active[a]] = False
            for a in range(n_next):
                d = next_active[a]
                is_next[d] = False
                is_active[d] = True
                active[a] = d
            n_active = n_next
            mass, new_mass = new_mass, mass
            begun, new_begun = new_begun, begun
            out[i] = found
            start[i] = earliest if earliest < UNSTARTED else NEVER
        kept_count[u] = n_active
        for a in range(n_active):
            d = active[a]
            is_active[d] = False
            kept_value[room[u] + a] = d
            kept_mass[room[u] + a] = mass[d]
            kept_begun[room[u] + a] = begun[d]


@njit(cache=True)
def _forget(mass, begun, active, n_active, is_active, nothing):
    """All values as one, that of no event."""
    if not is_active[nothing]:
        mass[nothing, :] = 0
        begun[nothing, :] = NEVER
    for a in range(n_active):
        d = active[a]
        is_active[d] = False
        if d != nothing:
            for s in range(mass.shape[1]):
                mass[nothing, s] += mass[d, s]
            for q in range(begun.shape[1]):
                if begun[d, q] < begun[nothing, q]:
                    begun[nothing, q] = begun[d, q]
    active[0] = nothing
    is_active[nothing] = True
    return 1


@njit(cache=True)
def _spread(
    mass, begun, before, value, chance, letter, share, now, union, delta, hit, moves, source, target, marked, final,
    ever, new_mass, new_begun, is_next, next_active, n_next, arrived, found, earliest,
):  # fmt: skip
    """Moves what had one value before to another, together with what independent streams do at the same time."""
    n_states, n_runs = delta.shape[0], new_begun.shape[1]
    if not is_next[value]:
        is_next[value] = True
        next_active[n_next] = value
        n_next += 1
        new_mass[value, :] = 0
        new_begun[value, :] = NEVER
    for x in range(len(share)):
        if share[x] == 0:
            continue
        y = union[letter, x]
        weight = chance * share[x]
        for s in range(n_states):
            part = mass[before, s] * weight
            if hit[s, y]:
                found += part
                if ever:
                    continue
            new_mass[value, delta[s, y]] += part
        if y == 0:
            for q in range(1, n_runs):
                if begun[before, q] < new_begun[value, q]:
                    new_begun[value, q] = begun[before, q]
            continue
        arrived[:] = NEVER
        moved_runs(begun[before], arrived, now, moves[y], moves[y + 1], source, target, marked)
        for q in range(1, n_runs):
            if arrived[q] < new_begun[value, q]:
                new_begun[value, q] = arrived[q]
            if final[q] and arrived[q] < earliest:
                earliest = arrived[q]
    return found, earliest, n_next
