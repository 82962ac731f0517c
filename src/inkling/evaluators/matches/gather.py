"""Columns over finished matches: what outputs and HAVING conditions ask for, one value per match."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from inkling.evaluators.matches.aggregates import aggregate
from inkling.logical import expr as e
from inkling.model.batch import EventBatch, Ints, taken

NOWHERE = np.iinfo(np.int64).min + 1
"""A border that is not set."""


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
        """`moments` are the borders of named nested patterns, by slot."""
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
            return taken(self._batch.columns[column], rows)
        return self._batch.columns[column].take(pa.array(rows, mask=missing))

    def _time(self, edge: e.Edge, slot: int) -> pa.Array:
        if (slot, edge) in self._moments:
            moment = self._moments[slot, edge]
            return pa.array(moment, mask=moment == NOWHERE)
        first = edge is e.Edge.START
        rows = self._pick(slot, e.Which.FIRST if first else e.Which.LAST)
        times = self._batch.start if first else self._batch.end
        return pa.array(times[np.maximum(rows, 0)] if len(times) else rows, mask=rows < 0)
