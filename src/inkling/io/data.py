"""Anything that holds rows, read as an Arrow table with the columns it has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa

from inkling.errors import InputError
from inkling.io.files import read_file

Data: TypeAlias = Any
"""A path, a pandas, polars or Arrow table, or a list of rows; on Spark also a DataFrame or the name of a table."""


def read_table(data: Data, *, what: str) -> pa.Table:
    """Rows as they are given; `what` names the stream or table in messages."""
    if isinstance(data, pa.Table):
        return data
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    if isinstance(data, str | Path):
        return read_file(Path(data), what=what)
    if hasattr(data, "__arrow_c_stream__"):
        return pa.table(data)
    if isinstance(data, Sequence):
        return _from_rows(data, what=what)
    raise InputError.of(
        "INK0501",
        f"`{what}` was given a {type(data).__name__}, expected a path, a data frame or a list of rows",
    )


def _from_rows(rows: Sequence[Mapping[str, object]], *, what: str) -> pa.Table:
    """A list of dicts; a column whose values do not share a type is read as text."""
    if not all(isinstance(row, Mapping) for row in rows):
        raise InputError.of("INK0501", f"`{what}` was given a list whose items are not rows with named columns")
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = {}
    for name in names:
        values = [row.get(name) for row in rows]
        try:
            columns[name] = pa.array(values)
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            columns[name] = pa.array([None if value is None else str(value) for value in values], pa.string())
    return pa.table(columns)
