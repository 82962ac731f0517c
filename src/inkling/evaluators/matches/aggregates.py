"""Aggregates over the lists of repeated slots, all matches at once."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.model.batch import Ints
from inkling.model.types import Type


def aggregate(function: str, match: Ints, values: pa.Array | None, n: int, kind: Type) -> pa.Array:
    """Value of an aggregate per match 0 … n-1; `match` says whose list each value belongs to, in order."""
    if values is None:
        return pa.array(np.bincount(match, minlength=n))
    present = pc.is_valid(values).to_numpy(zero_copy_only=False)
    match, values = match[present], values.filter(pa.array(present))
    count = np.bincount(match, minlength=n)
    if function == "COUNT":
        return pa.array(count)
    if function in ("MIN", "MAX"):
        return _extreme(function.lower(), match, values, n)
    numbers = values.to_numpy(zero_copy_only=False)
    if function == "SUM" and kind is not Type.DOUBLE:
        total = np.zeros(n, np.int64)
        np.add.at(total, match, numbers.astype(np.int64))
        return pa.array(total, mask=count == 0)
    doubles = numbers.astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        match function:
            case "SUM":
                result = _sums(match, doubles, n)
            case "AVG":
                result = _sums(match, doubles, n) / count
            case "STDDEV":
                mean = _sums(match, doubles, n) / count
                result = np.sqrt(_sums(match, (doubles - mean[match]) ** 2, n) / count)
            case _:
                result = _median(match, doubles, count)
    return pa.array(result, mask=count == 0)


def _sums(match: Ints, numbers: np.ndarray, n: int) -> np.ndarray:
    """Sums in list order, so that the result does not depend on what else is in the batch."""
    total = np.zeros(n)
    np.add.at(total, match, numbers)
    return total


def _median(match: Ints, numbers: np.ndarray, count: Ints) -> np.ndarray:
    order = np.lexsort((numbers, match))
    numbers = np.append(numbers[order], 0.0)
    first = np.concatenate([[0], np.cumsum(count)[:-1]])
    middle = first + np.maximum(count - 1, 0) // 2
    return (numbers[middle] + numbers[middle + (count % 2 == 0) * (count > 0)]) / 2.0


def _extreme(function: str, match: Ints, values: pa.Array, n: int) -> pa.Array:
    grouped = pa.table({"match": match, "value": values}).group_by("match").aggregate([("value", function)])
    position = np.full(n, -1)
    position[grouped["match"].to_numpy()] = np.arange(len(grouped))
    column = grouped[f"value_{function}"].combine_chunks()
    return column.take(pa.array(position, mask=position < 0))
