"""Aggregates over sliding windows, in one pass per aggregate; the cost does not depend on the window length."""

import statistics
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from inkling.evaluators.gather import WholeSums, halves, means_of_two
from inkling.evaluators.windows.members import SlidingWindows
from inkling.kernels.windows.exact_sums import sliding_sums
from inkling.kernels.windows.sliding import extreme_rows, running_sums
from inkling.kernels.windows.sliding_statistics import middle_rows, sliding_deviations
from inkling.logical import expr as e
from inkling.logical.user_aggregates import UserAggregate
from inkling.logical.vectorized import ARROW_TYPES
from inkling.model.batch import Ints, sorted_words, taken
from inkling.model.event import Value

Bools = NDArray[np.bool_]

_LARGE, _SMALL = 1e140, 1e-140
"""Within these limits, squares of sums and their rounding errors are representable as doubles."""


Sums = dict[str | None, tuple[Ints, WholeSums | NDArray[np.float64]]]
"""Counts and sums by column, shared by SUM and AVG."""


def sliding(asked: e.Aggregate, first: Ints, group: Ints, values: pa.Array, wanted: Bools, sums: Sums) -> pa.Array:
    """The value of an aggregate in each wanted window; window i has the values at positions `first[i]` to i."""
    present = np.asarray(pc.is_valid(values).to_numpy(zero_copy_only=False), bool)
    if asked.by is not None:
        return pa.array(_written(asked.by, first, group, values, present, wanted), ARROW_TYPES[asked.type])
    function = asked.function
    if function in ("SUM", "AVG"):
        if asked.column not in sums:
            sums[asked.column] = _counts_and_sums(first, values, present, wanted)
        return _of_sums(function, *sums[asked.column])
    count = _counts(first, present)
    if function == "COUNT":
        return pa.array(count)
    if function in ("MIN", "MAX"):
        found = extreme_rows(first, _ordered(values), present, function == "MAX")
        return values.take(pa.array(found, mask=found < 0))
    numbers = _filled(values)
    missing = count == 0
    if function == "MEDIAN":
        return pa.array(_medians(first, numbers, present), mask=missing)
    return pa.array(_deviations(first, numbers, present, wanted), mask=missing)


def _counts(first: Ints, present: Bools) -> Ints:
    if present.all():
        return np.arange(1, len(first) + 1) - first
    return running_sums(first, present.astype(np.int64))


def _counts_and_sums(
    first: Ints, values: pa.Array, present: Bools, wanted: Bools
) -> tuple[Ints, WholeSums | NDArray[np.float64]]:
    numbers, count = _filled(values), _counts(first, present)
    if numbers.dtype == np.int64:
        high, low = (running_sums(first, half) for half in halves(numbers))
        return count, WholeSums(high, low)
    return count, sliding_sums(first, numbers.view(np.int64), present, wanted)


def _of_sums(function: str, count: Ints, sums: WholeSums | NDArray[np.float64]) -> pa.Array:
    missing = count == 0
    if isinstance(sums, WholeSums):
        return sums.totals(missing) if function == "SUM" else pa.array(sums.averages(count), mask=missing)
    missing |= ~np.isfinite(sums)
    found = sums if function == "SUM" else sums / np.maximum(count, 1)
    return pa.array(found, mask=missing) if missing.any() else pa.array(found)


def _filled(values: pa.Array) -> np.ndarray:
    """Numbers, with 0 in place of null."""
    if values.null_count:
        values = pc.fill_null(values, pa.scalar(0, pa.int64()).cast(values.type))
    return np.asarray(values.to_numpy(zero_copy_only=False))


def _ordered(values: pa.Array) -> np.ndarray:
    """Numbers in the order of the values; arbitrary for null."""
    if not pa.types.is_string(values.type):
        return _filled(values)
    ranks = pc.index_in(values, value_set=sorted_words([values]))
    return np.asarray(pc.fill_null(ranks, 0).to_numpy(zero_copy_only=False), np.int64)


def _medians(first: Ints, numbers: np.ndarray, present: Bools) -> np.ndarray:
    order = np.argsort(numbers, kind="stable")
    rank = np.empty(len(numbers), np.int64)
    rank[order] = np.arange(len(numbers))
    lower, upper = (numbers[rows] if len(numbers) else numbers for rows in middle_rows(first, rank, present, order))
    return means_of_two(lower, upper) if numbers.dtype == np.int64 else (lower + upper) / 2.0


