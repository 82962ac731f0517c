"""Canonical order of the rows of many worlds, by insertion sort, because rows of a key are nearly sorted."""

import numpy as np
from numba import njit

ABSENT = np.int64(-(2**63) + 1)


@njit(cache=True)
def in_canonical_order(keys, place, rank, times, n_keys):
    """Positions of rows, and their keys and times, by world, key, time and rank.

    Rows keys[k]:keys[k + 1] belong to key k; the times of row i are `times[place[i]]`, one per world.
    """
    n_worlds = times.shape[1]
    total = 0
    for i in range(len(place)):
        for w in range(n_worlds):
            if times[place[i], w] != ABSENT:
                total += 1
    out_row = np.empty(total, np.int64)
    out_key = np.empty(total, np.int64)
    out_time = np.empty(total, np.int64)
    n = 0
    for w in range(n_worlds):
        for k in range(len(keys) - 1):
            begin = n
            for i in range(keys[k], keys[k + 1]):
                time = times[place[i], w]
                if time == ABSENT:
                    continue
                at = n
                while at > begin and (
                    out_time[at - 1] > time or (out_time[at - 1] == time and rank[out_row[at - 1]] > rank[i])
                ):
                    out_time[at] = out_time[at - 1]
                    out_row[at] = out_row[at - 1]
                    at -= 1
                out_time[at] = time
                out_row[at] = i
                n += 1
            for j in range(begin, n):
                out_key[j] = w * n_keys + k
    return out_row, out_key, out_time


@njit(cache=True)
def fill_times(times, rows, worlds, moments, first):
    """Writes the time of every assigned row to `times`, [row, world]."""
    for i in range(len(rows)):
        times[rows[i], worlds[i] - first] = moments[i]
