"""Some rows of a table, without a copy of those that stand in a row."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

MOST_PIECES = 16
"""More stretches than this are copied together."""


def rows_where(table: pa.Table, wanted: NDArray[np.bool_]) -> pa.Table:
    """The rows that are wanted.

    Where they stand in a few long stretches, as they do when all but a few are wanted, the table is only cut.
    """
    borders = np.flatnonzero(wanted[1:] != wanted[:-1]) + 1
    if len(borders) > 2 * MOST_PIECES:
        return table.filter(pa.array(wanted))
    edges = [0, *borders.tolist(), len(table)]
    pieces = [table.slice(first, last - first) for first, last in pairwise(edges) if first < last and wanted[first]]
    if not pieces:
        return table.slice(0, 0)
    return pieces[0] if len(pieces) == 1 else pa.concat_tables(pieces)
