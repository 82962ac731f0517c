"""The index from keys to their runs, updated for the keys of a step."""

import numpy as np
import numpy.typing as npt
from numba import njit


@njit(cache=True, nogil=True)
def enter_runs(
    begin: npt.NDArray[np.int64],  # [key * patterns + pattern], changed in place
    end: npt.NDArray[np.int64],
    codes: npt.NDArray[np.int64],  # the keys that were touched
    offset: npt.NDArray[np.int64],  # positions of their runs, one after the other
    n_patterns: int,
) -> int:
    """Stores the new positions of the runs of some keys; returns the change of the number of keys with runs."""
    more = 0
    for index in range(codes.shape[0]):
        had = has = False
        for pattern in range(n_patterns):
            place = codes[index] * n_patterns + pattern
            at = index * n_patterns + pattern
            had = had or end[place] > begin[place]
            has = has or offset[at + 1] > offset[at]
            begin[place], end[place] = offset[at], offset[at + 1]
        more += int(has) - int(had)
    return more


@njit(cache=True, nogil=True)
def segments_of(key: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The first row of each key, then the number of rows; empty if the rows are not sorted by key."""
    n_rows = key.shape[0]
    segments = np.empty(n_rows + 1, np.int64)
    n = 0
    for row in range(n_rows):
        if row == 0 or key[row] != key[row - 1]:
            if row > 0 and key[row] < key[row - 1]:
                return segments[:0]
            segments[n] = row
            n += 1
    segments[n] = n_rows
    return segments[: n + 1]
