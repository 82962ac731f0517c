"""Hashes of key columns, which are equal in every process and for every representation of the values."""

import numpy as np
from numba import njit

from inkling.kernels.uncompiled import wraps_around

_PRIME = np.uint64(1099511628211)
_OFFSET = np.uint64(14695981039346656037)


@wraps_around
@njit(cache=True)
def mixed(seed, values):
    """Each seed mixed with a 64-bit value, so that similar values get different hashes."""
    out = np.empty(len(values), np.uint64)
    for i in range(len(values)):
        h = seed[i] ^ values[i]
        h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        out[i] = h ^ (h >> np.uint64(31))
    return out


@wraps_around
@njit(cache=True)
def hashed_bytes(offsets, data):
    """One hash per run of bytes data[offsets[i]:offsets[i + 1]]."""
    out = np.empty(len(offsets) - 1, np.uint64)
    for i in range(len(out)):
        h = _OFFSET
        for j in range(offsets[i], offsets[i + 1]):
            h = (h ^ np.uint64(data[j])) * _PRIME
        out[i] = h
    return out


@wraps_around
@njit(cache=True)
def hashed_lists(offsets, values):
    """One hash per list of numbers values[offsets[i]:offsets[i + 1]]; their order and count matter."""
    out = np.empty(len(offsets) - 1, np.uint64)
    for i in range(len(out)):
        h = _OFFSET
        for j in range(offsets[i], offsets[i + 1]):
            h ^= values[j]
            h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            h = (h ^ (h >> np.uint64(31))) + _PRIME
        out[i] = h
    return out
