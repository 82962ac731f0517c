"""What the same key is, and codes by which rows are grouped.

Two keys are the same if all their values are, column by column:

- null is null: rows without a value share a key, unless a stream or `PARTITION BY` has left them out before;
- NaN is NaN, whatever its bits, and not null; -0.0 is 0.0. Reading and expressions leave neither in a column;
- whole numbers and times, which are whole numbers too, are compared to the last digit and never as doubles;
- texts are compared byte by byte: neither case nor Unicode forms are folded;
- numbers and texts are never the same: a key has one type in all streams, which the binder makes sure of.

Codes are dense and distinguish keys among the rows at hand. Hashes (`evaluators.hashes`) follow the same rules and mean
the same in every process; keys that differ share one as rarely as 64 bits allow. Spark's shuffles follow them too.
Conditions of equality are another thing: there null equals nothing, not even null.

>>> codes_of([pa.array([0.0, None, -0.0, None])], 4)[0].tolist()
[0, 1, 0, 1]
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from inkling.model.batch import Ints

Column: TypeAlias = pa.Array | pa.ChunkedArray | Ints

_NEGATIVE_ZERO = np.iinfo(np.int64).min
"""The bits of -0.0, read as a whole number: no other double has less."""


def codes_of(columns: Iterable[Column], n_rows: int) -> tuple[Ints, int]:
    """The code of each row's key, in order of first rows, and how many keys there are; without columns there is one."""
    codes, n_keys = np.zeros(n_rows, np.int64), min(n_rows, 1)
    for place, column in enumerate(columns):
        more, values = encoded(column)
        if place:
            more, values = encoded(codes * max(len(values), 1) + more)
        codes, n_keys = more, len(values)
    return codes, n_keys


def encoded(column: Column) -> tuple[Ints, pa.Array]:
    """The code of each value, in order of first rows, and the values by code."""
    array = pa.array(column) if isinstance(column, np.ndarray) else column
    array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    found = array.dictionary_encode(null_encoding="encode")
    codes = np.asarray(found.indices.to_numpy(zero_copy_only=False), dtype=np.int64)
    if pa.types.is_floating(array.type):
        return _with_one_zero(codes, found.dictionary)
    return codes, found.dictionary


def _with_one_zero(codes: Ints, values: pa.Array) -> tuple[Ints, pa.Array]:
    """Codes of doubles of which there may be two zeros and several NaN, which Arrow distinguishes by their bits."""
    numbers = values.to_numpy(zero_copy_only=False).astype(np.float64, copy=False)
    if not np.isnan(numbers.max(initial=0.0)) and numbers.view(np.int64).min(initial=0) != _NEGATIVE_ZERO:
        return codes, values
    numbers = np.where(np.isnan(numbers), np.nan, numbers + 0.0)
    is_null = values.is_null().to_numpy(zero_copy_only=False)
    again = pa.array(numbers, values.type, mask=is_null).dictionary_encode(null_encoding="encode")
    return again.indices.to_numpy().astype(np.int64)[codes], again.dictionary
