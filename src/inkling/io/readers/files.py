"""Raw tables from files, frames and lists of rows; columns of text formats are text, others keep their types."""

import io
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias, cast

import pyarrow as pa
import pyarrow.parquet

from inkling.errors import InputError
from inkling.io.readers import storage
from inkling.io.readers.compression import FAULTS, compression_of, decompressed, stream_of
from inkling.io.readers.csv_text import COMMAS, TABS, Dialect, HeaderError, header_names, parse_lines, read_csv
from inkling.io.readers.formats import Format
from inkling.io.readers.json_text import parse_json_lines, read_json_lines
from inkling.io.readers.options import options_apart
from inkling.io.readers.places import files_at
from inkling.io.readers.rdf import NotRdfError, read_rdf
from inkling.io.readers.storage import is_stored, plain_name
from inkling.io.readers.utf8 import (
    BYTE_ORDER_MARK,
    EncodingError,
    OtherEncodingError,
    recoded,
    reject_other_encodings,
    texts,
)
from inkling.io.spellings import is_blank

_UNREADABLE = (pa.ArrowException, OSError, *FAULTS, EncodingError, OtherEncodingError, HeaderError, UnicodeError)


def read_file(path: Path, *, what: str, columns: Collection[str] | None = None) -> pa.Table:
    """All records of a file or folder; of Parquet files, only the named columns."""
    kind, files = files_at(path, what=what)
    return _concatenated([read_one(kind, file, what=what, columns=columns) for file in files], what=what)


def read_one(kind: Format, file: Path, *, what: str, columns: Collection[str] | None = None) -> pa.Table:
    rows: pa.Table | None
    try:
        match kind:
            case Format.CSV:
                rows = read_csv(_contents(file), dialect_of(file))
            case Format.JSON_LINES:
                rows = read_json_lines(_contents(file))
            case Format.PARQUET:
                with parquet_file(file) as parquet:
                    return parquet.read(columns=_present(parquet, columns))
            case _:
                rows = read_rdf(kind, _contents(file), scope_of(file, what=what))
    except (*_UNREADABLE, NotRdfError) as problem:
        raise _unreadable(kind, file, problem, what=what) from None
    if rows is None:
        raise _headerless(file, what=what)
    return rows


def read_sample(
    kind: Format, files: Sequence[Path], n: int, *, what: str, columns: Collection[str] | None = None
) -> pa.Table:
    """The first `n` records of every file. A value that spans lines may be truncated."""
    samples = []
    for file in files:
        try:
            match kind:
                case Format.CSV:
                    dialect = dialect_of(file)
                    lines = first_lines(file, n + dialect.has_header)
                    names = header_of(file, lines, dialect, what=what)
                    rows = pa.array(lines[dialect.has_header :], pa.binary())
                    samples.append(parse_lines(rows, names, dialect.separator))
                case Format.JSON_LINES:
                    lines = first_lines(file, n)
                    samples.append(parse_json_lines(texts(lines)))
                case Format.PARQUET:
                    with parquet_file(file) as parquet:
                        batches = parquet.iter_batches(n, columns=(names := _present(parquet, columns)))
                        schema = pa.schema([parquet.schema_arrow.field(name) for name in names])
                        samples.append(pa.Table.from_batches(islice(batches, 1), schema))
                case _:
                    samples.append(read_one(kind, file, what=what).slice(0, n))
        except _UNREADABLE as problem:
            raise _unreadable(kind, file, problem, what=what) from None
    return _concatenated(samples, what=what)


def scope_of(file: Path, *, what: str) -> str:
    """The name of a file, for its blank nodes: they are distinct from those of other files and of other inputs."""
    return f"{what}/{file.parent.name}/{file.name}"


def dialect_of(file: Path) -> Dialect:
    """How a CSV file is written: as its path says, otherwise with commas, or tabs in a file `.tsv`."""
    plain, options = options_apart(file)
    name = plain_name(plain).lower()
    is_tsv = name.removesuffix(compression_of(name)).endswith(".tsv")
    return options.dialect or (TABS if is_tsv else COMMAS)


def header_of(file: Path, lines: Sequence[bytes], dialect: Dialect = COMMAS, *, what: str) -> list[str]:
    """The column names in the first line of a CSV file, or those that stand for them."""
    if not dialect.has_header:
        return list(dialect.names)
    if not lines:
        raise _headerless(file, what=what)
    try:
        return header_names(lines[0], dialect)
    except (EncodingError, HeaderError) as problem:
        raise _unreadable(Format.CSV, file, problem, what=what) from None