def _deviations(first: Ints, numbers: np.ndarray, present: Bools, wanted: Bools) -> np.ndarray:
    sizes = np.abs(numbers.astype(np.float64))
    longest = int((np.arange(len(first)) - first).max(initial=0)) + 1
    tame = sizes.max(initial=0.0) * longest < _LARGE and sizes[sizes > 0].min(initial=1.0) > _SMALL
    whole = numbers.dtype == np.int64 and sizes.max(initial=0.0) >= float(1 << 53)
    if tame and not whole:
        return sliding_deviations(first, numbers.astype(np.float64), present, wanted)
    out = np.zeros(len(first))
    for row in np.flatnonzero(wanted):
        begin = first[row]
        members = numbers[begin : row + 1][present[begin : row + 1]].tolist()
        out[row] = statistics.pstdev(members) if members else 0.0
    return out


def _written(
    by: UserAggregate, first: Ints, group: Ints, values: pa.Array, present: Bools, wanted: Bools
) -> list[Value]:
    """Values of a user aggregate, written in Python."""
    if by.is_incremental:
        return _incremental(by, first, group, values.to_pylist(), wanted)
    held = values.filter(pa.array(present)).to_numpy(zero_copy_only=False)
    before = np.concatenate([[0], np.cumsum(present)])
    return [by.of(held[before[begin] : before[row + 1]]) if wanted[row] else None for row, begin in enumerate(first)]


def _incremental(by: UserAggregate, first: Ints, group: Ints, values: list[Any], wanted: Bools) -> list[Value]:
    found: list[Value] = []
    state, begin, n_members = by.start(), 0, 0
    for row, value in enumerate(values):
        if row and group[row] != group[row - 1]:
            state, begin, n_members = by.start(), row, 0
        if value is not None:
            state.add(value)
            n_members += 1
        while begin < first[row]:
            if values[begin] is not None:
                state.remove(values[begin])
                n_members -= 1
            begin += 1
        found.append(by.checked(state.value()) if n_members and wanted[row] else None)
    return found


class WindowColumns:
    """Resolves references of an expression against windows, without building lists of members."""

    def __init__(self, windows: SlidingWindows, slot: int, wanted: NDArray[np.bool_]) -> None:
        """`slot` holds the members; windows that are not wanted may have any value."""
        self._wanted = wanted
        self._windows = windows
        self._slot = slot
        self._found: dict[e.Expr, pa.Array] = {}
        self._sums: Sums = {}

    def __call__(self, expr: e.Expr) -> pa.Array:
        if expr not in self._found:
            self._found[expr] = self._column(expr)
        return self._found[expr]

    def _column(self, expr: e.Expr) -> pa.Array:
        windows, batch = self._windows, self._windows.batch
        match expr:
            case e.ListColumn(which=e.Which.FIRST, column=column):
                return taken(batch.columns[column], windows.rows[windows.first])
            case e.ListColumn(column=column) | e.KeyColumn(column=column):
                return taken(batch.columns[column], windows.rows)
            case e.ColumnOf(slot=slot, column=column):
                return taken(batch.columns[column], self._rows(slot))
            case e.IdOf(slot=slot, of_any=True):
                return pa.array(batch.event[self._rows(slot)])
            case e.IdOf(slot=slot):
                return taken(batch.ids, batch.id_offsets[self._rows(slot)])
            case e.TimeOf(edge=e.Edge.START, slot=slot) if slot == self._slot:
                return pa.array(batch.start[windows.earliest])
            case e.TimeOf(edge=edge, slot=slot):
                times = batch.start if edge is e.Edge.START else batch.end
                return pa.array(times[self._rows(slot)])
            case e.Aggregate(column=None):
                return pa.array(np.arange(len(windows)) - windows.first + 1)
            case e.Aggregate(column=str(column)):
                values = taken(batch.columns[column], windows.rows)
                return sliding(expr, windows.first, windows.group, values, self._wanted, self._sums)
            case _:
                raise AssertionError(f"{type(expr).__name__} is not a reference")

    def _rows(self, slot: int) -> Ints:
        if slot == self._slot:
            return self._windows.rows
        assert self._windows.opening is not None, "only SINCE has another event"
        return self._windows.opening
