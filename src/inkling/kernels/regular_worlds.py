"""Automata in many worlds at once: the events of a key in order, and for each all worlds side by side."""

from __future__ import annotations

import numpy as np
from numba import njit

NEVER = np.int64(2**62)  # no run is in the state
UNSTARTED = NEVER - np.int64(1)  # a run is, but has not met an event of its own


@njit(cache=True)
def count_detections(
    keys, chosen, letter, time, moves, source, target, marked, final, restart, first, n_hits, first_world, earliest
):
    """Counts, for every group of alternatives, the worlds in which a match ends with its event.

    Groups keys[k]:keys[k + 1] belong to key k, in order of time. chosen[g, w] is the row that world w has, or -1;
    `letter` its symbol, or -1 for a row that nobody looks at. Edges moves[s]:moves[s + 1] belong to symbol s.
    `n_hits` grows; `first_world` and `earliest` (the earliest start) are lowered.
    """
    n_states = len(final)
    n_worlds = chosen.shape[1]
    runs = np.empty((n_worlds, n_states), np.int64)
    after = np.empty(n_states, np.int64)
    for k in range(len(keys) - 1):
        runs[:] = NEVER
        for g in range(keys[k], keys[k + 1]):
            now = time[g]
            hits = 0
            for w in range(n_worlds):
                row = chosen[g, w]
                if row < 0:
                    continue
                symbol = letter[row]
                if symbol < 0:
                    continue
                for q in range(n_states):
                    after[q] = NEVER
                for i in range(moves[symbol], moves[symbol + 1]):
                    begun = UNSTARTED if source[i] == 0 else runs[w, source[i]]
                    if begun == UNSTARTED and marked[i]:
                        begun = now
                    if begun < after[target[i]]:
                        after[target[i]] = begun
                start = NEVER
                for q in range(1, n_states):
                    runs[w, q] = after[q]
                    if final[q] and after[q] < start:
                        start = after[q]
                if start < UNSTARTED:
                    hits += 1
                    if first + w < first_world[g]:
                        first_world[g] = first + w
                    if start < earliest[g]:
                        earliest[g] = start
                    if restart:
                        for q in range(1, n_states):
                            runs[w, q] = NEVER
            n_hits[g] += hits
