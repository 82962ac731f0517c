"""Sums and averages of 64-bit integers that are exact however large the numbers are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.model.batch import Ints

_LOW = np.int64(0xFFFFFFFF)
_EXACT = float(1 << 53)
_SAFE = float(1 << 62)


def halves(numbers: Ints) -> tuple[Ints, Ints]:
    """Numbers as upper and lower 32 bits, so that billions of them can be added up without overflow."""
    return numbers >> 32, numbers & _LOW


@dataclass(frozen=True, slots=True)
class WholeSums:
    """Sums of numbers, as sums of their halves."""

    high: Ints
    low: Ints

    @property
    def _rough(self) -> NDArray[np.float64]:
        return np.asarray(self.high * float(1 << 32) + self.low, np.float64)

    def totals(self, missing: NDArray[np.bool_]) -> pa.Array:
        """The sums; one that needs more than 64 bits is null."""
        total = (self.high << 32) + self.low
        uncertain = np.flatnonzero(np.abs(self._rough) >= _SAFE)
        if len(uncertain):
            missing = missing.copy()
            exact = [int(self.high[row]) * (1 << 32) + int(self.low[row]) for row in uncertain]
            missing[uncertain] |= [not -(1 << 63) <= value < 1 << 63 for value in exact]
        return pa.array(total, mask=missing)

    def averages(self, count: Ints) -> NDArray[np.float64]:
        """The sums divided by counts, rounded once; anything where the count is 0."""
        total = (self.high << 32) + self.low
        average = total / np.maximum(count, 1)
        for row in np.flatnonzero((np.abs(self._rough) >= _EXACT) & (count > 0)):
            average[row] = (int(self.high[row]) * (1 << 32) + int(self.low[row])) / int(count[row])
        return average


def means_of_two(one: Ints, other: Ints) -> NDArray[np.float64]:
    """The middle between two numbers each, rounded once."""
    middle = (one + other) / 2.0
    large = np.flatnonzero(
        (np.abs(one.astype(np.float64)) >= _EXACT / 2) | (np.abs(other.astype(np.float64)) >= _EXACT / 2)
    )
    for row in large:
        middle[row] = (int(one[row]) + int(other[row])) / 2
    return middle
