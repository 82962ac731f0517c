"""Estimates as rows of probabilities, without the smallest ones, and a bound on the error of any result.

A step leaves out at most the probability `prune`. Paths without any left-out part keep at least their probability, all
others lose theirs. So the total variation distance of both distributions over paths is the probability of those others,
and no event over the paths of a key changes its probability by more.
"""

import numpy as np
from numba import njit

from inkling.kernels.inference.hidden_states import conditional

NONE = -1


@njit(cache=True, nogil=True)
def _without_smallest(row, prune):
    """Sets the smallest values to 0, at most `prune` in total and never all; returns their sum."""
    dropped = row[0] * 0
    if not prune > 0:
        return dropped
    n_left = 0
    for i in range(len(row)):
        if row[i] > 0:
            n_left += 1
    order = np.argsort(row, kind="mergesort")
    for at in range(len(order)):
        i = order[at]
        if row[i] > 0:
            if n_left == 1 or dropped + row[i] > prune:
                break
            dropped += row[i]
            row[i] *= 0
            n_left -= 1
    return dropped


@njit(cache=True, nogil=True)
def marginal_rows(keys, belief, prune, row, error, step, state, prob):
    """Rows of marginals; left-out probability becomes "no event". Returns the number of rows.

    Rows are only counted if `step` is empty. `row` is scratch for one number per state.
    """
    n = 0
    for k in range(len(keys) - 1):
        kept = row[0] * 0 + 1
        for i in range(keys[k], keys[k + 1]):
            row[:] = belief[i]
            kept *= 1 - _without_smallest(row, prune)
            for s in range(len(row)):
                if row[s] > 0:
                    if len(step):
                        step[n], state[n], prob[n] = i, s, row[s]
                    n += 1
        error[k] = 1 - kept
    return n


@njit(cache=True, nogil=True)
def _without_unlikely(given, moves, reached, prune, kept):
    """Drops the least probable moves of a step, but keeps at least one from every reached state.

    given[j] is the probability of move j given its source state, and 0 if that state is not reached. Returns the
    probability of the dropped moves.
    """
    dropped = given[0] * 0
    joint = np.zeros(len(given), given.dtype)
    is_best = np.zeros(len(given), np.bool_)
    for s in range(len(reached)):
        if reached[s] > 0:
            best = moves.offsets[s]
            for j in range(moves.offsets[s], moves.offsets[s + 1]):
                joint[j] = reached[s] * given[j]
                if given[j] > given[best]:
                    best = j
            is_best[best] = True
    order = np.argsort(joint, kind="mergesort")
    for at in range(len(order)):
        j = order[at]
        if kept[j] and not is_best[j]:
            if dropped + joint[j] > prune:
                break
            dropped += joint[j]
            kept[j] = False
    return dropped


@njit(cache=True, nogil=True)
def chain_rows(seen, moves, belief, ahead, prune, error, step, previous, state, prob):
    """Rows of a Markov chain: its first states, then moves; left-out probability goes to the remaining moves.

    `belief` are smoothed marginals. Only states that earlier rows reach have rows. Returns the number of rows; they are
    only counted if `step` is empty.
    """
    n_states = belief.shape[1]
    given, kept = np.zeros(len(moves.target), belief.dtype), np.zeros(len(moves.target), np.bool_)
    start = np.zeros(n_states, belief.dtype)
    reached, after = np.zeros(n_states, belief.dtype), np.zeros(n_states, belief.dtype)
    zero = moves.chance[0] * 0
    n = 0
    for k in range(len(seen.keys) - 1):
        error[k] = zero
        for i in range(seen.keys[k], seen.keys[k + 1]):
            if i == seen.keys[k]:
                start[:] = belief[i]
                dropped = _without_smallest(start, prune)
                error[k] += dropped
                reached[:] = start
                for s in range(n_states):
                    if start[s] > 0:
                        if len(step):
                            step[n], previous[n], state[n], prob[n] = i, NONE, s, start[s] / (1 - dropped)
                        n += 1
                continue
            likelihood = seen.likelihood[seen.code[i]]
            for s in range(n_states):
                begin, end = moves.offsets[s], moves.offsets[s + 1]
                if not (reached[s] > 0 and conditional(s, moves, likelihood, ahead[i], given[begin:end])):
                    reached[s] = zero
                    given[begin:end] = zero
            for j in range(len(given)):
                kept[j] = given[j] > 0
            if prune > 0:
                error[k] += _without_unlikely(given, moves, reached, prune, kept)
            after[:] = zero
            for s in range(n_states):
                begin, end = moves.offsets[s], moves.offsets[s + 1]
                total = zero
                for j in range(begin, end):
                    if kept[j]:
                        total += given[j]
                for j in range(begin, end):
                    if kept[j]:
                        after[moves.target[j]] += reached[s] * given[j]
                        if len(step):
                            step[n], previous[n], state[n], prob[n] = i, s, moves.target[j], given[j] / total
                        n += 1
            reached, after = after, reached
    return n
