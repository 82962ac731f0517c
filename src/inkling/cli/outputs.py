"""Writes result tables to files: JSON lines, CSV, Parquet, RDF by suffix; a folder gets one Parquet file per event."""

import csv
import json
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from typing import TextIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from inkling.errors import InputError
from inkling.io.casting import cast_column
from inkling.io.readers.rdf_lines import TERMS, library
from inkling.io.readers.storage import REMOTE
from inkling.io.rejects import reason_against
from inkling.model.time import Clock
from inkling.model.types import Type
from inkling.results import LEADING, TRAILING, as_text
from inkling.whole_files import file_name, write_whole, written_whole

STDOUT = "-"
JSON_SUFFIXES = (".jsonl", ".ndjson", ".json")
RDF_SUFFIXES = (".nt", ".ttl")


FORMULAS = re.compile(r"(?P<path>.+\.csv)\?formulas=(?P<choice>.*)", re.DOTALL)
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
"""Text that begins so is a formula for spreadsheets."""


def check_output(output: str) -> None:
    """Reject a path whose format is unknown before any work is done."""
    if (asked := FORMULAS.fullmatch(output)) is not None:
        if asked["choice"] != "escape":
            raise InputError.of(
                "INK0515",
                f"`{asked['choice']}` is not a valid value of `formulas` for `{asked['path']}`",
                helps=(f"write `{asked['path']}?formulas=escape`",),
            )
        output = asked["path"]
    path = Path(output)
    if (remote := REMOTE.fullmatch(output)) is not None:
        raise InputError.of(
            "INK0515",
            f"results cannot be written to `{output}`: it is not a path of this machine",
            notes=("`inkling run` writes local files; `inkling stream` also writes to Kafka and PostgreSQL",),
            helps=(f"write them to `{Path(remote['rest']).name or 'results.parquet'}` and copy that file",),
        )
    if path.suffix == ".ttl":
        library()  # without it, the run would fail at its end
    if output == STDOUT or _is_folder(output) or path.suffix in (*JSON_SUFFIXES, *RDF_SUFFIXES, ".csv", ".parquet"):
        return
    raise InputError.of(
        "INK0556",
        f"the name of `{output}` does not show its format",
        helps=("end it with .jsonl, .csv, .parquet, .nt or .ttl, or with / for a folder; `-` is JSON lines on stdout",),
    )


def write_tables(tables: Mapping[str, pa.Table], output: str) -> None:
    """Write all results; several events share one file, where the column `event` distinguishes them."""
    ordered = {name: in_order(table) for name, table in tables.items()}
    output, escapes = _options_of(output)
    path = Path(output)
    if _is_folder(output):
        with ExitStack() as complete:
            for name, table in ordered.items():
                file = complete.enter_context(written_whole(path / f"{file_name(name)}.parquet"))
                pa.parquet.write_table(table, file)
        return
    if path.suffix in RDF_SUFFIXES:
        write_whole(triples_of(ordered, turtle=path.suffix == ".ttl"), path)
    elif path.suffix == ".parquet":
        with written_whole(path) as file:
            pa.parquet.write_table(united(list(ordered.values())), file)
    elif path.suffix == ".csv":
        with _opened(output) as lines:
            _write_csv(united(list(ordered.values())), lines, escapes=escapes)
    else:
        with _opened(output) as lines:
            for table in ordered.values():
                _write_json_lines(table, lines)


def triples_of(tables: Mapping[str, pa.Table], *, turtle: bool) -> str:
    """The triples of all results that have some, each once, as N-Triples or Turtle."""
    given = [table.select(TERMS) for table in tables.values() if set(TERMS) <= set(table.column_names)]
    if not given:
        raise InputError.of(
            "INK0556",
            "no event has the columns `s`, `p` and `o`, which RDF files hold",
            helps=("give an event such a head, `EVENT alarm(a.s AS s, a.p AS p, a.o AS o)`, or write .jsonl",),
        )
    rows = pa.concat_tables(given, promote_options="permissive").drop_null()
    for name in TERMS:
        cast = cast_column(rows[name], Type.TERM, Clock.TIMESTAMP)
        if cast.bad.any():
            value = rows[name][int(cast.bad.argmax())].as_py()
            raise InputError.of(
                "INK0556", f"`{name}` is {value!r}, expected an RDF term", notes=(reason_against(value),)
            )
    distinct = rows.group_by(list(TERMS), use_threads=False).aggregate([])
    lines = pc.binary_join_element_wise(*(distinct[name] for name in TERMS), ".", " ")
    text = "".join(f"{line}\n" for line in lines.to_pylist())
    if not turtle:
        return text
    pyoxigraph = library()
    triples = pyoxigraph.parse(text, pyoxigraph.RdfFormat.N_TRIPLES)
    written: bytes = pyoxigraph.serialize((quad.triple for quad in triples), format=pyoxigraph.RdfFormat.TURTLE)
    return written.decode()


