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
def _begins(key, n_keys):
    """The position of the first row of each key, if rows are sorted by key."""
    begins = np.zeros(n_keys + 1, np.int64)
    for i in range(key.shape[0]):
        begins[key[i] + 1] += 1
    for k in range(n_keys):
        begins[k + 1] += begins[k]
    return begins


@njit(cache=True)
def places_by_key(key, n_keys):
    """The position of each row in the order of keys; rows of a key keep their order."""
    filled = _begins(key, n_keys)
    places = np.empty(key.shape[0], np.int64)
    for i in range(key.shape[0]):
        places[i] = filled[key[i]]
        filled[key[i]] += 1
    return places


@njit(cache=True)
def put(values, places):
    """Each value at its position; cheaper than taking them in this order where rows of a key lie far apart."""
    out = np.empty_like(values)
    for i in range(values.shape[0]):
        out[places[i]] = values[i]
    return out


@njit(cache=True)
def put_numbers(places):
    """The number of the row that comes to each position."""
    out = np.empty(places.shape[0], np.int64)
    for i in range(places.shape[0]):
        out[places[i]] = i
    return out


@njit(cache=True)
def rise_in_keys(key, end, place):
    """Whether (end, place) rises strictly from row to row of a key; rows are sorted by key."""
    for i in range(1, key.shape[0]):
        if key[i] == key[i - 1] and (end[i] < end[i - 1] or (end[i] == end[i - 1] and place[i] <= place[i - 1])):
            return False
    return True


@njit(cache=True)
def canonical_order(key, n_keys, end, place, start, rank):
    """Row numbers in canonical order, and whether each row ties with the one before it."""
    n = key.shape[0]
    begins = _begins(key, n_keys)
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
