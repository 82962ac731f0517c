"""Files that arrive in a folder, read whole by workers with the reader of batch runs.

A file that cannot be read or lacks a column becomes rejects, so a bad file does not end the query.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet

from inkling.io.casting import is_readable
from inkling.io.readers.compression import FAULTS, decompressed
from inkling.io.readers.csv_text import read_csv
from inkling.io.readers.files import dialect_of
from inkling.io.readers.formats import Format
from inkling.io.readers.json_text import lines_in
from inkling.io.readers.options import FileOptions
from inkling.io.readers.rdf import read_rdf
from inkling.io.readers.records import MALFORMED, ORIGINAL, TEXT
from inkling.io.readers.utf8 import EncodingError, recoded
from inkling.io.rejects import row_json
from inkling.model.schema import Column
from inkling.model.time import Clock
from inkling.spark.kafka.json import rows_of_json

PATH, CONTENT = "path", "content"


@dataclass(frozen=True, slots=True)
class FileReader:
    """A function from rows of path and content to the raw rows of a stream."""

    kind: Format
    wanted: tuple[Column, ...]
    clock: Clock
    options: FileOptions = field(default_factory=FileOptions)
    epoch: str | None = None

    def __call__(self, files: pa.Table) -> Iterator[pa.Table]:
        for path, content in zip(files[0], files[1], strict=True):
            yield self._read(path.as_py(), content.as_buffer())

    def _read(self, path: str, content: pa.Buffer) -> pa.Table:
        try:
            rows = self._rows(path, recoded(decompressed(path, content), self.options.encoding))
        except EncodingError as problem:
            return self._all_malformed([path], f"a file that cannot be read: {problem}; {problem.help}")
        except (pa.ArrowException, OSError, ValueError, *FAULTS) as problem:
            reason = (str(problem).splitlines() or [type(problem).__name__])[0]
            return self._all_malformed([path], f"a file that cannot be read as {self.kind.value}: {reason}")
        if rows is None:
            return self._all_malformed([path], "a file without a header")
        fault = self._fault(rows)
        if fault is None:
            return rows
        return self._all_malformed([row_json(row) for row in rows.to_pylist()], f"{fault} (file {path})")

    def _rows(self, path: str, data: pa.Buffer) -> pa.Table | None:
        names = [column.name for column in self.wanted]
        match self.kind:
            case Format.CSV:
                return read_csv(data, self.options.dialect or dialect_of(Path(path)))
            case Format.JSON_LINES:
                lines = lines_in(data)
                return rows_of_json(lines, pa.repeat(pa.scalar("", TEXT), len(lines)), names)
            case Format.PARQUET:
                with pa.parquet.ParquetFile(pa.BufferReader(data)) as parquet:
                    return parquet.read(columns=[name for name in parquet.schema_arrow.names if name in names])
            case _:
                return read_rdf(self.kind, data, path)

    def _fault(self, rows: pa.Table) -> str | None:
        """The reason why no row of a file can be read, or None."""
        for column in self.wanted:
            match rows.column_names.count(column.name):
                case 0:
                    return f"there is no column `{column.name}`"
                case 1:
                    have = rows.schema.field(column.name).type
                    if not is_readable(have, column.type, self.clock, self.epoch):
                        return f"`{column.name}` has the type {have}, expected {column.type}"
                case _:
                    return f"there are two columns `{column.name}`"
        return None

    def _all_malformed(self, originals: list[str], fault: str) -> pa.Table:
        n = len(originals)
        columns = {column.name: pa.nulls(n, TEXT) for column in self.wanted}
        faults = pa.repeat(pa.scalar(fault, TEXT), n)
        return pa.table({**columns, MALFORMED: faults, ORIGINAL: pa.array(originals, TEXT)})
