"""References of a condition on one row, answered from a table of rows."""

from __future__ import annotations

import pyarrow as pa

from inkling.evaluators.stage import rows as r
from inkling.logical import expr as e
from inkling.physical.naming import fact_name


class Row:
    """Resolves references to the row itself against a table with logical or physical column names."""

    def __init__(self, source: pa.Table) -> None:
        self._source = source
        self._names = frozenset(source.column_names)

    def __call__(self, expr: e.Expr) -> pa.Array:
        match expr:
            case e.ColumnOf(column=column):
                name = column if column in self._names else column.rsplit("|", 1)[0]
                return self._source[name].combine_chunks()
            case e.TimeOf(edge=edge):
                lasts = r.START in self._names
                return self._source[r.START if edge is e.Edge.START and lasts else r.END].combine_chunks()
            case e.IdOf():
                return self._source[r.ID].combine_chunks()
            case e.FactColumn(atom=atom, column=column, type=kind):
                return self._source[fact_name(atom, column, kind)].combine_chunks()
            case _:
                raise AssertionError(f"{type(expr).__name__} does not look at one row")
