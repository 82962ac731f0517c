"""Files by their suffix: CSV, JSON lines, Parquet, or a folder of one of these."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet

from inkling.errors import InputError

CSV, JSON_LINES, PARQUET = "csv", "jsonl", "parquet"
FORMATS = {".csv": CSV, ".jsonl": JSON_LINES, ".ndjson": JSON_LINES, ".json": JSON_LINES, ".parquet": PARQUET}


def format_of(path: Path, *, what: str) -> str:
    """The format of a file or of the files in a folder."""
    if not path.exists():
        raise InputError.of("INK0550", f"there is no file or folder `{path}` for `{what}`")
    if path.is_dir() and path.suffix not in FORMATS:
        found = {FORMATS[one.suffix] for one in data_files(path) if one.suffix in FORMATS}
        if len(found) != 1:
            kinds = " and ".join(sorted(found)) or "no data files"
            raise InputError.of(
                "INK0502",
                f"the folder `{path}` for `{what}` holds {kinds}, expected files of one format",
                helps=("keep .parquet, .csv or .jsonl files in it, of one kind",),
            )
        return found.pop()
    suffix = Path(path.stem).suffix if path.suffix == ".gz" else path.suffix
    if suffix.lower() not in FORMATS:
        raise InputError.of(
            "INK0502",
            f"`{path}` for `{what}` ends with `{path.suffix}`, expected .csv, .jsonl or .parquet",
        )
    return FORMATS[suffix.lower()]


def data_files(path: Path) -> list[Path]:
    """The files behind a path, in name order; names that begin with `_` or `.` are not data."""
    if not path.is_dir():
        return [path]
    return sorted(one for one in path.rglob("*") if one.is_file() and one.name[0] not in "_.")


def read_file(path: Path, *, what: str) -> pa.Table:
    """All rows of a file or folder; text formats give text columns."""
    kind = format_of(path, what=what)
    readers = {CSV: _read_csv, JSON_LINES: _read_json_lines, PARQUET: _read_parquet}
    try:
        tables = [readers[kind](one) for one in data_files(path)]
    except (pa.ArrowInvalid, OSError, UnicodeDecodeError, json.JSONDecodeError) as problem:
        raise InputError.of(
            "INK0503", f"`{path}` for `{what}` cannot be read as {kind}", notes=(str(problem).splitlines()[0],)
        ) from None
    return pa.concat_tables(tables, promote_options="permissive")


def _read_parquet(path: Path) -> pa.Table:
    return pa.parquet.read_table(path)


def _read_csv(path: Path) -> pa.Table:
    """Every column as text, so that each value can be judged by its declaration."""
    with pa.csv.open_csv(path) as peek:
        names = peek.schema.names
    options = pa.csv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=True, null_values=["", "null", "NULL"]
    )
    parsing = pa.csv.ParseOptions(newlines_in_values=True)
    return pa.csv.read_csv(path, convert_options=options, parse_options=parsing)


def _read_json_lines(path: Path) -> pa.Table:
    if path.stat().st_size == 0:
        return pa.table({})
    try:
        return pa.json.read_json(path)
    except pa.ArrowInvalid:
        return _read_mixed_json_lines(path)


def _read_mixed_json_lines(path: Path) -> pa.Table:
    """Lines whose values change type from row to row, as text."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
    names = list(dict.fromkeys(name for row in rows for name in row))
    return pa.table({name: pa.array([_text(row.get(name)) for row in rows], pa.string()) for name in names})


def _text(value: object) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value)
