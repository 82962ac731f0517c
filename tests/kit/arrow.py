"""Rows of test streams and tables as Arrow tables with the declared types, empty ones included."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pyarrow as pa

from inkling.io.normalize import stored_columns
from inkling.logical import plan as p
from inkling.logical.vectorized import ARROW_TYPES
from inkling.meaning.streams import RawRow
from inkling.model.schema import Column


def arrow_streams(plan: p.ProgramPlan, rows: Mapping[str, Iterable[RawRow]]) -> dict[str, pa.Table]:
    """What the streams of a program read: the columns that rows must have, without the derived ones."""
    return {
        stream.schema.name: _table(
            stored_columns(stream.schema, [column.name for column in stream.derived]), rows.get(stream.schema.name, ())
        )
        for stream in plan.streams
    }


def arrow_tables(plan: p.ProgramPlan, rows: Mapping[str, Iterable[RawRow]]) -> dict[str, pa.Table]:
    """The background tables of a program."""
    return {table.name: _table(table.columns, rows.get(table.name, ())) for table in plan.tables}


def _table(columns: Iterable[Column], rows: Iterable[RawRow]) -> pa.Table:
    listed = list(rows)

    def values(column: Column) -> pa.Array:
        return pa.array([row.get(column.name) for row in listed], ARROW_TYPES[column.type])

    return pa.table({column.name: values(column) for column in columns})
