"""The forward-backward algorithm for hidden Markov models: probabilities of hidden states given observations.

Ré, Letchner, Balazinska, Suciu: Event Queries on Correlated Probabilistic Streams,
SIGMOD 2008 (Lahar), section 2.4, generates probable streams by it. Filtered and smoothed rows sum to 1.

Probabilities are doubles or, in tests, fractions. Vectors are normalized at every step, so logarithms are not needed.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

DONE = -1


class Moves(NamedTuple):
    """Transitions: state s moves to target[i] with probability chance[i], for i in offsets[s]:offsets[s + 1]."""

    offsets: NDArray[np.int64]
    target: NDArray[np.int32]
    chance: NDArray[np.float64]


class Seen(NamedTuple):
    """The number of the observation at each step; the steps of key k are keys[k]:keys[k + 1]."""

    keys: NDArray[np.int64]
    code: NDArray[np.int32]
    likelihood: NDArray[np.float64]  # [observation, state]


@njit(cache=True, nogil=True)
def _moved(belief, moves, out):
    for s in range(len(out)):
        out[s] = moves.chance[0] * 0
    for s in range(len(belief)):
        if belief[s] > 0:
            for i in range(moves.offsets[s], moves.offsets[s + 1]):
                out[moves.target[i]] += belief[s] * moves.chance[i]


@njit(cache=True, nogil=True)
def _scaled(values):
    """Normalizes values to a sum of 1, unless all are 0; returns the sum before."""
    total = values[0] * 0
    for s in range(len(values)):
        total += values[s]
    if total > 0:
        for s in range(len(values)):
            values[s] /= total
    return total


@njit(cache=True, nogil=True)
def forward(seen, prior, moves, before, going_on, belief, totals):
    """Filtered marginals: `belief` is the distribution of the state at each step given the observations up to it.

    Keys that are `going_on` continue from the belief `before`, others start from the prior. `totals` are the
    probabilities of each observation given the earlier ones. Returns the first impossible step, or DONE.
    """
    for k in range(len(seen.keys) - 1):
        for i in range(seen.keys[k], seen.keys[k + 1]):
            here = belief[i]
            if i > seen.keys[k]:
                _moved(belief[i - 1], moves, here)
            elif going_on[k]:
                _moved(before[k], moves, here)
            else:
                for s in range(len(prior)):
                    here[s] = prior[s]
            likelihood = seen.likelihood[seen.code[i]]
            for s in range(len(prior)):
                here[s] *= likelihood[s]
            totals[i] = _scaled(here)
            if not totals[i] > 0:
                return i
    return DONE


@njit(cache=True, nogil=True)
def backward(seen, moves, ahead):
    """Backward messages: the probability of later observations given each state, up to a factor per step."""
    n_states = ahead.shape[1]
    for k in range(len(seen.keys) - 1):
        for i in range(seen.keys[k + 1] - 1, seen.keys[k] - 1, -1):
            if i == seen.keys[k + 1] - 1:
                for s in range(n_states):
                    ahead[i, s] = moves.chance[0] * 0 + 1
                continue
            likelihood = seen.likelihood[seen.code[i + 1]]
            for s in range(n_states):
                total = moves.chance[0] * 0
                for j in range(moves.offsets[s], moves.offsets[s + 1]):
                    r = moves.target[j]
                    total += moves.chance[j] * likelihood[r] * ahead[i + 1, r]
                ahead[i, s] = total
            if not _scaled(ahead[i]) > 0:
                return i
    return DONE


@njit(cache=True, nogil=True)
def smooth(belief, ahead):
    """Replaces filtered marginals by smoothed ones."""
    for i in range(len(belief)):
        here = belief[i]
        for s in range(len(here)):
            here[s] *= ahead[i, s]
        if not _scaled(here) > 0:
            return i
    return DONE


@njit(cache=True, nogil=True)
def conditional(s, moves, likelihood, ahead, out):
    """The distribution of the next state after state s, given all observations, in the order of its moves.

    `likelihood` and `ahead` are those of the next step. Returns False if no move is possible.
    """
    begin, end = moves.offsets[s], moves.offsets[s + 1]
    if begin == end:
        return False
    for j in range(begin, end):
        r = moves.target[j]
        out[j - begin] = moves.chance[j] * likelihood[r] * ahead[r]
    return _scaled(out[: end - begin]) > 0


@njit(cache=True, nogil=True)
def expected_counts(seen, moves, belief, ahead, moved, held, began):
    """Adds the expected counts of moves, of states during each observation, and of first states.

    `belief` are smoothed marginals.
    """
    n_states = belief.shape[1]
    row = np.zeros(n_states, belief.dtype)
    for k in range(len(seen.keys) - 1):
        for i in range(seen.keys[k], seen.keys[k + 1]):
            for s in range(n_states):
                held[seen.code[i], s] += belief[i, s]
                if i == seen.keys[k]:
                    began[s] += belief[i, s]
                elif belief[i - 1, s] > 0:
                    begin = moves.offsets[s]
                    if conditional(s, moves, seen.likelihood[seen.code[i]], ahead[i], row):
                        for j in range(begin, moves.offsets[s + 1]):
                            moved[j] += belief[i - 1, s] * row[j - begin]
