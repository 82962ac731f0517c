"""Rows by the input they come from."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from inkling.model.batch import EventBatch, Ints
from inkling.physical.plan import LeafTest


def comes_from(batch: EventBatch, inputs: Iterable[int]) -> NDArray[np.bool_]:
    """Whether each row belongs to one of these inputs; a table of all inputs answers faster than a search."""
    wanted = np.zeros(int(batch.source.max(initial=0)) + 1, bool)
    for number in inputs:
        if number < len(wanted):
            wanted[number] = True
    return np.ones(len(batch), bool) if wanted.all() else wanted[batch.source]


def rows_passing(leaf: LeafTest, batch: EventBatch) -> Ints:
    """Rows of a leaf's inputs on which all conditions hold that look at single events."""
    return np.flatnonzero(comes_from(batch, leaf.inputs) & has_bits(leaf.bits, batch.bits))


def has_bits(bits: Iterable[int], words: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Whether each row of words has all these bits."""
    held = np.ones(len(words), bool)
    for bit in bits:
        held &= (words[:, bit >> 6] >> np.uint64(bit & 63)) & np.uint64(1) == 1
    return held
