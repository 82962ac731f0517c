"""What opens and closes segments, key by key, as it really was: the ground from which some of it is lost."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from inkling.generate.arrays import Integers


class Points(NamedTuple):
    """Times of many keys, those of one key in order: in turn they open a segment and close it."""

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


def of_matrix(times: Integers) -> Points:
    """A row per key, all with as many points.

    >>> of_matrix(np.array([[1, 2], [5, 9]])).number
    array([1, 2, 1, 2])
    """
    n_keys, n_points = times.shape
    return Points(np.arange(n_keys + 1) * n_points, times.ravel())


def of_counts(counts: Integers, time: Integers) -> Points:
    """Times of all keys in a row, and how many belong to each."""
    return Points(np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), time)
