"""Detections in the order of their rows."""

import numpy as np
from numba import njit


@njit(cache=True)
def order_by_row(row, n_rows):
    """Positions that sort ``row`` (numbers below ``n_rows``), by a stable counting sort."""
    begins = np.zeros(n_rows + 1, np.int64)
    for i in range(row.shape[0]):
        begins[row[i] + 1] += 1
    for r in range(n_rows):
        begins[r + 1] += begins[r]
    order = np.empty(row.shape[0], np.int64)
    for i in range(row.shape[0]):
        order[begins[row[i]]] = i
        begins[row[i]] += 1
    return order


@njit(cache=True)
def any_tied(key, end, place):
    """Whether some row has the key, end and place of the row before it."""
    for row in range(1, key.shape[0]):
        if key[row] == key[row - 1] and end[row] == end[row - 1] and place[row] == place[row - 1]:
            return True
    return False
