"""Anything that holds rows, read as an Arrow table with the columns it has."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa

from inkling.errors import InputError
from inkling.io.files import read_file

Data: TypeAlias = Any
"""A path, a pandas, polars or Arrow table, or a list of rows; on Spark also a DataFrame or the name of a table."""


def read_table(data: Data, *, what: str, columns: Collection[str] | None = None) -> pa.Table:
    """Rows as they are given; `what` names the stream or table in messages, `columns` those that matter."""
    if isinstance(data, pa.Table):
        return data
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    if isinstance(data, str | Path):
        return read_file(Path(data), what=what, columns=columns)
    if hasattr(data, "__arrow_c_stream__"):
        return _from_frame(data)
    if isinstance(data, Sequence):
        return _from_rows(data, what=what)
    raise InputError.of(
        "INK0501",
        f"`{what}` was given data of type {type(data).__name__}, expected a path, a data frame or a list of rows",
    )


def _from_frame(frame: Data) -> pa.Table:
    """A frame of another library; columns of Python objects that share no type are read as text."""
    try:
        return pa.table(frame)
    except (pa.ArrowException, OverflowError):
        if not hasattr(frame, "items"):
            raise
        return pa.table({str(name): _column(values.tolist()) for name, values in frame.items()})


def _from_rows(rows: Sequence[Mapping[str, object]], *, what: str) -> pa.Table:
    """A list of dicts; a column whose values do not share a type is read as text."""
    if not all(isinstance(row, Mapping) for row in rows):
        raise InputError.of("INK0501", f"`{what}` was given a list whose items are not rows with named columns")
    names = list(dict.fromkeys(name for row in rows for name in row))
    return pa.table({name: _column([row.get(name) for row in rows]) for name in names})


def _column(values: Iterable[object]) -> pa.Array:
    try:
        return pa.array(values)
    except (pa.ArrowException, OverflowError):
        return pa.array([_text(value) for value in values], pa.string())


def _text(value: object) -> str | None:
    match value:
        case None:
            return None
        case bool():
            return "true" if value else "false"
        case date():
            return value.isoformat()
        case _:
            return str(value)
