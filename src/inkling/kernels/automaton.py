"""Deterministic automata over rows sorted by key: one table lookup per row and pattern."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

DONE = 0
NEED_ROOM = 1

# Rows of one key are read in pieces that stay in the cache while all patterns pass over them.
PIECE = 4096


class DetectTables(NamedTuple):
    """The tables of all patterns, one after the other.

    An entry of ``delta`` is twice the place where the row of the next state begins, plus one if that state
    is final; so following it takes one addition, and telling whether it is final one bit.
    """

    group: npt.NDArray[np.int32]  # [pattern]: which row of the cells it reads
    column_base: npt.NDArray[np.int64]  # [pattern]: where its part of `column` begins
    column: npt.NDArray[np.int32]  # [cell]: column of the transition table
    delta_base: npt.NDArray[np.int64]  # [pattern]: where its part of `delta` begins
    n_columns: npt.NDArray[np.int64]  # [pattern]
    delta: npt.NDArray[np.int64]


class Found(NamedTuple):
    """Room for detections."""

    row: npt.NDArray[np.int64]
    pattern: npt.NDArray[np.int32]


@njit(cache=True, nogil=True)
def detect(
    tables: DetectTables,
    cells: npt.NDArray[np.int32],  # [group, row]
    segments: npt.NDArray[np.int64],  # first row of each key, and the number of rows
    segment: int,  # where to begin
    n_found: int,
    states: npt.NDArray[np.int32],  # [key, pattern], changed in place
    found: Found,
) -> tuple[int, int, int]:
    """Advance every pattern over every key; the status, the segments finished and the detections so far.

    When the room for detections ends, the segment at hand is given back untouched.
    """
    n_patterns = tables.group.shape[0]
    room = found.row.shape[0]
    entry = np.empty(n_patterns, np.int64)
    for at in range(segment, segments.shape[0] - 1):
        n_before = n_found
        for pattern in range(n_patterns):
            entry[pattern] = 2 * (tables.delta_base[pattern] + states[at, pattern] * tables.n_columns[pattern])
        stop = segments[at + 1]
        for piece in range(segments[at], stop, PIECE):
            piece_stop = min(piece + PIECE, stop)
            for pattern in range(n_patterns):
                group = tables.group[pattern]
                base = tables.column_base[pattern]
                here = entry[pattern]
                for row in range(piece, piece_stop):
                    here = tables.delta[(here >> 1) + tables.column[base + cells[group, row]]]
                    if here & 1:
                        if n_found == room:
                            return NEED_ROOM, at, n_before
                        found.row[n_found] = row
                        found.pattern[n_found] = pattern
                        n_found += 1
                entry[pattern] = here
        for pattern in range(n_patterns):
            place = (entry[pattern] >> 1) - tables.delta_base[pattern]
            states[at, pattern] = place // tables.n_columns[pattern]
    return DONE, segments.shape[0] - 1, n_found
