"""Row numbers that continue from batch to batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute

Column: TypeAlias = npt.NDArray[np.generic] | pa.Array | Sequence[object]


def prefixed(prefix: str, numbers: npt.NDArray[np.int64], width: int = 1) -> pa.Array:
    """Names made of a prefix and a number, padded with zeros to a width.

    >>> prefixed("V", np.array([7, 1234]), width=3).to_pylist()
    ['V007', 'V1234']
    """
    digits = pa.compute.utf8_lpad(pa.array(numbers).cast(pa.string()), width, "0")
    return pa.compute.binary_join_element_wise(prefix, digits, "")


class Numbering:
    """Counts the rows of each stream and gives every row the next `id`.

    An integer `id` is the number itself; other ids begin with the capital letters of the stream, so that ids of
    different streams differ.
    """

    def __init__(self, streams: Mapping[str, pa.Schema]) -> None:
        self._streams = streams
        self.rows = dict.fromkeys(streams, 0)

    def batch(self, stream: str, columns: Mapping[str, Column]) -> pa.RecordBatch:
        """A batch of the given columns; `id` is added unless it is among them."""
        schema = self._streams[stream]
        n_rows = len(next(iter(columns.values())))
        first = self.rows[stream]
        self.rows[stream] += n_rows
        numbers = np.arange(first, first + n_rows, dtype=np.int64)
        if pa.types.is_integer(schema.field("id").type):
            ids = pa.array(numbers)
        else:
            capitals = "".join(character for character in stream if character.isupper())
            ids = prefixed(capitals, numbers)
        arrays = {"id": ids} | {name: _as_array(column) for name, column in columns.items()}
        return pa.RecordBatch.from_arrays([arrays[field.name].cast(field.type) for field in schema], schema=schema)


def _as_array(column: Column) -> pa.Array:
    return column if isinstance(column, pa.Array) else pa.array(column)
