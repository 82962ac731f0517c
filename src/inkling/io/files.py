"""Files of rows as tables: text formats give text columns, Parquet the columns it has."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet

from inkling.errors import InputError
from inkling.io.csv_text import read_csv
from inkling.io.formats import Format, files_at
from inkling.io.json_text import read_json_lines

CSV, JSON_LINES = Format.CSV, Format.JSON_LINES


def format_of(path: Path, *, what: str) -> Format:
    return files_at(path, what=what)[0]


def data_files(path: Path) -> list[Path]:
    return list(files_at(path, what=str(path))[1])


def read_file(path: Path, *, what: str, columns: Collection[str] | None = None) -> pa.Table:
    """All records of a file or folder; of Parquet files, only the named columns."""
    kind, files = files_at(path, what=what)
    tables = [read_one(kind, file, what=what, columns=columns) for file in files]
    return pa.concat_tables(tables, promote_options="permissive")


def read_one(kind: Format, file: Path, *, what: str, columns: Collection[str] | None = None) -> pa.Table:
    rows: pa.Table | None
    try:
        match kind:
            case Format.CSV:
                rows = read_csv(_contents(file))
            case Format.JSON_LINES:
                rows = read_json_lines(_contents(file))
            case Format.PARQUET:
                return _read_parquet(file, columns)
    except (pa.ArrowException, OSError, EOFError) as problem:
        reason = (str(problem).splitlines() or [type(problem).__name__])[0]
        message = f"`{file}` for `{what}` cannot be read as {kind.value}"
        raise InputError.of("INK0503", message, notes=(reason,)) from None
    if rows is None:
        raise InputError.of(
            "INK0509",
            f"`{file}` for `{what}` has no header",
            helps=("the first line of a CSV file names its columns",),
        )
    return rows


def _contents(file: Path) -> pa.Buffer:
    if file.suffix.lower() == ".gz":
        with pa.input_stream(str(file), compression="gzip") as stream:
            return pa.py_buffer(stream.read())
    if file.stat().st_size == 0:  # nothing cannot be mapped
        return pa.py_buffer(b"")
    with pa.memory_map(str(file)) as mapped:
        return mapped.read_buffer()


def _read_parquet(file: Path, columns: Collection[str] | None) -> pa.Table:
    with pa.parquet.ParquetFile(file) as parquet:
        present = parquet.schema_arrow.names
        wanted = present if columns is None else [name for name in present if name in columns]
        return parquet.read(columns=wanted)