def write_rows(table: pa.Table, output: str, name: str = "rows") -> None:
    """Write one table that is not a result of a program, with its columns in their order.

    In a folder it becomes the Parquet file `name`.
    """
    output, escapes = _options_of(output)
    if _is_folder(output):
        output = str(Path(output) / f"{name}.parquet")
    path = Path(output)
    if path.suffix in RDF_SUFFIXES:
        write_whole(triples_of({name: table}, turtle=path.suffix == ".ttl"), path)
        return
    if path.suffix == ".parquet":
        with written_whole(path) as file:
            pa.parquet.write_table(table, file)
        return
    with _opened(output) as lines:
        if path.suffix == ".csv":
            _write_csv(table, lines, escapes=escapes)
        else:
            _write_json_lines(table, lines)


def _options_of(output: str) -> tuple[str, bool]:
    """The path, and whether text that a spreadsheet would compute is escaped."""
    asked = FORMULAS.fullmatch(output)
    return (output, False) if asked is None else (asked["path"], True)


def in_order(table: pa.Table) -> pa.Table:
    """Results sorted by end, start and lineage, so that all runners write the same file."""
    if not {"end", "start", "lineage"} <= set(table.column_names):
        return table
    ids = pc.list_value_length(table["lineage"])
    lineage_text = pc.binary_join(table["lineage"].cast(pa.list_(pa.string())), "\x00")
    keyed = table.append_column("@ids", ids).append_column("@lineage", lineage_text)
    values = [name for name in _value_columns(table) if not pa.types.is_nested(table.schema.field(name).type)]
    order = [(name, "ascending") for name in ("end", "start", "@lineage", "@ids", *values)]
    return keyed.sort_by(order).drop_columns(["@ids", "@lineage"])


def united(tables: list[pa.Table]) -> pa.Table:
    """All tables as one; a column that has different types becomes text."""
    values = dict.fromkeys(name for table in tables for name in _value_columns(table))
    names = [*LEADING, *values, *TRAILING] if tables and "event" in tables[0].column_names else list(values)
    kinds = {
        name: _common_type([t.schema.field(name).type for t in tables if name in t.column_names]) for name in names
    }
    schema = pa.schema(list(kinds.items()))
    return pa.concat_tables(
        [
            pa.table(
                [
                    table[name].cast(kinds[name]) if name in table.column_names else pa.nulls(len(table), kinds[name])
                    for name in names
                ],
                schema=schema,
            )
            for table in tables
        ]
    )


def _common_type(kinds: list[pa.DataType]) -> pa.DataType:
    if len(set(kinds)) == 1:
        return kinds[0]
    if all(pa.types.is_integer(kind) or pa.types.is_floating(kind) for kind in kinds):
        return pa.float64()
    return pa.list_(pa.string()) if all(pa.types.is_list(kind) for kind in kinds) else pa.string()


def _value_columns(table: pa.Table) -> list[str]:
    return [name for name in table.column_names if name not in (*LEADING, *TRAILING)]


def _write_json_lines(table: pa.Table, file: TextIO) -> None:
    for batch in table.to_batches(max_chunksize=10_000):
        for row in batch.to_pylist():
            file.write(json.dumps(row, default=as_text, ensure_ascii=False) + "\n")


def _write_csv(table: pa.Table, file: TextIO, *, escapes: bool = False) -> None:
    lines = csv.writer(file, lineterminator="\n")
    cell = _escaped_cell if escapes else _csv_cell
    lines.writerow([cell(name) for name in table.column_names])
    for batch in table.to_batches(max_chunksize=10_000):
        for row in batch.to_pylist():
            lines.writerow([cell(value) for value in row.values()])


def _escaped_cell(value: object) -> object:
    """A cell whose text no spreadsheet takes for a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA_STARTS) else _csv_cell(value)


def _csv_cell(value: object) -> object:
    match value:
        case bool():
            return "true" if value else "false"
        case list():
            return json.dumps(value, default=as_text, ensure_ascii=False)
        case datetime():
            return as_text(value)
        case _:
            return value


def _is_folder(output: str) -> bool:
    return output != STDOUT and (output.endswith("/") or Path(output).is_dir())


@contextmanager
def _opened(output: str) -> Iterator[TextIO]:
    if output == STDOUT:
        yield sys.stdout
        sys.stdout.flush()
        return
    with written_whole(Path(output)) as path, path.open("w", encoding="utf-8", newline="") as file:
        yield file
