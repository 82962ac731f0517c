"""Automata in many worlds at once: events of a key in order, and for each event all worlds.

Inner loops are over worlds and without branches, so that they compile to vector instructions.
"""

import numpy as np
from numba import njit

from inkling.kernels.worlds.draws import chosen_row, sequence_start, uniform

NEVER = np.int64(2**62)
_NONE = np.int32(2**30)  # no run is in the state
_UNSTARTED = np.int32(2**30 - 1)  # a run is in the state, without any event of the match yet


@njit(cache=True)
def draw_symbols(seed, tokens, offsets, shares, symbol, first, n_worlds):
    """The symbol of each group in each world; -1 for no event, or one that no pattern reads."""
    out = np.empty((len(tokens), n_worlds), np.int8)
    draws = np.empty(n_worlds)
    place = np.empty(n_worlds, np.int32)
    for g in range(len(tokens)):
        begin, end = offsets[g], offsets[g + 1]
        start = sequence_start(seed, tokens[g])
        for w in range(n_worlds):
            draws[w] = uniform(start, first + w)
            place[w] = 0
        for i in range(begin, end):
            share = shares[i]
            for w in range(n_worlds):
                place[w] += np.int32(share <= draws[w])
        table = np.full(end - begin + 1, -1, np.int8)
        for i in range(begin, end):
            table[i - begin] = symbol[i]
        for w in range(n_worlds):
            out[g, w] = table[place[w]]
    return out


@njit(cache=True)
def symbols_of(chosen, symbol):
    """The symbols of rows that were drawn before."""
    out = np.empty(chosen.shape, np.int8)
    for g in range(chosen.shape[0]):
        for w in range(chosen.shape[1]):
            out[g, w] = symbol[chosen[g, w]] if chosen[g, w] >= 0 else -1
    return out


@njit(cache=True)
def chosen_at(seed, tokens, offsets, shares, groups, worlds):
    """[i]: the row of group groups[i] in world worlds[i], or -1 for none."""
    out = np.empty(len(groups), np.int64)
    for i in range(len(groups)):
        g = groups[i]
        row = chosen_row(shares, offsets[g], offsets[g + 1], uniform(sequence_start(seed, tokens[g]), worlds[i]))
        out[i] = row if row < offsets[g + 1] else -1
    return out


@njit(cache=True)
def count_detections(
    keys, symbols, moves, source, target, marked, final, restart, first, n_hits, first_world, earliest
):
    """Counts, for every group of alternatives, the worlds in which a match ends with its event.

    Groups keys[k]:keys[k + 1] belong to key k, in order of time. Edges moves[s]:moves[s + 1] belong to symbol s.
    Updates `n_hits`, and the minima `first_world` and `earliest` (the group of the earliest start).
    """
    n_states, n_worlds = len(final), symbols.shape[1]
    runs = np.empty((n_states, n_worlds), np.int32)
    after = np.empty((n_states, n_worlds), np.int32)
    starts = np.empty(n_worlds, np.int32)
    for k in range(len(keys) - 1):
        runs[:] = _NONE
        for g in range(keys[k], keys[k + 1]):
            here = np.int32(g - keys[k])
            symbol = symbols[g]
            for q in range(1, n_states):
                for w in range(n_worlds):
                    after[q, w] = runs[q, w] if symbol[w] < 0 else _NONE
            for s in range(len(moves) - 1):
                for i in range(moves[s], moves[s + 1]):
                    into = after[target[i]]
                    if source[i] == 0:
                        begun = here if marked[i] else _UNSTARTED
                        for w in range(n_worlds):
                            into[w] = min(into[w], begun if symbol[w] == s else _NONE)
                    elif marked[i]:
                        out_of = runs[source[i]]
                        for w in range(n_worlds):
                            begun = here if out_of[w] == _UNSTARTED else out_of[w]
                            into[w] = min(into[w], begun if symbol[w] == s else _NONE)
                    else:
                        out_of = runs[source[i]]
                        for w in range(n_worlds):
                            into[w] = min(into[w], out_of[w] if symbol[w] == s else _NONE)
            for w in range(n_worlds):
                starts[w] = _NONE
            for q in range(1, n_states):
                if final[q]:
                    for w in range(n_worlds):
                        starts[w] = min(starts[w], after[q, w] if symbol[w] >= 0 else _NONE)
            hits = np.int64(0)
            least = _NONE
            for w in range(n_worlds):
                hits += np.int64(starts[w] < _UNSTARTED)
                least = min(least, starts[w])
            if hits:
                if not n_hits[g]:
                    for w in range(n_worlds):
                        if starts[w] < _UNSTARTED:
                            first_world[g] = first + w
                            break
                n_hits[g] += hits
                earliest[g] = min(earliest[g], keys[k] + least)
                if restart:
                    for q in range(1, n_states):
                        for w in range(n_worlds):
                            after[q, w] = _NONE if starts[w] < _UNSTARTED else after[q, w]
            runs, after = after, runs
