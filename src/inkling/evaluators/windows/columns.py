"""Columns over windows: what outputs and HAVING conditions ask for, one value per window."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.evaluators.windows.aggregates import Sums, sliding
from inkling.evaluators.windows.members import Windows
from inkling.logical import expr as e
from inkling.model.batch import Ints, taken


class WindowColumns:
    """Resolves references of an expression against windows; a list is never put together."""

    def __init__(self, windows: Windows, slot: int, wanted: NDArray[np.bool_]) -> None:
        """`slot` is the one that holds the members; of windows that are not wanted, anything may be said."""
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
