"""Background tables, with their declared types."""

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from inkling.errors import InputError, nearest
from inkling.io.casting import cast_column
from inkling.io.readers.files import Data, read_table
from inkling.io.readers.records import MALFORMED
from inkling.io.rejects import python_value, reason_against
from inkling.model.schema import TableSchema
from inkling.model.time import Clock
from inkling.model.types import Type
from inkling.program_files import ProgramFiles

MADE_BY = "made_by"


def read_tables(
    schemas: tuple[TableSchema, ...], given: Mapping[str, Data] | None, files: ProgramFiles
) -> dict[str, pa.Table]:
    """All declared tables: from `given`, else from the declared files of the program."""
    given = given or {}
    unknown = sorted(set(given) - {schema.name for schema in schemas})
    if unknown:
        raise InputError.of("INK0554", f"the program has no table called `{unknown[0]}`")
    paths = {schema.name: files.path(schema.path) for schema in schemas if schema.name not in given}
    for schema in schemas:
        if schema.name in paths:
            _require_model(schema, paths[schema.name])
    sources = {**paths, **given}
    return {
        schema.name: _signed(schema, typed_table(schema, read_table(sources[schema.name], what=schema.name)))
        for schema in schemas
    }


def _signed(schema: TableSchema, table: pa.Table) -> pa.Table:
    """The table of a model, with the command that creates it as metadata, for messages about unsuitable models."""
    return table if schema.made_by is None else table.replace_schema_metadata({MADE_BY: schema.made_by})


def maker_of(table: pa.Table) -> str:
    """The command that creates a model."""
    known: bytes = (table.schema.metadata or {}).get(MADE_BY.encode(), b"inkling fit")
    return known.decode()


def _require_model(schema: TableSchema, path: Path) -> None:
    if schema.made_by is not None and not path.exists():
        raise InputError.of(
            "INK0550",
            f"the model `{schema.name}` is missing: there is no file `{path}`",
            notes=("a forecast needs a model, which is learned from past rows",),
            helps=(f"learn it: `{schema.made_by}`",),
        )


def typed_table(schema: TableSchema, raw: pa.Table) -> pa.Table:
    """The declared columns; an invalid value is an error and not a reject, because rules depend on all facts."""
    if MALFORMED in raw.column_names and raw[MALFORMED].null_count < len(raw):
        place = int(pc.index(raw[MALFORMED].is_valid(), True).as_py())
        raise InputError.of("INK0508", f"row {place + 1} of the table `{schema.name}`: {raw[MALFORMED][place]}")
    columns = {}
    for column in schema.columns:
        if column.name not in raw.column_names:
            close = nearest(column.name, raw.column_names, n=3)
            raise InputError.of(
                "INK0504",
                f"the table `{schema.name}` has no column `{column.name}`",
                notes=(f"its columns are {', '.join(raw.column_names) or 'none'}",),
                helps=(f"rename a column, or declare `{close[0]}` instead",) if close else (),
            )
        cast = cast_column(raw[column.name], column.type, Clock.TIMESTAMP)
        if cast.bad.any():
            place = int(cast.bad.argmax())
            value = python_value(raw[column.name][place])
            raise InputError.of(
                "INK0508",
                f"row {place + 1} of the table `{schema.name}`: `{column.name}` is {value!r}, expected {column.type}",
                notes=(reason_against(value),) if column.type is Type.TERM else (),
            )
        columns[column.name] = cast.values
    return pa.table(columns)