def first_lines(file: Path, n: int) -> list[bytes]:
    """The first lines of a text file that are not blank, as UTF-8 if the path names another encoding."""
    plain, options = options_apart(file)
    with _opened(plain) as raw, stream_of(plain_name(plain), raw) as stream:
        if options.encoding is None:
            return _first_of(stream, n)
        with io.TextIOWrapper(stream, options.encoding, errors="surrogateescape", newline="") as lines:
            return _first_of((line.encode(errors="surrogateescape") for line in lines), n)


def _opened(plain: Path) -> BinaryIO:
    return cast(BinaryIO, io.BufferedReader(storage.opened(plain))) if is_stored(plain) else plain.open("rb")


def parquet_file(file: Path) -> pa.parquet.ParquetFile:
    plain, _ = options_apart(file)
    return pa.parquet.ParquetFile(storage.opened(plain) if is_stored(plain) else plain)


def _first_of(stream: Iterable[bytes], n: int) -> list[bytes]:
    parts = (part for line in stream for part in line.removeprefix(BYTE_ORDER_MARK).splitlines())
    found = list(islice((part for part in parts if not is_blank(part.decode(errors="replace"))), n))
    if found:
        reject_other_encodings(found[0])
    return found


def _concatenated(tables: Sequence[pa.Table], *, what: str) -> pa.Table:
    """The rows of all files, with columns matched by name."""
    if len(tables) == 1:
        return tables[0]
    for table in tables:
        for name, n_times in Counter(table.column_names).items():
            if n_times > 1:
                raise InputError.of("INK0510", f"a file of the input for `{what}` has two columns `{name}`")
    try:
        return pa.concat_tables(tables, promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError) as problem:
        message = f"the files of the input for `{what}` have columns of one name and different types"
        raise InputError.of("INK0503", message, notes=(str(problem).splitlines()[0],)) from None


def _contents(file: Path) -> pa.Buffer:
    """The bytes of a file without compression, as UTF-8 if the path names another encoding."""
    plain, options = options_apart(file)
    if is_stored(plain):
        with storage.opened(plain) as stored:
            return recoded(decompressed(plain_name(plain), pa.py_buffer(stored.read())), options.encoding)
    if plain.stat().st_size == 0:  # an empty file cannot be memory-mapped
        return decompressed(plain, pa.py_buffer(b""))
    with pa.memory_map(str(plain)) as mapped:
        return recoded(decompressed(plain, mapped.read_buffer()), options.encoding)


def _present(parquet: pa.parquet.ParquetFile, columns: Collection[str] | None) -> list[str]:
    return [name for name in parquet.schema_arrow.names if columns is None or name in columns]


def _headerless(file: Path, *, what: str) -> InputError:
    return InputError.of(
        "INK0509", f"`{file}` for `{what}` has no header", helps=("the first line of a CSV file names its columns",)
    )


def _unreadable(kind: Format, file: Path, problem: Exception, *, what: str) -> InputError:
    reason = (str(problem).splitlines() or [type(problem).__name__])[0]
    message = f"`{file}` for `{what}` cannot be read as {kind.value}"
    if not isinstance(problem, EncodingError):
        return InputError.of("INK0503", message, notes=(reason,))
    return InputError.of("INK0503", message, notes=(reason,), helps=(problem.help.replace("PATH", str(file)),))


Data: TypeAlias = Any
"""A path, a pandas, polars (also lazy) or Arrow table, or a list of rows; on Spark also a DataFrame or a name."""


def read_table(data: Data, *, what: str, columns: Collection[str] | None = None) -> pa.Table:
    """The rows of any input; `what` names the stream or table in messages, `columns` are the needed ones."""
    if isinstance(data, pa.Table):
        return data
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    if isinstance(data, str | Path):
        return read_file(Path(data), what=what, columns=columns)
    if hasattr(data, "collect_schema") and hasattr(data, "collect"):
        return read_table(_collected(data, columns), what=what)
    if hasattr(data, "__arrow_c_stream__"):
        return _from_frame(data)
    if isinstance(data, Sequence):
        return _from_rows(data, what=what)
    raise InputError.of(
        "INK0501",
        f"`{what}` was given data of type {type(data).__name__}, expected a path, a data frame or a list of rows",
    )


def _collected(lazy: Data, columns: Collection[str] | None) -> Data:
    """A lazy frame of polars, computed; only the needed columns."""
    if columns is None:
        return lazy.collect()
    return lazy.select([name for name in lazy.collect_schema().names() if name in columns]).collect()


def _from_frame(frame: Data) -> pa.Table:
    """A frame of another library; columns of Python objects without a common type are read as text."""
    try:
        return pa.table(frame)
    except (pa.ArrowException, OverflowError):
        if not hasattr(frame, "items"):
            raise
        return pa.table({str(name): _column(values.tolist()) for name, values in frame.items()})


def _from_rows(rows: Sequence[Mapping[str, object]], *, what: str) -> pa.Table:
    """A list of dicts; a column of values without a common type is read as text."""
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
