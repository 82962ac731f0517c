"""Some rows of a table, without a copy of those that stand in a row; and some keys, by the hashes of their owners."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.evaluators.stage.owners import Owners, is_among, owners_of

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


def concatenated(tables: Sequence[pa.Table]) -> pa.Table:
    """Tables of one schema one after the other; most of them are empty."""
    some = [table for table in tables if len(table)] or [tables[0]]
    return some[0] if len(some) == 1 else pa.concat_tables(some)


@dataclass(frozen=True, slots=True)
class Chosen:
    """Some keys of a stage: those with these hashes, sorted, or all others."""

    owners: Owners
    n_key_columns: int
    others: bool = False

    def among(self, owners: Owners) -> NDArray[np.bool_]:
        """Whether what each owner has is wanted."""
        theirs = is_among(owners, self.owners)
        return ~theirs if self.others else theirs

    def marks(self, rows: pa.Table) -> NDArray[np.bool_]:
        """Whether each stage row is of a chosen key; keys alone will do."""
        return self.among(owners_of(rows, self.n_key_columns))

    def rows(self, rows: pa.Table) -> pa.Table:
        """The rows of chosen keys."""
        return rows_where(rows, self.marks(rows))
