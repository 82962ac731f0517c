"""One state per step: the most probable state of each step, or the most probable path (Viterbi algorithm)."""

import numpy as np
from numba import njit

from inkling.kernels.inference.hidden_states import DONE

TOLERANCE = 1e-12
"""Logarithms that differ by at most this are equal."""


@njit(cache=True, nogil=True)
def likeliest(belief, nothing, state):
    """The most probable state of each step, the first of equals; the state `nothing` (or -1) loses ties."""
    for i in range(len(belief)):
        best = -1
        for s in range(belief.shape[1]):
            if s != nothing and (best < 0 or belief[i, s] > belief[i, best]):
                best = s
        if best < 0 or (nothing >= 0 and belief[i, nothing] > belief[i, best]):
            best = nothing
        state[i] = best


@njit(cache=True, nogil=True)
def likeliest_paths(seen, prior, moves, state):
    """The most probable path of each key; of equals, the one with the smaller state at the last step where they differ.

    Prior, moves and likelihoods are logarithms. Returns the first impossible step, or DONE.
    """
    n_states = len(prior)
    now, after = np.empty(n_states), np.empty(n_states)
    for k in range(len(seen.keys) - 1):
        first, end = seen.keys[k], seen.keys[k + 1]
        came_from = np.full((end - first, n_states), -1, np.int32)
        for i in range(first, end):
            if i == first:
                after[:] = prior
            else:
                after[:] = -np.inf
                for s in range(n_states):
                    if now[s] > -np.inf:
                        for j in range(moves.offsets[s], moves.offsets[s + 1]):
                            r, found = moves.target[j], now[s] + moves.chance[j]
                            if found > after[r] + TOLERANCE:
                                after[r] = found
                                came_from[i - first, r] = s
            highest = -np.inf
            for s in range(n_states):
                after[s] += seen.likelihood[seen.code[i], s]
                highest = max(highest, after[s])
            if highest == -np.inf:
                return i
            for s in range(n_states):
                after[s] -= highest
            now, after = after, now
        best = 0
        for s in range(1, n_states):
            if now[s] > now[best] + TOLERANCE:
                best = s
        for i in range(end - 1, first - 1, -1):
            state[i] = best
            best = came_from[i - first, best]
    return DONE
