"""Sorting by row number in linear time."""

import numpy as np
import numpy.typing as npt
from numba import njit


@njit(cache=True, nogil=True)
def order_by_row(row: npt.NDArray[np.int64], n_rows: int):  # type: ignore[no-untyped-def]
    """The stable order of entries by row; entries of one row keep theirs."""
    place = np.zeros(n_rows + 1, np.int64)
    for entry in range(row.shape[0]):
        place[row[entry] + 1] += 1
    for index in range(n_rows):
        place[index + 1] += place[index]
    order = np.empty(row.shape[0], np.int64)
    for entry in range(row.shape[0]):
        order[place[row[entry]]] = entry
        place[row[entry]] += 1
    return order
