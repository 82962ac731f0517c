"""Alternatives of many groups: sorted, normalized, and screened for faults, which a slower check examines."""

import numpy as np
from numba import njit

_FEW = 40


@njit(cache=True)
def _in_order(rows, given, value):
    """Sorts row numbers by previous value and value."""
    n = len(rows)
    if n > _FEW:
        by_value = np.argsort(value[rows], kind="mergesort")
        some = rows[by_value]
        rows[:] = some[np.argsort(given[some], kind="mergesort")]
        return
    for i in range(1, n):
        row = rows[i]
        one, other = given[row], value[row]
        j = i - 1
        while j >= 0 and (given[rows[j]] > one or (given[rows[j]] == one and value[rows[j]] > other)):
            rows[j + 1] = rows[j]
            j -= 1
        rows[j + 1] = row


@njit(cache=True)
def settled(rows, offsets, given, value, written, tolerance, chance, suspect):
    """Sorts the rows of each group, rows[offsets[g]:offsets[g + 1]], fills `chance`, and flags suspect groups.

    A suspect group may be valid; all other groups are valid, apart from faults that involve several groups.
    """
    for g in range(len(offsets) - 1):
        begin, end = offsets[g], offsets[g + 1]
        _in_order(rows[begin:end], given, value)
        first = begin
        while first < end:
            total = 0.0
            last = first
            while last < end and given[rows[last]] == given[rows[first]]:
                one = written[rows[last]]
                if not (0.0 <= one <= 1.0):
                    suspect[g] = True
                    one = 0.0 if not one > 0.0 else 1.0
                if last > first and value[rows[last]] == value[rows[last - 1]]:
                    suspect[g] = True
                chance[last] = one
                total += one
                last += 1
            if total > 1.0 + tolerance / 2:
                suspect[g] = True
            if total >= 1.0 - tolerance:
                for i in range(first, last):
                    chance[i] /= total
            first = last


@njit(cache=True)
def _has(sorted_values, wanted):
    place = np.searchsorted(sorted_values, wanted)
    return place < len(sorted_values) and sorted_values[place] == wanted


@njit(cache=True)
def unfollowed(streams, offsets, given, value, chance, tolerance, suspect):
    """Flags groups that may lack rows for a possible value of the previous group.

    Stream s has the groups streams[s]:streams[s + 1]; rows are sorted, and `given` is 0 for no event.
    """
    for s in range(len(streams) - 1):
        for g in range(streams[s], streams[s + 1]):
            begin, end = offsets[g], offsets[g + 1]
            if given[end - 1] == 0:
                continue
            here = given[begin:end]
            if g == streams[s]:
                if not _has(here, np.uint64(0)):
                    suspect[g] = True
                continue
            i = offsets[g - 1]
            while i < offsets[g]:
                total = 0.0
                source = given[i]
                while i < offsets[g] and given[i] == source:
                    total += chance[i]
                    if chance[i] > 0 and not _has(here, value[i]):
                        suspect[g] = True
                    i += 1
                if total < 1.0 - tolerance and not _has(here, np.uint64(0)):
                    suspect[g] = True
