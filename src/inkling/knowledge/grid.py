"""Numbers for rows of integers: the places of rows in a grid with an axis for each column.

Sets of rows are sets of numbers then, which are faster to hash and to compare than rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.model.batch import Ints, in_one_array

MOST = 2**62


@dataclass(frozen=True, slots=True)
class RowGrid:
    """The least value and the number of values on each axis."""

    least: tuple[int, ...]
    widths: tuple[int, ...]

    @classmethod
    def of(cls, tables: Sequence[pa.Table]) -> RowGrid | None:
        """The grid that holds the rows of tables with the same columns; None if not all columns have only integers."""
        least, widths = [], []
        for place in range(tables[0].num_columns):
            columns = [table.column(place) for table in tables]
            if any(column.type != pa.int64() or column.null_count for column in columns):
                return None
            ends = [pc.min_max(column).as_py() for column in columns if len(column)]
            low = min((one["min"] for one in ends), default=0)
            least.append(low)
            widths.append(max((one["max"] for one in ends), default=low) - low + 1)
        return cls(tuple(least), tuple(widths)) if widths and prod(widths) <= MOST else None

    @property
    def size(self) -> int:
        return prod(self.widths)

    def numbers(self, rows: pa.Table) -> pa.Array:
        """The number of each row."""
        found = np.zeros(len(rows), np.int64)
        for column, low, width in zip(rows.itercolumns(), self.least, self.widths, strict=True):
            found = found * width + (_integers(column) - low)
        return pa.array(found)

    def rows(self, numbers: pa.Array, schema: pa.Schema) -> pa.Table:
        """The rows with these numbers."""
        rest, columns = numbers.to_numpy(), []
        for low, width in zip(reversed(self.least), reversed(self.widths), strict=True):
            rest, own = np.divmod(rest, width)
            columns.append(pa.array(own + low))
        return pa.Table.from_arrays(columns[::-1], schema=schema)


def _integers(column: pa.ChunkedArray) -> Ints:
    return np.asarray(in_one_array(column).to_numpy())
