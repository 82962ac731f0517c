"""Markov chains of forecasts: their state after each row, and the waiting time to a final state.

Ntoulias, Alevizos, Artikis, Akasiadis, Koumparos: Online fleet monitoring with scalable event recognition and
forecasting (Wayeb), section 3.2: the pattern Markov chain and its waiting-time distributions. Rows of transition
probabilities sum to 1; waiting times are in events.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit


class FollowTables(NamedTuple):
    """The arrays of a chain that `follow` reads."""

    target: npt.NDArray[np.int32]  # [chain state, symbol]
    state: npt.NDArray[np.int32]  # [chain state]: the automaton's state
    ready_after: npt.NDArray[np.int64]  # [chain state]: number of events of the key before it can be used
    depth: npt.NDArray[np.int64]  # [chain state]: length of its context, in symbols
    place: npt.NDArray[np.int32]  # [automaton's state, context]: the chain's state, or -1
    onward: npt.NDArray[np.int32]  # [context, symbol]: the next context


@njit(cache=True, nogil=True)
def follow(
    tables,
    symbols,  # int32[row]; a negative one resets its key
    segments,  # first row of each key, and the number of rows
    memory,  # number of symbols in `code`
    early,  # whether states are used before `ready_after`
    state,  # int32[key], changed in place
    code,  # int64[key]: the last symbols, at most `memory` of them, changed in place
    events,  # int64[key]: symbols since the key began or was reset, changed in place
    found,  # int32[row]: the chain's state after each row, or -1
):
    n_symbols = tables.target.shape[1]
    span = 1
    for _ in range(memory):
        span *= n_symbols
    for key in range(segments.shape[0] - 1):
        seen, word = events[key], code[key]
        context, power = 0, 1
        n_known = min(seen, memory)
        for _ in range(n_known):
            power *= n_symbols
        rest = word
        for _ in range(n_known):
            power //= n_symbols
            context = tables.onward[context, rest // power]
            rest %= power
        here = np.int64(tables.place[state[key], context])
        begin, stop = segments[key], segments[key + 1]
        recent = max(begin, stop - memory)
        for row in range(begin, stop):
            symbol = symbols[row]
            if symbol < 0:
                here, seen, word = np.int64(0), 0, 0
                found[row] = -1
                continue
            # from an unreachable pair, continue at the start of the chain, and report -1
            here = np.int64(tables.target[max(here, 0), symbol])
            seen += 1
            usable = seen >= tables.ready_after[here] or (early and seen == tables.depth[here])
            found[row] = here if usable else -1
            if row >= recent:
                word = (word * n_symbols + symbol) % span
        if stop > begin:
            state[key] = tables.state[here]
        code[key], events[key] = word, seen


@njit(cache=True, nogil=True)
def waiting_times(target, weight, final, horizon):
    """[step, state]: the probability that the chain first reaches a final state after this number of steps."""
    n, n_symbols = target.shape
    times = np.zeros((horizon, n), np.float64)
    onward = np.empty((n, n_symbols), np.float64)
    for i in range(n):
        absorbed = 0.0
        for symbol in range(n_symbols):
            ends = final[target[i, symbol]]
            onward[i, symbol] = 0.0 if ends else weight[i, symbol]
            if ends:
                absorbed += weight[i, symbol]
        if horizon:
            times[0, i] = absorbed
    for step in range(1, horizon):
        before, after = times[step - 1], times[step]
        for i in range(n):
            total = 0.0
            for symbol in range(n_symbols):
                total += onward[i, symbol] * before[target[i, symbol]]
            after[i] = total
    return times
