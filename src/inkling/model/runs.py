"""Runs of equal values in a sorted column: where they begin, and the places in them.

>>> is_first = changes(np.array([7, 7, 9]))
>>> is_first.tolist(), places_in_runs(is_first).tolist()
([True, False, True], [0, 1, 0])
"""

import numpy as np
from numpy.typing import NDArray

from inkling.model.batch import Ints


def changes(column: np.ndarray) -> NDArray[np.bool_]:
    """Where a value differs from the one before it; true for the first."""
    changed = np.ones(len(column), bool)
    changed[1:] = column[1:] != column[:-1]
    return changed


def places_in_runs(is_first: NDArray[np.bool_]) -> Ints:
    """The place of each row in its run, from 0; `is_first` marks the rows with which runs begin."""
    begins = np.flatnonzero(is_first)
    return np.arange(len(is_first)) - np.repeat(begins, np.diff(np.append(begins, len(is_first))))


def ranges(first: Ints, counts: Ints) -> Ints:
    """The numbers first[i], first[i] + 1, …, counts[i] many, for each i in turn."""
    return np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts - first, counts)
