"""Aggregates over the lists of repeated slots, all matches at once."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.evaluators.matches.whole_numbers import WholeSums, halves, means_of_two
from inkling.kernels.exact_sums import grouped_sums
from inkling.logical.user_aggregates import UserAggregate
from inkling.logical.vectorized import ARROW_TYPES
from inkling.model.batch import Ints
from inkling.model.types import Type


def aggregate(
    function: str, match: Ints, values: pa.Array | None, n: int, kind: Type, by: UserAggregate | None = None
) -> pa.Array:
    """Value of an aggregate per match 0 … n-1; `match` says whose list each value belongs to, ascending."""
    if values is None:
        return pa.array(np.bincount(match, minlength=n))
    present = pc.is_valid(values).to_numpy(zero_copy_only=False)
    match, values = match[present], values.filter(pa.array(present))
    count = np.bincount(match, minlength=n)
    if by is not None:
        return _written(by, np.concatenate([[0], np.cumsum(count)]), values, kind)
    if function == "COUNT":
        return pa.array(count)
    if function in ("MIN", "MAX"):
        return _extreme(function.lower(), match, values, n)
    numbers = values.to_numpy(zero_copy_only=False)
    if function in ("SUM", "AVG") and pa.types.is_integer(values.type):
        sums = _whole_sums(match, numbers, n)
        return sums.totals(count == 0) if function == "SUM" else pa.array(sums.averages(count), mask=count == 0)
    if function == "MEDIAN" and pa.types.is_integer(values.type):
        return pa.array(means_of_two(*_middle(match, numbers, count)), mask=count == 0)
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
                lower, upper = _middle(match, doubles, count)
                result = (lower + upper) / 2.0
    return pa.array(result, mask=(count == 0) | ~np.isfinite(result))


def _sums(match: Ints, numbers: np.ndarray, n: int) -> np.ndarray:
    """Sums that are rounded once, so that they depend on nothing but the numbers of the list."""
    offsets = np.searchsorted(match, np.arange(n + 1))
    return grouped_sums(offsets, np.ascontiguousarray(numbers).view(np.int64))


def _whole_sums(match: Ints, numbers: np.ndarray, n: int) -> WholeSums:
    offsets = np.searchsorted(match, np.arange(n + 1))
    sums = [np.concatenate([[0], np.cumsum(half)])[offsets] for half in halves(numbers)]
    return WholeSums(np.diff(sums[0]), np.diff(sums[1]))


def _middle(match: Ints, numbers: np.ndarray, count: Ints) -> tuple[np.ndarray, np.ndarray]:
    """The lower and the upper middle number of each list."""
    order = np.lexsort((numbers, match))
    numbers = np.append(numbers[order], numbers.dtype.type(0))
    first = np.concatenate([[0], np.cumsum(count)[:-1]])
    middle = first + np.maximum(count - 1, 0) // 2
    return numbers[middle], numbers[middle + (count % 2 == 0) * (count > 0)]


def _written(by: UserAggregate, offsets: Ints, values: pa.Array, kind: Type) -> pa.Array:
    held = values.to_numpy(zero_copy_only=False)
    found = [by.of(held[first:last]) for first, last in pairwise(offsets)]
    return pa.array(found, ARROW_TYPES[kind])


def _extreme(function: str, match: Ints, values: pa.Array, n: int) -> pa.Array:
    grouped = pa.table({"match": match, "value": values}).group_by("match").aggregate([("value", function)])
    position = np.full(n, -1)
    position[grouped["match"].to_numpy()] = np.arange(len(grouped))
    column = grouped[f"value_{function}"].combine_chunks()
    return column.take(pa.array(position, mask=position < 0))
