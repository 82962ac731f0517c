"""Independent parts of the data, and enumeration of the worlds of each part."""

import numpy as np
from numba import njit


@njit(cache=True)
def islands(code, low, high, reach):
    """Numbers of parts for rows sorted by (code, low); a part ends if the code changes or no row reaches the next one.

    A row that ends at t reaches rows that start by t + reach; a negative reach is unlimited.
    """
    out = np.empty(len(code), np.int64)
    number = -1
    latest = 0
    for i in range(len(code)):
        if i == 0 or code[i] != code[i - 1] or (reach >= 0 and low[i] > latest + reach):
            number += 1
            latest = high[i]
        elif high[i] > latest:
            latest = high[i]
        out[i] = number
    return out


@njit(cache=True)
def strides(component, sizes, n_components):
    """The number of consecutive worlds of a component with the same alternative of choice i (mixed radix)."""
    passed = np.ones(n_components, np.int64)
    out = np.empty(len(sizes), np.int64)
    for i in range(len(sizes)):
        out[i] = passed[component[i]]
        passed[component[i]] *= sizes[i]
    return out


@njit(cache=True)
def multiply_weights(weights, component, stride, sizes, alternatives, chances, first, n_worlds):
    """Multiplies weights of worlds by probabilities of their alternatives; alternatives[i] is the first of choice i."""
    for i in range(len(component)):
        c = component[i]
        for w in range(n_worlds[c]):
            weights[first[c] + w] *= chances[alternatives[i] + (w // stride[i]) % sizes[i]]


@njit(cache=True)
def spread(component, stride, sizes, alternatives, placed, rows, times, first, n_worlds):
    """The rows of each alternative, in every world that chooses it."""
    total = 0
    for i in range(len(component)):
        per_turn = placed[alternatives[i] + sizes[i]] - placed[alternatives[i]]
        total += per_turn * (n_worlds[component[i]] // sizes[i])
    out_row, out_world, out_time = np.empty(total, np.int64), np.empty(total, np.int64), np.empty(total, np.int64)
    n = 0
    for i in range(len(component)):
        c = component[i]
        for w in range(n_worlds[c]):
            a = alternatives[i] + (w // stride[i]) % sizes[i]
            for k in range(placed[a], placed[a + 1]):
                out_row[n], out_world[n], out_time[n] = rows[k], first[c] + w, times[k]
                n += 1
    return out_row, out_world, out_time
