"""Rows of alternatives, step by step: a step is one KEY at one time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.io.checks.groups import Numbers, numbered
from inkling.io.normalize import END, START
from inkling.model.schema import StreamSchema
from inkling.model.uncertainty import ProbableValue
from inkling.model.value_worlds import value_columns

NOTHING = -1
"""The state of a KEY that has no event."""


@dataclass(frozen=True, slots=True)
class Steps:
    """Steps in the order of key and time; rows by their places in the table.

    `value` and `given` are numbers of states. A source is a step with one of its previous states, an alternative a
    source with one of its values.
    """

    step: Numbers
    value: Numbers
    given: Numbers
    source: Numbers
    alternative: Numbers
    time: Numbers
    starts_key: NDArray[np.bool_]
    order: Numbers
    offsets: Numbers

    @property
    def n_steps(self) -> int:
        return len(self.time)

    def members(self, step: int) -> Numbers:
        """Places of the rows of a step."""
        return self.order[self.offsets[step] : self.offsets[step + 1]]

    def per_step(self, rows: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Whether a step has such a row."""
        return np.bincount(self.step[rows], minlength=self.n_steps) > 0

    @classmethod
    def of(cls, schema: StreamSchema, doubt: ProbableValue, rows: pa.Table) -> Steps:
        n_rows = len(rows)
        key = numbered([rows[name] for name in schema.key], n_rows)
        time = rows[START].to_numpy()
        order = np.lexsort((time, key))
        starts_key = np.diff(key[order], prepend=-1) != 0
        is_first = starts_key | (np.diff(time[order], prepend=time[order][:1]) != 0)
        step = np.empty(n_rows, np.int64)
        step[order] = np.cumsum(is_first) - 1
        values = [name for name in value_columns(doubt, schema) if name in rows.column_names]
        value, given = _states(rows, values, doubt.given)
        source = numbered([step, given], n_rows) if doubt.given else step
        ends = [rows[END]] if schema.is_interval else []
        alternative = numbered([source, *(rows[name] for name in values), *ends], n_rows)
        offsets = np.append(np.flatnonzero(is_first), n_rows)
        first = offsets[:-1]
        return cls(
            step,
            value,
            given,
            source,
            alternative,
            time[order][first],
            starts_key[first],
            order.astype(np.int64),
            offsets,
        )


def _states(rows: pa.Table, values: list[str], given: tuple[str, ...]) -> tuple[Numbers, Numbers]:
    """State after and state before each row, in the same numbers."""
    n_rows = len(rows)
    if not given:
        return np.zeros(n_rows, np.int64), np.full(n_rows, NOTHING)
    both = [
        pa.chunked_array([*rows[value].chunks, *rows[before].cast(rows[value].type).chunks], rows[value].type)
        for value, before in zip(values, given, strict=False)
    ]
    states = numbered(both, 2 * n_rows)
    nothing = np.logical_and.reduce([rows[before].is_null().to_numpy() for before in given])
    return states[:n_rows], np.where(nothing, NOTHING, states[n_rows:])
