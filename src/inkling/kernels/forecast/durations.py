"""Markov chains whose steps take time: the probability of reaching a final state within a duration."""

import numpy as np
from numba import njit

TOLERANCE = 1e-12
SWEEPS = 1_000


@njit(cache=True, nogil=True)
def detected_within(target, weight, final, gap, up):
    """[state]: a bound on the probability of a final state within the duration.

    It is a lower bound with `up` (gaps are rounded up), else an upper one. `gap`, [symbol, time], is the distribution
    of the time of a step. Steps of length 0 make an equation within one moment, which is iterated from below for a
    lower bound and from above for an upper one, so every iterate is a bound.
    """
    n, n_symbols = target.shape
    n_times = gap.shape[1]
    reached = np.zeros((n_times, n), np.float64)
    known = np.zeros(n, np.float64)
    instant = False
    for symbol in range(n_symbols):
        instant |= gap[symbol, 0] > 0
    for time in range(n_times):
        here = reached[time]
        for i in range(n):
            total = 0.0
            for symbol in range(n_symbols):
                share = weight[i, symbol]
                if share == 0.0:
                    continue
                to = target[i, symbol]
                inner = 0.0
                for taken in range(1, time + 1):
                    if gap[symbol, taken] > 0.0:
                        inner += gap[symbol, taken] * (1.0 if final[to] else reached[time - taken, to])
                if final[to]:
                    inner += gap[symbol, 0]
                total += share * inner
            known[i] = total
            here[i] = total if up or not instant else 1.0
        if not instant:
            continue
        for _ in range(SWEEPS):
            change = 0.0
            for i in range(n):
                total = known[i]
                for symbol in range(n_symbols):
                    to = target[i, symbol]
                    if not final[to] and gap[symbol, 0] > 0.0:
                        total += weight[i, symbol] * gap[symbol, 0] * here[to]
                change = max(change, abs(total - here[i]))
                here[i] = total
            if change <= TOLERANCE:
                break
    return reached[n_times - 1].copy()
