"""Pairs of keys with enough related segments: relations with quantifiers over certain segments.

Busany, van der Aa, Senderovich, Gal, Weidlich: Interval-based Queries over Lossy IoT Event Streams, 2020 (SimpMatch),
section 2.2, without lost events.
"""

from typing import NamedTuple

import numpy as np
from numba import njit


@njit(cache=True)
def first_from(values, value, lo, hi):
    """The first position in lo … hi whose value is at least `value` (lower bound)."""
    while lo < hi:
        middle = (lo + hi) // 2
        if values[middle] < value:
            lo = middle + 1
        else:
            hi = middle
    return lo


ALL = -1
"""In place of a number of segments: all of them."""

NO_LIMIT = -1
"""In place of the longest time that two related segments last together."""

FEW = 12
"""Up to this number, segments are compared one by one; beyond, ranges with equal outcome are searched."""


class Side(NamedTuple):
    """Segments of many keys, sorted by (key, label, start, end); keys are sorted by partition."""

    keys: np.ndarray  # keys of partition p are keys[p] … keys[p + 1] - 1
    begins: np.ndarray  # segments of key k are begins[k] … begins[k + 1] - 1
    start: np.ndarray
    end: np.ndarray
    in_order: np.ndarray  # per key its segment numbers, in the order of results
    label: np.ndarray  # only segments with one label are compared; a negative one equals none
    in_step: np.ndarray  # per key: starts and ends ascend together, among segments of one label
    lo: np.ndarray  # per key: first start and last end
    hi: np.ndarray


class Question(NamedTuple):
    """The relation and quantifiers that two keys must satisfy."""

    table: np.ndarray  # [case of four comparisons]: whether two segments are related
    matters: np.ndarray  # which of the four comparisons the table depends on
    least_left: int
    least_right: int
    labeled: bool
    apart: bool  # a key is not compared with itself
    touching: bool  # segments are only related if they share a point
    longest: int  # from the first start to the last end of two related segments, or NO_LIMIT


@njit(cache=True)
def _case(start, end, other_start, other_end):
    """The case of two segments: four comparisons of their ends (before, equal, after) as one number."""
    starts = int(start >= other_start) + int(start > other_start)
    crossed = int(start >= other_end) + int(start > other_end)
    crossing = int(end >= other_start) + int(end > other_start)
    ends = int(end >= other_end) + int(end > other_end)
    return ((starts * 3 + crossed) * 3 + crossing) * 3 + ends


