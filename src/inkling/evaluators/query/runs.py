"""Runs of equal values in sorted columns, and the places of runs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from inkling.model.batch import Ints


def changes(column: np.ndarray) -> NDArray[np.bool_]:
    """Where a value differs from the one before it; the first does."""
    changed = np.ones(len(column), bool)
    changed[1:] = column[1:] != column[:-1]
    return changed


def ranges(first: Ints, counts: Ints) -> Ints:
    """first[i], first[i] + 1, … of each, counts[i] many."""
    total = int(counts.sum())
    return np.arange(total) - np.repeat(np.cumsum(counts) - counts - first, counts)
