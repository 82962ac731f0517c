"""Columns over matches: values, aggregates and ids that outputs and HAVING read. Sums of integers are exact."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from inkling.kernels.windows.exact_sums import grouped_sums
from inkling.logical import expr as e
from inkling.logical.user_aggregates import UserAggregate
from inkling.logical.vectorized import ARROW_TYPES
from inkling.model.batch import EventBatch, Ints, column_at, taken
from inkling.model.runs import ranges
from inkling.model.types import Type

_LOW = np.int64(0xFFFFFFFF)
_EXACT = float(1 << 53)
_SAFE = float(1 << 62)


def halves(numbers: Ints) -> tuple[Ints, Ints]:
    """Integers as upper and lower 32 bits, so that billions of them can be added without overflow."""
    return numbers >> 32, numbers & _LOW


@dataclass(frozen=True, slots=True)
class WholeSums:
    """Sums of numbers, as sums of their halves."""

    high: Ints
    low: Ints

    @property
    def _rough(self) -> NDArray[np.float64]:
        return np.asarray(self.high * float(1 << 32) + self.low, np.float64)

    def totals(self, missing: NDArray[np.bool_]) -> pa.Array:
        """The sums; one that needs more than 64 bits is null."""
        total = (self.high << 32) + self.low
        uncertain = np.flatnonzero(np.abs(self._rough) >= _SAFE)
        if len(uncertain):
            missing = missing.copy()
            exact = [int(self.high[row]) * (1 << 32) + int(self.low[row]) for row in uncertain]
            missing[uncertain] |= [not -(1 << 63) <= value < 1 << 63 for value in exact]
        return pa.array(total, mask=missing)

    def averages(self, count: Ints) -> NDArray[np.float64]:
        """The sums divided by counts, rounded once; anything where the count is 0."""
        total = (self.high << 32) + self.low
        average = total / np.maximum(count, 1)
        for row in np.flatnonzero((np.abs(self._rough) >= _EXACT) & (count > 0)):
            average[row] = (int(self.high[row]) * (1 << 32) + int(self.low[row])) / int(count[row])
        return average


def means_of_two(one: Ints, other: Ints) -> NDArray[np.float64]:
    """The mean of two integers each, rounded once."""
    middle = (one + other) / 2.0
    large = np.flatnonzero(
        (np.abs(one.astype(np.float64)) >= _EXACT / 2) | (np.abs(other.astype(np.float64)) >= _EXACT / 2)
    )
    for row in large:
        middle[row] = (int(one[row]) + int(other[row])) / 2
    return middle


NOWHERE = np.iinfo(np.int64).min + 1
"""In place of a time that is not set."""


class Gather:
    """Resolves references of an expression against matches given as lists of (slot, row)."""

    def __init__(
        self,
        batch: EventBatch,
        offsets: Ints,
        rows: Ints,
        slots: Ints,
        moments: Mapping[tuple[int, e.Edge], Ints] | None = None,
    ) -> None:
        """`moments`: the start and end times of named nested patterns, by slot."""
        self._batch = batch
        self.offsets = offsets
        self.rows = rows
        self.slots = slots
        self._moments = moments or {}
        self._match = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        self._n = len(offsets) - 1
        self._any_row = rows[offsets[:-1]] if len(rows) else np.empty(0, np.int64)

    def __call__(self, expr: e.Expr) -> pa.Array:
        match expr:
            case e.ColumnOf(slot=slot, column=column):
                return self._column(self._pick(slot, e.Which.LAST), column)
            case e.ListColumn(which=which, slot=slot, column=column):
                return self._column(self._pick(slot, which), column)
            case e.KeyColumn(column=column):
                return self._column(self._any_row, column)
            case e.IdOf(slot=slot, of_any=True):
                rows = self._pick(slot, e.Which.LAST)
                return pa.array(self._batch.event[np.maximum(rows, 0)], mask=rows < 0)
            case e.IdOf(slot=slot):
                rows = self._pick(slot, e.Which.LAST)
                first_id = self._batch.id_offsets[np.maximum(rows, 0)]
                return self._batch.ids.take(pa.array(first_id, mask=rows < 0))
            case e.TimeOf(edge=edge, slot=slot):
                return self._time(edge, slot)
            case e.Aggregate(function=function, slot=slot, column=column, type=kind, by=by):
                chosen = self.slots == slot
                values = None if column is None else self._batch.columns[column].take(pa.array(self.rows[chosen]))
                return aggregate(function, self._match[chosen], values, self._n, kind, by)
            case _:
                raise AssertionError(f"{type(expr).__name__} is not a reference")

    def _pick(self, slot: int, which: e.Which) -> Ints:
        chosen = np.flatnonzero(self.slots == slot)
        if which is e.Which.FIRST:
            chosen = chosen[::-1]
        picked = np.full(self._n, -1)
        picked[self._match[chosen]] = self.rows[chosen]
        return picked

    def _column(self, rows: Ints, column: str) -> pa.Array:
        missing = rows < 0
        if not missing.any():
            return column_at(self._batch.columns, column, rows)
        return self._batch.columns[column].take(pa.array(rows, mask=missing))

    def _time(self, edge: e.Edge, slot: int) -> pa.Array:
        if (slot, edge) in self._moments:
            moment = self._moments[slot, edge]
            return pa.array(moment, mask=moment == NOWHERE)
        first = edge is e.Edge.START
        rows = self._pick(slot, e.Which.FIRST if first else e.Which.LAST)
        times = self._batch.start if first else self._batch.end
        return pa.array(times[np.maximum(rows, 0)] if len(times) else rows, mask=rows < 0)


def aggregate(
    function: str, match: Ints, values: pa.Array | None, n: int, kind: Type, by: UserAggregate | None = None
) -> pa.Array:
    """The value of an aggregate for matches 0 to n - 1; `match` is the match of each value, ascending."""
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
    """Sums that are rounded once, so that they do not depend on the order of the numbers."""
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


def lineage_ids(batch: EventBatch, offsets: Ints, rows: Ints) -> pa.ListArray:
    """The lineage of each match: ids in pattern order; derived events add all of theirs."""
    if batch.has_single_ids:
        return pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), taken(batch.ids, rows))
    width = np.diff(batch.id_offsets)[rows]
    ends, position = np.append(0, np.cumsum(width)), ranges(batch.id_offsets[rows], width)
    return pa.ListArray.from_arrays(pa.array(ends[offsets], pa.int32()), batch.ids.take(pa.array(position)))
