"""Counts of words of symbols in rows sorted by key, by the state of an automaton before the last symbol.

Ntoulias, Alevizos, Artikis, Akasiadis, Koumparos: Online fleet monitoring with scalable event recognition and
forecasting (Wayeb), section 3.2: counts of the contexts of a variable-order Markov model.
"""

import numpy as np
from numba import njit

from inkling.kernels.uncompiled import wraps_around

EMPTY = -1
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


@wraps_around
@njit(cache=True, nogil=True, inline="always")
def _slot(keys, key, shift):
    """The slot of a key in the hash table, or the free slot for it."""
    mask = keys.shape[0] - 1
    at = np.int64((np.uint64(key) * _SPREAD) >> np.uint64(shift))
    while keys[at] != EMPTY and keys[at] != key:
        at = (at + 1) & mask
    return at


@njit(cache=True, nogil=True)
def _larger(keys, counts, shift):
    longer = np.full(2 * keys.shape[0], EMPTY, np.int64)
    moved = np.zeros(2 * keys.shape[0], np.int64)
    for old in range(keys.shape[0]):
        if keys[old] != EMPTY:
            at = _slot(longer, keys[old], shift)
            longer[at] = keys[old]
            moved[at] = counts[old]
    return longer, moved


@njit(cache=True, nogil=True)
def count_words(
    symbols,  # int32[row]; a negative one resets its key and is counted nowhere
    segments,  # first row of each key, and the number of rows
    group,  # int32[key]
    delta,  # int32[state, symbol]
    order,
    state,  # int32[key], changed in place
    code,  # int64[key]: the last symbols, at most `order` of them, changed in place
    events,  # int64[key]: symbols since the key began or was reset, changed in place
):
    """The numbers of words that occur, and their counts, in no particular order.

    Every row counts the longest word of at most `order` + 1 symbols that ends there. Let W be the number of words up to
    that length, including the empty one. Words are numbered by length, and the number that is counted is
    (group · states + state) · W + word.
    """
    n_states, n_symbols = delta.shape
    base = np.empty(order + 2, np.int64)  # number of the first word of each length
    power = np.empty(order + 2, np.int64)
    base[0] = 0
    power[0] = 1
    for length in range(1, order + 2):
        power[length] = power[length - 1] * n_symbols
        base[length] = base[length - 1] + power[length - 1]
    n_words = base[order + 1] + power[order + 1]
    last, newest = power[order], base[order + 1]
    shift = 54
    keys = np.full(1 << (64 - shift), EMPTY, np.int64)
    counts = np.zeros(1 << (64 - shift), np.int64)
    used = 0
    for key in range(segments.shape[0] - 1):
        here, word, seen = np.int64(state[key]), code[key], events[key]
        first = np.int64(group[key]) * n_states
        for row in range(segments[key], segments[key + 1]):
            symbol = symbols[row]
            if symbol < 0:
                here, word, seen = np.int64(0), 0, 0
                continue
            word = word * n_symbols + symbol
            number = (first + here) * n_words + word + (newest if seen >= order else base[seen + 1])
            at = _slot(keys, number, shift)
            if keys[at] == EMPTY:
                keys[at] = number
                used += 1
            counts[at] += 1
            if 2 * used > keys.shape[0]:
                shift -= 1
                keys, counts = _larger(keys, counts, shift)
            here = np.int64(delta[here, symbol])
            seen += 1
            if seen > order:
                word %= last
        state[key], code[key], events[key] = here, word, seen
    found = np.empty(used, np.int64)
    often = np.empty(used, np.int64)
    at = 0
    for place in range(keys.shape[0]):
        if keys[place] != EMPTY:
            found[at] = keys[place]
            often[at] = counts[place]
            at += 1
    return found, often
