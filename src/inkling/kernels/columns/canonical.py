"""Canonical order of rows: by key, end, place, start and rank; nearly linear if each key is in order already."""

import numpy as np
from numba import njit


@njit(cache=True)
def _compare(a, b, end, place, start, rank):
    if end[a] != end[b]:
        return -1 if end[a] < end[b] else 1
    if place[a] != place[b]:
        return -1 if place[a] < place[b] else 1
    if start[a] != start[b]:
        return -1 if start[a] < start[b] else 1
    if rank[a] != rank[b]:
        return -1 if rank[a] < rank[b] else 1
    return 0


@njit(cache=True)
def _merge_sort(order, first, last, spare, end, place, start, rank):
    """Natural merge sort of order[first:last]; with r sorted runs in the input, it takes about log2(r) passes."""
    while True:
        low = first
        merges = 0
        while low < last:
            middle = low + 1
            while middle < last and _compare(order[middle - 1], order[middle], end, place, start, rank) <= 0:
                middle += 1
            if middle == last:
                break
            high = middle + 1
            while high < last and _compare(order[high - 1], order[high], end, place, start, rank) <= 0:
                high += 1
            i, j = low, middle
            for k in range(low, high):
                if j == high or (i < middle and _compare(order[i], order[j], end, place, start, rank) <= 0):
                    spare[k] = order[i]
                    i += 1
                else:
                    spare[k] = order[j]
                    j += 1
            order[low:high] = spare[low:high]
            merges += 1
            low = high
        if merges == 0:
            return


@njit(cache=True)
def canonical_order(key, n_keys, end, place, start, rank):
    """Row numbers in canonical order, and whether each row ties with the one before it."""
    n = key.shape[0]
    begins = np.zeros(n_keys + 1, np.int64)
    for i in range(n):
        begins[key[i] + 1] += 1
    for k in range(n_keys):
        begins[k + 1] += begins[k]
    filled = begins[:-1].copy()
    order = np.empty(n, np.int64)
    for i in range(n):
        order[filled[key[i]]] = i
        filled[key[i]] += 1
    spare = np.empty(n, np.int64)
    tied = np.zeros(n, np.bool_)
    for k in range(n_keys):
        _merge_sort(order, begins[k], begins[k + 1], spare, end, place, start, rank)
        for i in range(begins[k] + 1, begins[k + 1]):
            tied[i] = _compare(order[i - 1], order[i], end, place, start, rank) == 0
    return order, tied