@njit(cache=True)
def _sought(values, value, lo, hi, guess):
    """`first_from` by exponential search from a guess."""
    at = min(max(guess, lo), hi)
    step = 1
    if at < hi and values[at] < value:
        while at + step < hi and values[at + step] < value:
            step *= 2
        return first_from(values, value, at + step // 2 + 1, min(at + step, hi))
    while at - step >= lo and values[at - step] >= value:
        step *= 2
    return first_from(values, value, max(at - step, lo), max(at - step // 2, lo))


@njit(cache=True)
def _n_related_within(start, end, starts, ends, lo, hi, in_step, table, longest):
    """The number of segments lo … hi - 1 that are related to [start, end] and last at most `longest` with it."""
    found = 0
    if in_step:  # starts and ends ascend
        lo = first_from(starts, end - longest, lo, hi)
        hi = first_from(ends, start + longest + 1, lo, hi)
    for other in range(lo, hi):
        if max(end, ends[other]) - min(start, starts[other]) <= longest:
            found += table[_case(start, end, starts[other], ends[other])]
    return found


@njit(cache=True)
def _n_related(start, end, starts, ends, lo, hi, in_step, table, matters, longest, cuts):
    """The number of segments lo … hi - 1 that are related to [start, end]; `cuts` is scratch."""
    if longest != NO_LIMIT:
        return _n_related_within(start, end, starts, ends, lo, hi, in_step, table, longest)
    found = 0
    if hi - lo <= FEW or not in_step:
        for other in range(lo, hi):
            found += table[_case(start, end, starts[other], ends[other])]
        return found
    # starts and ends ascend, so each comparison changes its outcome at most twice from lo to hi
    n_cuts = 0
    for place in range(8):
        if not matters[place // 2]:
            continue
        border = (start if place < 4 else end) + place % 2
        cuts[place] = _sought(starts if place % 4 < 2 else ends, border, lo, hi, cuts[place])
        at = 8 + n_cuts
        while at > 8 and cuts[at - 1] > cuts[place]:
            cuts[at] = cuts[at - 1]
            at -= 1
        cuts[at] = cuts[place]
        n_cuts += 1
    for place in range(8, 9 + n_cuts):
        cut = cuts[place] if place < 8 + n_cuts else hi
        if cut > lo:
            found += (cut - lo) * table[_case(start, end, starts[lo], ends[lo])]
            lo = cut
    return found


@njit(cache=True)
def _n_qualifying(one, other, left, right, asked, needed, cuts, listed, n_listed):
    """The number of left segments that are related to enough right segments; they are written to `listed`.

    If `listed` is empty, counting stops as soon as `needed` is decided.
    """
    starts, ends, labels, table, matters = right.start, right.end, right.label, asked.table, asked.matters
    left_starts, left_ends, left_labels, in_order = left.start, left.end, left.label, left.in_order
    begin, stop, in_step = right.begins[other], right.begins[other + 1], right.in_step[other]
    last = left.begins[one + 1]
    least = asked.least_right
    found = 0
    for place in range(left.begins[one], last):
        if listed.shape[0] == 0 and (found >= needed or found + last - place < needed):
            break
        segment = in_order[place]
        lo, hi = begin, stop
        if asked.labeled:
            label = left_labels[segment]
            lo = hi if label < 0 else first_from(labels, label, lo, hi)
            hi = first_from(labels, label + 1, lo, hi)
        start, end = left_starts[segment], left_ends[segment]
        n_related = _n_related(start, end, starts, ends, lo, hi, in_step, table, matters, asked.longest, cuts)
        if n_related == hi - lo if least == ALL else n_related >= least:
            if listed.shape[0]:
                listed[n_listed + found] = segment
            found += 1
    return found


@njit(cache=True)
def related_keys(left, right, asked):
    """The pairs (left key, right key) that satisfy the relation, sorted."""
    wants_some = asked.least_left >= 1 and asked.least_right >= 1
    cuts = np.zeros(16, np.int64)
    nowhere = np.empty(0, np.int64)
    found = np.empty((64, 2), np.int64)
    n_found = 0
    for partition in range(left.keys.shape[0] - 1):
        for one in range(left.keys[partition], left.keys[partition + 1]):
            needed = left.begins[one + 1] - left.begins[one] if asked.least_left == ALL else asked.least_left
            for other in range(right.keys[partition], right.keys[partition + 1]):
                if asked.apart and one == other:
                    continue
                if asked.touching and wants_some and (left.hi[one] < right.lo[other] or right.hi[other] < left.lo[one]):
                    continue
                if _n_qualifying(one, other, left, right, asked, needed, cuts, nowhere, 0) < needed:
                    continue
                if n_found == found.shape[0]:
                    longer = np.empty((2 * n_found, 2), np.int64)
                    longer[:n_found] = found
                    found = longer
                found[n_found, 0] = one
                found[n_found, 1] = other
                n_found += 1
    return found[:n_found, 0].copy(), found[:n_found, 1].copy()


@njit(cache=True)
def qualifying_segments(ones, others, left, right, asked):
    """The left segments that qualify; those of pair i are at [offsets[i], offsets[i + 1])."""
    offsets = np.zeros(ones.shape[0] + 1, np.int64)
    for i in range(ones.shape[0]):
        offsets[i + 1] = offsets[i] + left.begins[ones[i] + 1] - left.begins[ones[i]]
    cuts = np.zeros(16, np.int64)
    found = np.empty(max(1, offsets[-1]), np.int64)
    n_found = 0
    for i in range(ones.shape[0]):
        offsets[i] = n_found
        n_found += _n_qualifying(ones[i], others[i], left, right, asked, 0, cuts, found, n_found)
    offsets[ones.shape[0]] = n_found
    return offsets, found[:n_found].copy()


@njit(cache=True)
def deciding_segments(segments, keys, left, right, asked):
    """The right segments that decide whether left ones qualify, for each left segment and right key.

    These are the related ones, or those that are not related if all must be. Returns places in `segments` and segments.
    """
    size = 0
    for i in range(segments.shape[0]):
        size += right.begins[keys[i] + 1] - right.begins[keys[i]]
    places, others = np.empty(size, np.int64), np.empty(size, np.int64)
    found = 0
    for i in range(segments.shape[0]):
        start, end, label = left.start[segments[i]], left.end[segments[i]], left.label[segments[i]]
        for other in range(right.begins[keys[i]], right.begins[keys[i] + 1]):
            if asked.labeled and (label < 0 or label != right.label[other]):
                continue
            first, last = right.start[other], right.end[other]
            related = asked.table[_case(start, end, first, last)] != 0
            if related and asked.longest != NO_LIMIT:
                related = max(end, last) - min(start, first) <= asked.longest
            if related != (asked.least_right == ALL):
                places[found] = i
                others[found] = other
                found += 1
    return places[:found].copy(), others[:found].copy()
