"""Columns that compiled code reads: read-only arrays have a type of their own, so all of them are made so."""

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

Columns = TypeVar("Columns", bound=tuple[Any, ...])


def frozen(values: npt.ArrayLike, dtype: npt.DTypeLike | None = None) -> npt.NDArray[Any]:
    """A contiguous array that cannot be written to; a copy only where type or layout differ."""
    array = np.ascontiguousarray(values, dtype=dtype).view()
    array.flags.writeable = False
    return array


def frozen_all(columns: Columns) -> Columns:
    """The same named tuple with all its arrays read-only."""
    return type(columns)(*(frozen(one) if isinstance(one, np.ndarray) else one for one in columns))
