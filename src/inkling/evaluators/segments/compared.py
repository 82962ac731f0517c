"""Pairs of keys with enough related segments, where conditions compare the segments of both keys.

A right segment decides whether a left one qualifies if it is related to it, or, where ALL must be related, if it is
not. Conditions are evaluated for these pairs of segments only, in portions.
"""

from collections.abc import Callable, Iterator

import numpy as np

from inkling.kernels.joins.segments import ALL, Question, Side, deciding_segments
from inkling.model.batch import Ints, Mask
from inkling.model.runs import ranges

AT_ONCE = 1 << 20
"""About how many pairs of keys or of segments are in memory at once."""

Passes = Callable[[Ints, Ints], Mask]
"""Which pairs of a left and a right segment satisfy the conditions."""


def compared_keys(
    left: Side, right: Side, asked: Question, passes: Passes, at_once: int = AT_ONCE
) -> tuple[Ints, Ints, Ints, Ints]:
    """The pairs of keys that satisfy the relation if only segments that pass are compared, sorted.

    Returns left keys, right keys, and the left segments that qualify: those of pair i are the ones from offset i on.
    """
    nothing = np.empty(0, np.int64)
    found = [(nothing, nothing, nothing, nothing)]
    for ones, others in _pairs_of_keys(left, right, asked, at_once):
        for part in _portions(np.diff(left.begins)[ones], at_once):
            found.append(_related(ones[part], others[part], left, right, asked, passes, at_once))
    ones, others, counts, segments = (np.concatenate(some) for some in zip(*found, strict=True))
    return ones, others, np.append(0, np.cumsum(counts)), segments


def _pairs_of_keys(left: Side, right: Side, asked: Question, at_once: int) -> Iterator[tuple[Ints, Ints]]:
    """The pairs of keys of one partition that can satisfy the relation."""
    partition = np.repeat(np.arange(len(left.keys) - 1), np.diff(left.keys))
    first, n_others = right.keys[partition], np.diff(right.keys)[partition]
    wants_some = asked.least_left >= 1 and asked.least_right >= 1
    for part in _portions(n_others, at_once):
        ones = np.repeat(np.arange(part.start, part.stop), n_others[part])
        others = ranges(first[part], n_others[part])
        possible = np.ones(len(ones), bool)
        if asked.apart:
            possible &= ones != others
        if asked.touching and wants_some:
            possible &= (left.hi[ones] >= right.lo[others]) & (right.hi[others] >= left.lo[ones])
        yield ones[possible], others[possible]


def _related(
    ones: Ints, others: Ints, left: Side, right: Side, asked: Question, passes: Passes, at_once: int
) -> tuple[Ints, Ints, Ints, Ints]:
    """The pairs that satisfy the relation, the numbers of their left segments that qualify, and these segments."""
    n_segments = np.diff(left.begins)[ones]
    pair = np.repeat(np.arange(len(ones)), n_segments)
    segment = left.in_order[ranges(left.begins[ones], n_segments)]
    qualifies = np.empty(len(segment), bool)
    for part in _portions(np.diff(right.begins)[others[pair]], at_once):
        places, compared = deciding_segments(segment[part], others[pair[part]], left, right, asked)
        decisive = places[passes(segment[part][places], compared)]
        counts = np.bincount(decisive, minlength=part.stop - part.start)
        qualifies[part] = counts == 0 if asked.least_right == ALL else counts >= asked.least_right
    counts = np.bincount(pair[qualifies], minlength=len(ones))
    enough = counts == n_segments if asked.least_left == ALL else counts >= asked.least_left
    return ones[enough], others[enough], counts[enough], segment[qualifies & enough[pair]]


def _portions(sizes: Ints, at_once: int) -> Iterator[slice]:
    """Consecutive items whose sizes sum to at most `at_once`, or single items that are larger."""
    until = np.cumsum(sizes)
    begin = 0
    while begin < len(sizes):
        done = until[begin - 1] if begin else 0
        end = max(begin + 1, int(np.searchsorted(until, done + at_once, side="right")))
        yield slice(begin, end)
        begin = end
