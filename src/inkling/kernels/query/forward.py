"""The forward pass of an automaton over a probable stream: the probability of each state, from time to time.

The forward pass for regular and extended regular queries of Lahar (Ré, Letchner, Balazinska, Suciu: Event Queries on
Correlated Probabilistic Streams, SIGMOD 2008, sections 3.1.2 and 3.2), and for patterns that are regular
expressions over one probable stream per key.

A unit is processed independently: the streams of one grounding, or one stream. A step is one time of a unit; there,
each of its streams has one group of alternatives, of which at most one happens. Independent streams are combined into
one distribution of symbols. At most one stream of a unit is Markov: its probabilities depend on its previous value, so
there is an entry of mass for each value, otherwise one entry for no event. Runs of the nondeterministic automaton also
bound how early a match can start. Example: at P[a] = 0.5 and then P[b] = 0.4, the pattern a;b has

    mass by state:    (1, 0)  →  (0.5, 0.5)  →  a match ends with probability 0.5 · 0.4 = 0.2

Invariants: the mass of a unit sums to 1 (to the probability of no match so far with `ever`); symbol 0 leaves every
state and run as it is; no edge of a run leads to its state 0. Times are in the unit of the caller. Probabilities have
the type of `rows.chance`: floats, or fractions where the kernel runs uncompiled.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from inkling.kernels.phase import phase

NEVER = np.int64(2**62)
UNSTARTED = np.int64(2**62 - 1)
"""The start of a run without events yet; in state 0, it means that some world can be in this state."""


class Transitions(NamedTuple):
    """Transitions of states and of runs by symbol."""

    # shape, name in Lahar
    union: np.ndarray  # [symbol, symbol]: symbol of both at one time
    delta: np.ndarray  # [state, symbol]: δ
    hit: np.ndarray  # [state, symbol]: a match ends with it, δ(s, σ) ∈ F
    moves: np.ndarray  # edges of symbol y are moves[y]:moves[y + 1]
    source: np.ndarray  # [edge]
    target: np.ndarray  # [edge]
    marked: np.ndarray  # [edge]: its event belongs to the match
    final: np.ndarray  # [state of runs]: F


class Steps(NamedTuple):
    """Steps units[u]:units[u + 1] of unit u; groups[first[i]:first[i + 1]] of step i."""

    units: np.ndarray
    first: np.ndarray
    groups: np.ndarray
    time: np.ndarray  # [step]: t


class Groups(NamedTuple):
    """Groups of mutually exclusive alternatives: rows begin[g]:end[g]."""

    begin: np.ndarray
    end: np.ndarray
    rest: np.ndarray  # probability of no event, of independent streams: P[⊥]
    anew: np.ndarray  # does not depend on the previous value
    is_markov: np.ndarray


class Rows(NamedTuple):
    """Alternatives; values are numbers below `n_values`, which itself is the value of no event."""

    symbol: np.ndarray  # σ
    chance: np.ndarray  # P[e(t) = d], or E(t)[d', d] of Markov streams
    value: np.ndarray  # d
    given: np.ndarray  # d', the previous value
    rank: np.ndarray  # of equally probable last rows, the one with the least rank is reported


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
    """Results of a pass, written; `weight` and `belief` are optional, and empty if not requested."""

    chance: np.ndarray  # [step]: a match ends, with `ever` for the first time; μ(q@t)
    start: np.ndarray  # [step]: the earliest start of such a match, NEVER if none can end
    last: np.ndarray  # [step]: the most probable last row, of steps without independent streams
    weight: np.ndarray  # [row]: probability of each row of a Markov stream
    belief: np.ndarray  # [step, state]: distribution after the step


class PassOptions(NamedTuple):
    n_values: int  # of Markov streams; also the value of no event
    nearly_nothing: float  # mass up to this that remains after all alternatives of a Markov stream is rounding error
    ever: bool  # a world counts once, when its first match ends
    restart: bool  # a match ends all runs of its world


class PassArrays(NamedTuple):
    """Scratch arrays of a forward pass; of two sides, one has the state before a step, the other the state after it."""

    share: np.ndarray  # [symbol]: its probability from all independent streams at the step
    more: np.ndarray  # [symbol]: the same with one stream more
    mass: np.ndarray  # [side, value, state]: P[value d and state s]
    begun: np.ndarray  # [side, value, row, state of runs]: earliest start
    active: np.ndarray  # [side, place]: the values that are possible
    is_active: np.ndarray  # [side, value]
    left: np.ndarray  # [value]: remaining probability of no event: E(t)[d', ⊥]


class PassStep(NamedTuple):
    side: int  # of the state before
    time: int  # t
    has_independent: bool  # some independent stream has a group
    markov: int  # the group of the Markov stream, -1 for none


class StepMatches(NamedTuple):
    """Results of a step so far."""

    n_next: int  # number of possible values after the step
    chance: float  # μ(q@t)
    start: np.int64
    last: np.int64  # row, -1 for none
    most: float  # probability that a match ends with row `last`


@njit(cache=True)
def forward(steps, groups, rows, transitions, held, kept, ends, options):
    """The forward pass of all units: from the state `held` to the state `kept`; writes `ends`."""
    n_states, n_symbols = transitions.delta.shape
    n_rows, n_runs = held.begun.shape[1], held.begun.shape[2]
    dtype, n_values = rows.chance.dtype, options.n_values
    work = PassArrays(
        np.zeros(n_symbols, dtype),
        np.zeros(n_symbols, dtype),
        np.zeros((2, n_values + 1, n_states), dtype),
        np.full((2, n_values + 1, n_rows, n_runs), NEVER),
        np.empty((2, n_values + 1), np.int64),
        np.zeros((2, n_values + 1), np.bool_),
        np.zeros(n_values + 1, dtype),
    )
    side = 0
    for u in range(len(steps.units) - 1):
        n_active = _resumed(work, side, held, u)
        for i in range(steps.units[u], steps.units[u + 1]):
            n_active = _stepped(work, side, n_active, i, steps, groups, rows, transitions, ends, options)
            side = 1 - side
        _stored(work, side, n_active, kept, u)


@njit(cache=True)
def _resumed(work, side, held, u):
    """Loads the state of a unit before its first step; returns the number of possible values."""
    n_active = 0
    for h in range(held.first[u], held.first[u + 1]):
        d = held.value[h]
        work.mass[side, d, :] = held.mass[h]
        work.begun[side, d, :, :] = held.begun[h]
        work.is_active[side, d] = True
        work.active[side, n_active] = d
        n_active += 1
    return n_active


@njit(cache=True)
def _stored(work, side, n_active, kept, u):
    """Stores the state of a unit after its last step."""
    kept.n_entries[u] = n_active
    for a in range(n_active):
        d = work.active[side, a]
        work.is_active[side, d] = False
        kept.value[kept.first[u] + a] = d
        kept.mass[kept.first[u] + a] = work.mass[side, d]
        kept.begun[kept.first[u] + a] = work.begun[side, d]


@phase
def _stepped(work, side, n_active, i, steps, groups, rows, transitions, ends, options):
    """One step: M(t) from M(t - 1); returns the number of possible values after it."""
    n_independent, markov = 0, -1
    for j in range(steps.first[i], steps.first[i + 1]):
        g = steps.groups[j]
        if groups.is_markov[g]:
            markov = g
        else:
            combined_symbols(g, n_independent == 0, groups, rows, transitions.union, work.share, work.more)
            n_independent += 1
    step = PassStep(side, steps.time[i], n_independent > 0, markov)
    if markov >= 0 and groups.anew[markov]:
        n_active = _forgotten(work, side, n_active, options.n_values)
    for a in range(n_active):
        work.left[work.active[side, a]] = 1
    none = work.share[0] * 0
    found = StepMatches(0, none, NEVER, np.int64(-1), none)
    if markov >= 0:
        found = _by_rows(work, step, found, groups, rows, transitions, ends.weight, options)
    found = _by_no_row(work, step, found, n_active, transitions, options)
    for a in range(n_active):
        work.is_active[side, work.active[side, a]] = False
    if len(ends.belief) > 0:
        for a in range(found.n_next):
            for s in range(len(transitions.delta)):
                ends.belief[i, s] += work.mass[1 - side, work.active[1 - side, a], s]
    ends.chance[i], ends.start[i], ends.last[i] = found.chance, found.start, found.last
    return found.n_next


@phase
def combined_symbols(g, is_first, groups, rows, union, share, more):
    """Combines the distribution of symbols of independent streams with one more stream."""
    if is_first:
        for x in range(len(share)):
            share[x] = 0
        share[0] = groups.rest[g]
        for r in range(groups.begin[g], groups.end[g]):
            share[rows.symbol[r]] += rows.chance[r]
    else:
        for x in range(len(share)):
            more[x] = share[x] * groups.rest[g]
        for r in range(groups.begin[g], groups.end[g]):
            for x in range(len(share)):
                if share[x] != 0:
                    more[union[x, rows.symbol[r]]] += share[x] * rows.chance[r]
        for x in range(len(share)):
            share[x] = more[x]


@phase
def _by_rows(work, step, found, groups, rows, transitions, weight, options):
    """Moves mass by the alternatives of the Markov stream."""
    n_next, chance, start, last, most = found
    side, weighs = step.side, len(weight) > 0
    for r in range(groups.begin[step.markov], groups.end[step.markov]):
        d, v, p = rows.given[r], rows.value[r], rows.chance[r]
        if work.is_active[side, d] and p != 0:
            work.left[d] -= p
            if weighs:
                total = p * 0
                for s in range(len(transitions.delta)):
                    total += work.mass[side, d, s] * p
                weight[r] += total
            n_next = _opened(work, 1 - side, v, n_next)
            ended, began = _by_alternative(work, step, d, v, rows.symbol[r], p, transitions, options)
            chance += ended
            if began < UNSTARTED:
                start = min(start, began)
                if last < 0 or ended > most or (ended == most and rows.rank[r] < rows.rank[last]):
                    most, last = ended, np.int64(r)
    return StepMatches(n_next, chance, start, last, most)


@phase
def _by_no_row(work, step, found, n_active, transitions, options):
    """Moves the mass that remains for no event of the Markov stream; all mass if the step has no such stream."""
    n_next, chance, start, last, most = found
    for a in range(n_active):
        d = work.active[step.side, a]
        p = work.left[d]
        if p > options.nearly_nothing:
            v = d if step.markov < 0 else options.n_values
            n_next = _opened(work, 1 - step.side, v, n_next)
            ended, began = _by_alternative(work, step, d, v, 0, p, transitions, options)
            chance += ended
            if began < UNSTARTED:
                start = min(start, began)
    return StepMatches(n_next, chance, start, last, most)


@phase
def _by_alternative(work, step, d, v, y, p, transitions, options):
    """Moves mass from value d to v by symbol y of the Markov stream, combined with symbols of independent streams.

    Returns the probability that a match ends, and its earliest start.
    """
    if not step.has_independent:
        return _by_symbol(work, step, d, v, y, p, transitions, options)
    ended, began = p * 0, NEVER
    for x in range(len(work.share)):
        if work.share[x] != 0:
            z = transitions.union[y, x]
            more, earlier = _by_symbol(work, step, d, v, z, p * work.share[x], transitions, options)
            ended += more
            began = min(began, earlier)
    return ended, began


@phase
def _by_symbol(work, step, d, v, z, p, transitions, options):
    """The recurrence of section 3.1.2: the mass of each state s moves to δ(s, z), and so do runs."""
    mass, delta, hit, side = work.mass, transitions.delta, transitions.hit, step.side
    ended, began = p * 0, NEVER
    for s in range(len(delta)):
        part = mass[side, d, s] * p
        if hit[s, z]:
            ended += part
            if options.ever:
                continue
        mass[1 - side, v, delta[s, z]] += part
    if options.restart:
        for c in range(len(delta)):
            if work.begun[side, d, c, 0] != NEVER:
                earlier = _moved_runs(work.begun, step, d, c, v, delta[c, z], z, hit[c, z], transitions)
                began = min(began, earlier)
    else:
        began = _moved_runs(work.begun, step, d, 0, v, 0, z, False, transitions)
    return ended, began


@phase
def _moved_runs(begun, step, d, c, v, to, z, ends_all, transitions):
    """Moves runs of row c to row `to` by symbol z; returns the earliest start of a match that ends with z."""
    side = step.side
    began = NEVER
    begun[1 - side, v, to, 0] = UNSTARTED
    if z == 0:
        for q in range(1, begun.shape[3]):
            if begun[side, d, c, q] < begun[1 - side, v, to, q]:
                begun[1 - side, v, to, q] = begun[side, d, c, q]
    else:
        for j in range(transitions.moves[z], transitions.moves[z + 1]):
            q = transitions.target[j]
            since = begun[side, d, c, transitions.source[j]]
            if since == UNSTARTED and transitions.marked[j]:
                since = step.time
            if transitions.final[q] and since < began:
                began = since
            if not ends_all and since < begun[1 - side, v, to, q]:
                begun[1 - side, v, to, q] = since
    return began


@phase
def _opened(work, side, value, n_next):
    """Makes a value possible; returns the number of possible values."""
    if not work.is_active[side, value]:
        work.is_active[side, value] = True
        work.active[side, n_next] = value
        for s in range(work.mass.shape[2]):
            work.mass[side, value, s] = 0
        for c in range(work.begun.shape[2]):
            for q in range(work.begun.shape[3]):
                work.begun[side, value, c, q] = NEVER
        n_next += 1
    return n_next


@phase
def _forgotten(work, side, n_active, nothing):
    """Merges all values into that of no event, where the Markov stream starts anew."""
    mass, begun = work.mass, work.begun
    if not work.is_active[side, nothing]:
        mass[side, nothing, :] = 0
        begun[side, nothing, :, :] = NEVER
    for a in range(n_active):
        d = work.active[side, a]
        work.is_active[side, d] = False
        if d != nothing:
            for s in range(mass.shape[2]):
                mass[side, nothing, s] += mass[side, d, s]
            for c in range(begun.shape[2]):
                for q in range(begun.shape[3]):
                    begun[side, nothing, c, q] = min(begun[side, nothing, c, q], begun[side, d, c, q])
    work.active[side, 0] = nothing
    work.is_active[side, nothing] = True
    return 1
