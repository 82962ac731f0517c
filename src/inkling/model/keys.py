"""The definition of equal keys, and integer codes for grouping rows by key.

Two keys are the same if all their values are, column by column:

- null equals null: rows without a value share a key, unless a stream or `PARTITION BY` dropped them before;
- NaN equals NaN, whatever its bits, and is not null; -0.0 equals 0.0. Inputs and expressions produce neither;
- integers and times, which are integers, are compared exactly and never as doubles;
- texts are compared byte by byte, without folding of case or Unicode normalization;
- numbers and texts are never equal: the binder checks that a key has one type in all streams.

Codes are dense and valid for one set of rows. Hashes (`evaluators.hashes`) follow the same rules and are equal in every
process; different keys collide as rarely as 64 bits allow. Shuffles on Spark use them too. Conditions differ: in them,
null equals nothing, not even null.

>>> codes_of([pa.array([0.0, None, -0.0, None])], 4)[0].tolist()
[0, 1, 0, 1]
"""

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from inkling.model.batch import Ints, in_one_array

Column: TypeAlias = pa.Array | pa.ChunkedArray | Ints

_NEGATIVE_ZERO = np.iinfo(np.int64).min
"""The bits of -0.0 as an integer, the smallest of all doubles."""


def codes_of(columns: Iterable[Column], n_rows: int) -> tuple[Ints, int]:
    """The key code of each row, by first appearance, and the number of keys; without columns, there is one key."""
    codes, n_keys = np.zeros(n_rows, np.int64), min(n_rows, 1)
    for place, column in enumerate(columns):
        more, values = encoded(column)
        if place:
            more, values = encoded(codes * max(len(values), 1) + more)
        codes, n_keys = more, len(values)
    return codes, n_keys


def encoded(column: Column) -> tuple[Ints, pa.Array]:
    """The code of each value, by first appearance, and the values by code."""
    array = pa.array(column) if isinstance(column, np.ndarray) else column
    array = in_one_array(array) if isinstance(array, pa.ChunkedArray) else array
    found = array.dictionary_encode(null_encoding="encode")
    codes = np.asarray(found.indices.to_numpy(zero_copy_only=False), dtype=np.int64)
    if pa.types.is_floating(array.type):
        return _with_one_zero(codes, found.dictionary)
    return codes, found.dictionary


def _with_one_zero(codes: Ints, values: pa.Array) -> tuple[Ints, pa.Array]:
    """Codes in which both zeros are one value and all NaN are another; Arrow distinguishes their bits."""
    numbers = values.to_numpy(zero_copy_only=False).astype(np.float64, copy=False)
    if not np.isnan(numbers.max(initial=0.0)) and numbers.view(np.int64).min(initial=0) != _NEGATIVE_ZERO:
        return codes, values
    numbers = np.where(np.isnan(numbers), np.nan, numbers + 0.0)
    is_null = values.is_null().to_numpy(zero_copy_only=False)
    again = pa.array(numbers, values.type, mask=is_null).dictionary_encode(null_encoding="encode")
    return again.indices.to_numpy().astype(np.int64)[codes], again.dictionary
