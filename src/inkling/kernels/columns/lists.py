"""Lineages as linked entries `(row, slot, parent)`, so that partial matches share common beginnings."""

import numpy as np
from numba import njit

from inkling.kernels.uncompiled import wraps_around

END_OF_LIST = -1


@njit(cache=True)
def lengths(tails, parent):
    """Number of entries of each list."""
    length = np.zeros(tails.shape[0], np.int64)
    for i in range(tails.shape[0]):
        entry = tails[i]
        while entry != END_OF_LIST:
            length[i] += 1
            entry = parent[entry]
    return length


@njit(cache=True)
def unroll(tails, offsets, row, slot, parent):
    """Rows and slots of the lists, oldest first, list i at [offsets[i], offsets[i + 1])."""
    rows = np.empty(offsets[-1], np.int64)
    slots = np.empty(offsets[-1], np.int64)
    for i in range(tails.shape[0]):
        entry = tails[i]
        for k in range(offsets[i + 1] - 1, offsets[i] - 1, -1):
            rows[k] = row[entry]
            slots[k] = slot[entry]
            entry = parent[entry]
    return rows, slots


@njit(cache=True)
def smaller(a, b, offsets, place, slot):
    """Whether list a comes before list b.

    Events are compared from the first on; a prefix comes after its continuation; equal events are compared by slot.
    """
    i, j = offsets[a], offsets[b]
    while i < offsets[a + 1] and j < offsets[b + 1]:
        if place[i] != place[j]:
            return place[i] < place[j]
        i += 1
        j += 1
    if i < offsets[a + 1] or j < offsets[b + 1]:
        return i < offsets[a + 1]
    for k in range(offsets[a + 1] - offsets[a]):
        if slot[offsets[a] + k] != slot[offsets[b] + k]:
            return slot[offsets[a] + k] < slot[offsets[b] + k]
    return False


@njit(cache=True)
def choose_witness(group, start, start_place, offsets, place, slot, n_groups):
    """Per group the list with the earliest start, ties by `smaller`."""
    best = np.full(n_groups, -1, np.int64)
    for i in range(group.shape[0]):
        g = group[i]
        b = best[g]
        if b < 0 or start[i] != start[b]:
            earlier = b < 0 or start[i] < start[b]
        elif start_place[i] != start_place[b]:
            earlier = start_place[i] < start_place[b]
        else:
            earlier = smaller(i, b, offsets, place, slot)
        if earlier:
            best[g] = i
    return best


@wraps_around
@njit(cache=True)
def fingerprints(offsets, place):
    """Two 64-bit hashes per list; equal lists have equal hashes."""
    n = offsets.shape[0] - 1
    one = np.empty(n, np.uint64)
    two = np.empty(n, np.uint64)
    for i in range(n):
        a = np.uint64(1469598103934665603)
        b = np.uint64(0x9E3779B97F4A7C15)
        for k in range(offsets[i], offsets[i + 1]):
            v = np.uint64(place[k] + 1)
            a = (a ^ v) * np.uint64(1099511628211)
            b = (b + v) * np.uint64(0xBF58476D1CE4E5B9)
            b ^= b >> np.uint64(31)
        one[i], two[i] = a, b
    return one, two


@njit(cache=True)
def restart_mask(key, start, start_place, end, end_place):
    """CONSUME RESTART over matches sorted by (key, end): a mask of the reported ones."""
    kept = np.zeros(key.shape[0], np.bool_)
    i = 0
    n = key.shape[0]
    while i < n:
        has_report = False
        reported, reported_place = np.int64(0), np.int64(0)
        k = i
        while k < n and key[k] == key[i]:
            stop = k
            any_fresh = False
            while stop < n and key[stop] == key[i] and end[stop] == end[k] and end_place[stop] == end_place[k]:
                fresh = not has_report or (
                    start[stop] > reported or (start[stop] == reported and start_place[stop] > reported_place)
                )
                kept[stop] = fresh
                any_fresh = any_fresh or fresh
                stop += 1
            if any_fresh:
                has_report = True
                reported, reported_place = end[k], end_place[k]
            k = stop
        i = k
    return kept


@njit(cache=True)
def without_parts(group, offsets, item):
    """Which lists are no proper part of another one of their group.

    Lists stand by group, longer ones first; their items are sorted.
    """
    n = group.shape[0]
    kept = np.ones(n, np.bool_)
    first = 0
    for i in range(n):
        if group[i] != group[first]:
            first = i
        size = offsets[i + 1] - offsets[i]
        for other in range(first, i):
            if offsets[other + 1] - offsets[other] <= size:
                break
            if kept[other] and _is_part(offsets, item, i, other):
                kept[i] = False
                break
    return kept


@njit(cache=True)
def _is_part(offsets, item, one, other):
    """Whether every item of one list is in the other."""
    k = offsets[other]
    for j in range(offsets[one], offsets[one + 1]):
        while k < offsets[other + 1] and item[k] < item[j]:
            k += 1
        if k == offsets[other + 1] or item[k] != item[j]:
            return False
        k += 1
    return True
