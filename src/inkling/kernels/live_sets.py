"""Rows of words that are the same, and what is least in each of them."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def alike(words):
    """Per row the number of its first equal, counted in order of first appearance, and these rows."""
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
    """The least value per column of all rows with one number."""
    out = values[first]
    for i in range(len(number)):
        for k in range(values.shape[1]):
            if values[i, k] < out[number[i], k]:
                out[number[i], k] = values[i, k]
    return out
