"""The bootstrap particle filter: particles move at random, are weighted by the observation, and are resampled.

Ré, Letchner, Balazinska, Suciu: Event Queries on Correlated Probabilistic Streams,
SIGMOD 2008 (Lahar), section 2.4, generates probable streams by it.

Every draw is a function of seed, key and step, so results do not depend on how keys are divided among workers.
"""

import numpy as np
from numba import njit

from inkling.kernels.inference.hidden_states import DONE
from inkling.kernels.worlds.draws import chosen_row, sequence_start, uniform


@njit(cache=True, nogil=True)
def follow(seen, prior, moves, number, tokens, seed, n, belief):
    """[step, state]: the share of the weight of n particles in each state.

    Prior and moves are cumulated; `number` is the number of each step on the grid of all keys. Returns the first step
    that no particle can explain, or DONE.
    """
    at, drawn = np.empty(n, np.int32), np.empty(n, np.int32)
    weight = np.empty(n)
    for k in range(len(seen.keys) - 1):
        start = sequence_start(seed, tokens[k])
        for i in range(seen.keys[k], seen.keys[k + 1]):
            likelihood = seen.likelihood[seen.code[i]]
            first_draw = number[i] * (n + 1)
            total = 0.0
            for p in range(n):
                u = uniform(start, first_draw + p)
                if i == seen.keys[k]:
                    at[p] = min(chosen_row(prior, 0, len(prior), u), len(prior) - 1)
                else:
                    begin, end = moves.offsets[at[p]], moves.offsets[at[p] + 1]
                    at[p] = moves.target[min(chosen_row(moves.chance, begin, end, u), end - 1)]
                weight[p] = likelihood[at[p]]
                total += weight[p]
            if not total > 0.0:
                return i
            belief[i, :] = 0.0
            last = 0
            for p in range(n):
                belief[i, at[p]] += weight[p] / total
                if weight[p] > 0.0:
                    last = p
            # systematic resampling: one draw, then equal distances
            place = uniform(start, first_draw + n) * total / n
            reached, source = weight[0], 0
            for p in range(n):
                while reached <= place and source < last:
                    source += 1
                    reached += weight[source]
                drawn[p] = at[source]
                place += total / n
            at, drawn = drawn, at
    return DONE
