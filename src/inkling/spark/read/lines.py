"""Large text files: Spark splits them into lines, and workers parse the lines with the local reader."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import unquote, urlparse

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from inkling.io.readers.csv_text import Dialect, parse_lines
from inkling.io.readers.files import first_lines, header_of
from inkling.io.readers.formats import Format
from inkling.io.readers.json_text import parse_json_lines
from inkling.io.readers.records import MALFORMED, ORIGINAL
from inkling.io.readers.utf8 import texts
from inkling.spark.read.checked_rows import RowCheck
from inkling.spark.read.inputs import LinesOfFiles
from inkling.spark.read.whole_files import with_columns

LINE, FILE, BLOCK = "line", "file", "block"
_NOT_BLANK = "[^ \\t\\r\\n\\f\\x0B]"  # `WHITE_SPACE` as Java writes it
_NAMES = pa.schema([("name", pa.string())])


@dataclass(frozen=True, slots=True)
class Survey:
    """The number of lines of each block of each file, and whether a quoted value spans several lines."""

    blocks: Mapping[tuple[int, int], int]  # by hash of the file and start of the block
    files: Mapping[str, int]  # hash by path
    is_cut: bool

    def offsets(self, order: Sequence[str], *, has_header: bool) -> dict[tuple[int, int], int]:
        """The number of records before the first line of each block, with files in the given order."""
        offsets = {}
        before = 0
        for path in order:
            if path not in self.files:
                continue  # a file of nothing but blank lines
            file = self.files[path]
            before -= has_header  # the header is a line, but not a record
            for block in sorted(block for other, block in self.blocks if other == file):
                offsets[file, block] = before
                before += self.blocks[file, block]
        return offsets

    def n_records(self, *, has_header: bool) -> int:
        return sum(self.blocks.values()) - has_header * len(self.files)


def lines_of(raw: LinesOfFiles) -> DataFrame:
    """Every line that is not blank, with its file and its block of the file."""
    text = raw.spark.read.text([str(file) for file in raw.files])
    return text.select(
        F.col("value").alias(LINE),
        F.xxhash64("_metadata.file_path").alias(FILE),
        F.col("_metadata.file_block_start").alias(BLOCK),
        F.col("_metadata.file_path").alias("path"),
    ).where(F.col(LINE).rlike(_NOT_BLANK))


def survey(raw: LinesOfFiles) -> Survey:
    """Count lines, in one pass over the text without Python."""
    quote = F.lit('"')
    n_quotes = F.octet_length(LINE) - F.octet_length(F.replace(F.col(LINE), quote, F.lit("")))
    is_cut = F.when(F.col(LINE).contains(quote), n_quotes % 2).otherwise(0)
    counted = (
        lines_of(raw).groupBy("path", FILE, BLOCK).agg(F.count("*").alias("n"), F.max(is_cut).alias("cut")).collect()
    )
    return Survey(
        {(row[FILE], row[BLOCK]): row["n"] for row in counted},
        {unquote(urlparse(row["path"]).path): row[FILE] for row in counted},
        any(row["cut"] for row in counted),
    )


def headers_of(raw: LinesOfFiles) -> dict[str, tuple[str, ...]]:
    """The names of the columns of each CSV file."""
    return {str(file): tuple(header_of(file, first_lines(file, 1), raw.dialect, what=raw.what)) for file in raw.files}


def names_in(raw: LinesOfFiles) -> list[str]:
    """All names that occur in JSON lines; this is a pass over the text."""
    found = lines_of(raw).select(LINE).mapInArrow(_occurring_names, from_arrow_schema(_NAMES)).distinct()
    return sorted(row["name"] for row in found.collect())


def checked(
    raw: LinesOfFiles,
    check: RowCheck,
    columns: Sequence[str],
    headers: Mapping[int, tuple[str, ...]],
    offsets: Mapping[tuple[int, int], int],
) -> DataFrame:
    """All rows and rejects; without `offsets`, records are not numbered."""
    task = _LineTask(raw.kind, raw.dialect, tuple(columns), dict(headers), dict(offsets), check)
    return lines_of(raw).drop("path").mapInArrow(task, from_arrow_schema(check.arrow_schema()))


def _occurring_names(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        names = parse_json_lines(_decoded(batch.column(0))).column_names
        yield pa.RecordBatch.from_pydict({"name": [name for name in names if name not in (MALFORMED, ORIGINAL)]})


def _decoded(lines: pa.Array) -> list[str]:
    return texts(lines.cast(pa.binary()).to_pylist())


@dataclass(frozen=True, slots=True)
class _LineTask:
    kind: Format
    dialect: Dialect
    columns: tuple[str, ...]
    headers: dict[int, tuple[str, ...]]
    offsets: dict[tuple[int, int], int]
    check: RowCheck

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Check lines; those of one block arrive together and in order, but a batch may end within a block."""
        current: tuple[int, int] | None = None
        n_seen = 0
        for batch in batches:
            for block, lines in _by_block(batch):
                if block != current:
                    current, n_seen = block, 0
                raw = self._rows(block, lines, is_start=n_seen == 0)
                n_before = self.offsets.get(block, 0) + n_seen + len(lines) - len(raw)
                yield from self.check.checked(raw, n_before + np.arange(1, len(raw) + 1))
                n_seen += len(lines)

    def _rows(self, block: tuple[int, int], lines: pa.Array, *, is_start: bool) -> pa.Table:
        file, start = block
        if self.kind is Format.JSON_LINES:
            return parse_json_lines(_decoded(lines), self.columns)
        is_header = start == 0 and is_start and self.dialect.has_header
        rows = parse_lines(lines.slice(is_header), self.headers[file], self.dialect.separator)
        return with_columns(rows, self.columns)


def _by_block(batch: pa.RecordBatch) -> Iterator[tuple[tuple[int, int], pa.Array]]:
    files, blocks = batch.column(FILE).to_numpy(), batch.column(BLOCK).to_numpy()
    cuts = 1 + np.flatnonzero((files[1:] != files[:-1]) | (blocks[1:] != blocks[:-1]))
    for start, end in zip([0, *cuts], [*cuts, len(files)], strict=True):
        if end > start:
            yield (int(files[start]), int(blocks[start])), batch.column(LINE).slice(start, end - start)
