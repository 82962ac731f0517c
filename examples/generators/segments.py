"""True events that open and close segments, by key, and the segments of two keys that touch."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .randomness import Booleans, Integers

MARK = "mark"
"""The role of a row that states the number of points so far."""


class SegmentPoints(NamedTuple):
    """Times of many keys, ordered within each key; they alternately open and close segments."""

    begins: Integers  # points of key k are begins[k] … begins[k + 1] - 1
    time: Integers

    @property
    def n_keys(self) -> int:
        return len(self.begins) - 1

    @property
    def counts(self) -> Integers:
        return np.diff(self.begins)

    @property
    def key(self) -> Integers:
        """Of each point."""
        return np.repeat(np.arange(self.n_keys), self.counts)

    @property
    def number(self) -> Integers:
        """Of each point among those of its key, from 1: odd ones open."""
        return np.arange(len(self.time)) - np.repeat(self.begins[:-1], self.counts) + 1


def of_counts(counts: Integers, time: Integers) -> SegmentPoints:
    """Concatenated times of all keys, and the number of times per key."""
    return SegmentPoints(np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), time)


def shared(left: SegmentPoints, right: SegmentPoints, ones: Integers, others: Integers) -> Integers:
    """For each pair, how many left segments touch right ones; common ends count.

    >>> left, right = of_counts(np.array([4]), np.array([0, 2, 4, 6])), of_counts(np.array([2]), np.array([2, 3]))
    >>> shared(left, right, np.array([0]), np.array([0]))
    array([1])
    """
    pair, opens, closes = _of_pairs(left, ones)
    other_pair, other_opens, other_closes = _of_pairs(right, others)
    both = np.concatenate([left.time, right.time])
    origin, reach = (int(both.min()), int(np.ptp(both)) + 2) if both.size else (0, 1)

    def on_one_line(which: Integers, time: Integers) -> Integers:
        return which * reach + (time - origin)

    begun = np.searchsorted(on_one_line(other_pair, other_opens), on_one_line(pair, closes), side="right")
    over = np.searchsorted(on_one_line(other_pair, other_closes), on_one_line(pair, opens), side="left")
    touches: Booleans = begun > over
    return np.bincount(pair[touches], minlength=len(ones))


def _of_pairs(points: SegmentPoints, keys: Integers) -> tuple[Integers, Integers, Integers]:
    """Segments of the keys of all pairs: pair, opening and closing time."""
    counts = points.counts[keys] // 2
    pair = np.repeat(np.arange(len(keys)), counts)
    first = np.repeat(points.begins[keys], counts)
    nth = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return pair, points.time[first + 2 * nth], points.time[first + 2 * nth + 1]


def pairs_of(n_keys: int) -> tuple[Integers, Integers]:
    """Every pair of different keys once.

    >>> [side.tolist() for side in pairs_of(3)]
    [[0, 0, 1], [1, 2, 2]]
    """
    ones, others = np.triu_indices(n_keys, 1)
    return ones.astype(np.int64), others.astype(np.int64)
