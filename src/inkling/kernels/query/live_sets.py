"""Merging of equal states: sets of partial matches as words of bits, their distinct rows, and earliest starts."""

import numpy as np
from numba import njit

from inkling.kernels.uncompiled import wraps_around

NEVER = np.int64(9223372036854775807)


@njit(cache=True)
def state_words(old, taken, new, done, values):
    """The identity of a state as words: which of its entries exist, and the values of chains, 16 bits each."""
    n, n_entries = old.shape
    n_flags = (3 * n_entries + 64) // 64
    out = np.zeros((n, n_flags + (values.shape[1] + 3) // 4), np.uint64)
    for i in range(n):
        bit = 0
        for k in range(n_entries):
            flags = np.uint64(0)
            if old[i, k] != NEVER:
                flags |= np.uint64(1)
            if taken[i, k]:
                flags |= np.uint64(2)
            if new[i, k] != NEVER:
                flags |= np.uint64(4)
            out[i, bit >> 6] |= flags << np.uint64(bit & 63)
            if bit & 63 > 61:
                out[i, (bit >> 6) + 1] |= flags >> np.uint64(64 - (bit & 63))
            bit += 3
        if done[i, 0] != NEVER:
            out[i, bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)
        for k in range(values.shape[1]):
            out[i, n_flags + (k >> 2)] |= np.uint64(values[i, k]) << np.uint64(16 * (k & 3))
    return out


@wraps_around
@njit(cache=True)
def alike(words):
    """The number of each distinct row, by first appearance, and the first row of each number."""
    n, width = words.shape
    size = 16
    while size < 2 * n:
        size *= 2
    table = np.full(size, -1, np.int64)
    number = np.empty(n, np.int64)
    first = np.empty(n, np.int64)
    n_found = 0
    for i in range(n):
        h = np.uint64(0x9E3779B97F4A7C15)
        for k in range(width):
            h ^= words[i, k]
            h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            h ^= h >> np.uint64(27)
        at = np.int64(h & np.uint64(size - 1))
        while True:
            other = table[at]
            if other < 0:
                table[at] = n_found
                first[n_found] = i
                number[i] = n_found
                n_found += 1
                break
            same = True
            for k in range(width):
                if words[first[other], k] != words[i, k]:
                    same = False
                    break
            if same:
                number[i] = other
                break
            at = (at + 1) & (size - 1)
    return number, first[:n_found].copy()


@njit(cache=True)
def least_of(number, first, values):
    """The minimum per column of all rows with one number."""
    out = values[first]
    for i in range(len(number)):
        for k in range(values.shape[1]):
            if values[i, k] < out[number[i], k]:
                out[number[i], k] = values[i, k]
    return out
