"""Cells: one small number per row for its stream and predicate bits, which indexes the tables of patterns.

Cell 0 is a row that resets its key, which has stream -1. The two kernels repeat the loop over rows, because a shared
loop would cost a call per row.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit


class PackedCells(NamedTuple):
    """Cells for few predicates: the bits that guards of a stream read, packed together."""

    bytes_used: npt.NDArray[np.int64]  # which bytes of the bit column matter
    base: npt.NDArray[np.int32]  # [stream]: its first cell
    packed: npt.NDArray[np.int32]  # [stream, byte used, value]: what the byte adds
    allowed: npt.NDArray[np.uint8]  # [cell]: whether this combination of predicates is possible


class SearchedCells(NamedTuple):
    """Cells for many predicates: the set of guards that hold, found in a sorted list of possible sets."""

    bytes_used: npt.NDArray[np.int64]
    readers: npt.NDArray[np.uint64]  # [stream]: the guards that read it
    unhurt: npt.NDArray[np.uint64]  # [byte used, value]: the guards that require no other bit of the byte
    truths: npt.NDArray[np.uint64]  # ascending


@njit(cache=True, nogil=True)
def pack(
    cells: PackedCells, stream: npt.NDArray[np.int16], octets: npt.NDArray[np.uint8], out: npt.NDArray[np.int32]
) -> int:
    """Write the cell of each row; the first row that has none, or the number of rows."""
    n_streams = cells.base.shape[0]
    n_used = cells.bytes_used.shape[0]
    for row in range(stream.shape[0]):
        source = stream[row]
        if source < 0 or source >= n_streams:
            if source != -1:
                return row
            out[row] = 0
            continue
        cell = cells.base[source]
        for used in range(n_used):
            cell += cells.packed[source, used, octets[row, cells.bytes_used[used]]]
        if cells.allowed[cell] == 0:
            return row
        out[row] = cell
    return stream.shape[0]


@njit(cache=True, nogil=True)
def search(
    cells: SearchedCells, stream: npt.NDArray[np.int16], octets: npt.NDArray[np.uint8], out: npt.NDArray[np.int32]
) -> int:
    """The same by bisection; a loop of its own, because a shared one would branch on the kind of cells per row."""
    n_streams = cells.readers.shape[0]
    n_truths = cells.truths.shape[0]
    for row in range(stream.shape[0]):
        source = stream[row]
        if source < 0 or source >= n_streams:
            if source != -1:
                return row
            out[row] = 0
            continue
        truth = cells.readers[source]
        for used in range(cells.bytes_used.shape[0]):
            truth &= cells.unhurt[used, octets[row, cells.bytes_used[used]]]
        lo, hi = 0, n_truths
        while lo < hi:
            middle = (lo + hi) // 2
            if cells.truths[middle] < truth:
                lo = middle + 1
            else:
                hi = middle
        if lo == n_truths or cells.truths[lo] != truth:
            return row
        out[row] = lo + 1
    return stream.shape[0]
