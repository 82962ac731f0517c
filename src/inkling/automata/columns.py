"""Columns that compiled code reads: read-only arrays have a type of their own, so all of them are made so."""

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

Columns = TypeVar("Columns", bound=NamedTuple)


def frozen(values: npt.ArrayLike, dtype: npt.DTypeLike | None = None) -> npt.NDArray[Any]:
    """A contiguous array that cannot be written to; a copy only where type or layout differ."""
    array = np.ascontiguousarray(values, dtype=dtype).view()
    array.flags.writeable = False
    return array


def frozen_all(columns: Columns) -> Columns:
    """The same named tuple with all its arrays read-only."""
    return columns._make(frozen(one) if isinstance(one, np.ndarray) else one for one in columns)


def frozen_as(columns: Columns, dtypes: Sequence[npt.DTypeLike]) -> Columns:
    """The same named tuple with arrays that are read-only and of given types."""
    return columns._make(map(frozen, columns, dtypes))


def concatenated(left: Columns, right: Columns) -> Columns:
    """Each column of one named tuple followed by that of the other."""
    return left._make(np.concatenate(pair) for pair in zip(left, right, strict=True))
