"""Recorded files, whose rows can be written again in parts without any change."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Protocol, TextIO

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from inkling.errors import InputError, nearest
from inkling.io.casting import cast_column, clock_of, is_readable
from inkling.io.readers.compression import FAULTS, stream_of
from inkling.io.readers.files import dialect_of
from inkling.io.readers.formats import Format
from inkling.io.readers.options import options_apart
from inkling.io.readers.places import files_at
from inkling.io.readers.rdf import NotRdfError
from inkling.model.time import Clock
from inkling.model.types import Type
from inkling.scenarios.recorded_graphs import RecordedGraphs


class RecordedRows(Protocol):
    """Rows in the order of their files."""

    @property
    def columns(self) -> Sequence[str]: ...

    def column(self, name: str) -> pa.ChunkedArray: ...

    def write(self, first: int, stop: int, path: Path) -> None: ...

    def messages(self, first: int, stop: int) -> list[str]:
        """Each row as a JSON object, or each graph of an RDF file as N-Quads."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """Rows with their times in seconds, NaN if unknown; a tick is one second."""

    rows: RecordedRows
    suffix: str
    seconds: npt.NDArray[np.float64]

    @classmethod
    def of(cls, paths: Sequence[Path], time: str) -> Recording:
        """Files or folders of one format, one after the other."""
        found = [files_at(path, what="replay") for path in paths]
        kinds = {kind for kind, _ in found}
        if len(kinds) != 1:
            raise InputError.of("INK0502", f"the files mix formats: {' and '.join(sorted(k.value for k in kinds))}")
        files = [file for _, some in found for file in some]
        rows, suffix = _read(kinds.pop(), files)
        require_column(rows, time, "--time ")
        return cls(rows, suffix, _seconds(rows.column(time), time))

    def write(self, first: int, stop: int, path: Path) -> None:
        self.rows.write(first, stop, path)

    def messages(self, first: int, stop: int, key: str | None = None) -> Iterator[tuple[str | None, str]]:
        """Rows as messages: the text of a column, and a JSON object or a document."""
        values = self.rows.messages(first, stop)
        if key is None:
            return ((None, value) for value in values)
        require_column(self.rows, key, "?key=")
        texts = self.rows.column(key).slice(first, stop - first).cast(pa.string()).to_pylist()
        return zip(texts, values, strict=True)


def require_column(rows: RecordedRows, name: str, option: str) -> None:
    if name not in rows.columns:
        close = nearest(name, list(rows.columns), n=1)
        raise InputError.of(
            "INK0504",
            f"the rows have no column `{name}`",
            notes=(f"their columns are {', '.join(rows.columns) or 'none'}",),
            helps=(f"write `{option}{close[0]}`",) if close else (),
        )


def _seconds(column: pa.ChunkedArray, name: str) -> npt.NDArray[np.float64]:
    clock = clock_of(column)
    if not is_readable(column.type, Type.TIME, clock):
        raise InputError.of("INK0511", f"`{name}` has the type {column.type}, expected a time")
    times = cast_column(column, Type.TIME, clock).values.cast(pa.int64())
    scale = 1e6 if clock is Clock.TIMESTAMP else 1.0
    # relative to one of them, because doubles cannot represent microseconds since 1970 exactly
    known = times.drop_null()
    apart = pc.subtract(times, known[0]) if len(known) else times
    return np.asarray(apart.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), np.float64) / scale


def _read(kind: Format, files: Sequence[Path]) -> tuple[RecordedRows, str]:
    try:
        match kind:
            case Format.CSV:
                return _Records.of(files), ".csv"
            case Format.JSON_LINES:
                return _Lines.of(files), ".jsonl"
            case Format.PARQUET:
                return _Stored(pa.concat_tables([pa.parquet.read_table(file) for file in files])), ".parquet"
            case Format.N_QUADS | Format.TRIG:
                return RecordedGraphs.of(kind, files), ".nq"
            case _:
                raise InputError.of("INK0502", f"{kind.value} files cannot be replayed")
    except (pa.ArrowException, OSError, *FAULTS, UnicodeDecodeError, csv.Error, NotRdfError) as problem:
        raise InputError.of("INK0503", f"the {kind.value} files cannot be read", notes=(str(problem),)) from None


@dataclass(frozen=True, slots=True, eq=False)
class _Records:
    """Records of CSV files; malformed ones are kept as they are."""

    columns: tuple[str, ...]
    records: list[list[str]]

    @classmethod
    def of(cls, files: Sequence[Path]) -> _Records:
        header: tuple[str, ...] | None = None
        records: list[list[str]] = []
        for file in files:
            with _opened(file) as text:
                dialect = dialect_of(file)
                lines = csv.reader(text, delimiter=dialect.separator)
                names = next(lines, None) if dialect.has_header else dialect.names
                names = names and (dialect.names or names)
                if names is None:
                    raise InputError.of("INK0509", f"`{file}` has no header")
                if header is not None and tuple(names) != header:
                    raise InputError.of("INK0503", f"`{file}` has another header than the file before it")
                header = tuple(names)
                records.extend(record for record in lines if record)
        return cls(header or (), records)

    def column(self, name: str) -> pa.ChunkedArray:
        place = self.columns.index(name)
        texts = (record[place] if place < len(record) else "" for record in self.records)
        return pa.chunked_array([pa.array([text or None for text in texts], pa.string())])

    def write(self, first: int, stop: int, path: Path) -> None:
        with path.open("w", encoding="utf-8", newline="") as file:
            lines = csv.writer(file, lineterminator="\n")
            lines.writerow(self.columns)
            lines.writerows(self.records[first:stop])

    def messages(self, first: int, stop: int) -> list[str]:
        fields = [json.dumps(name, ensure_ascii=False) for name in self.columns]
        return [
            f"{{{', '.join(f'{name}: {_json_of(text)}' for name, text in zip(fields, record, strict=False))}}}"
            for record in self.records[first:stop]
        ]


@dataclass(frozen=True, slots=True, eq=False)
class _Lines:
    """Lines of JSON files; malformed ones are kept as they are."""

    lines: list[str]
    objects: list[dict[str, object]]

    @classmethod
    def of(cls, files: Sequence[Path]) -> _Lines:
        lines: list[str] = []
        for file in files:
            with _opened(file) as text:
                lines.extend(line for line in (one.rstrip("\r\n") for one in text) if line.strip())
        return cls(lines, [_object(line) for line in lines])

    @property
    def columns(self) -> Sequence[str]:
        return list(dict.fromkeys(name for one in self.objects for name in one))

    def column(self, name: str) -> pa.ChunkedArray:
        values = (one.get(name) for one in self.objects)
        return pa.chunked_array([pa.array([None if one is None else str(one) for one in values], pa.string())])

    def write(self, first: int, stop: int, path: Path) -> None:
        path.write_text("".join(f"{line}\n" for line in self.lines[first:stop]), encoding="utf-8", newline="")

    def messages(self, first: int, stop: int) -> list[str]:
        return self.lines[first:stop]


_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")


def _json_of(text: str) -> str:
    """A field as JSON: a number as it is written, nothing as null, anything else as a text."""
    if not text:
        return "null"
    return text if _NUMBER.fullmatch(text) else json.dumps(text, ensure_ascii=False)


def _text(value: object) -> str:
    """A value that JSON lacks, such as a time or a decimal number, as text."""
    return value.isoformat() if isinstance(value, date) else str(value)


def _object(line: str) -> dict[str, object]:
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


@dataclass(frozen=True, slots=True, eq=False)
class _Stored:
    """Rows of Parquet files."""

    table: pa.Table

    @property
    def columns(self) -> Sequence[str]:
        return list(self.table.column_names)

    def column(self, name: str) -> pa.ChunkedArray:
        return self.table.column(name)

    def write(self, first: int, stop: int, path: Path) -> None:
        pa.parquet.write_table(self.table.slice(first, stop - first), path)

    def messages(self, first: int, stop: int) -> list[str]:
        rows = self.table.slice(first, stop - first).to_pylist()
        return [json.dumps(row, ensure_ascii=False, default=_text) for row in rows]


@contextmanager
def _opened(file: Path) -> Iterator[TextIO]:
    plain, options = options_apart(file)
    with plain.open("rb") as raw, stream_of(plain, raw) as stream:
        yield io.TextIOWrapper(stream, options.encoding or "utf-8-sig", newline="")
