"""Files that workers read whole with the local reader, one file at a time."""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import accumulate
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import from_arrow_schema

from inkling.io.readers.files import read_one
from inkling.io.readers.formats import Format
from inkling.spark.read.checked_rows import RowCheck
from inkling.spark.read.inputs import WholeFiles

FILE, BEFORE = "file", "before"
_COUNTED = pa.schema([(FILE, pa.string()), ("n", pa.int64())])


def counts_of(raw: WholeFiles) -> DataFrame:
    """The number of records of each file."""
    task = partial(_counted, raw.kind, raw.what)
    return _by_file(raw, [0] * len(raw.files)).mapInArrow(task, from_arrow_schema(_COUNTED))


def checked(raw: WholeFiles, check: RowCheck, columns: Sequence[str]) -> DataFrame:
    """All rows and rejects; without an ID, records are numbered through all files, which are counted first."""
    before = [0] * len(raw.files)
    if check.schema.id is None and len(raw.files) > 1:
        counts = {row[FILE]: row["n"] for row in counts_of(raw).collect()}
        before = [0, *accumulate(counts[str(file)] for file in raw.files)][:-1]
    task = partial(_read, raw.kind, raw.what, tuple(columns), check)
    return _by_file(raw, before).mapInArrow(task, from_arrow_schema(check.arrow_schema()))


def _by_file(raw: WholeFiles, before: Sequence[int]) -> DataFrame:
    names = pa.table({FILE: [str(file) for file in raw.files], BEFORE: pa.array(before, pa.int64())})
    cores = raw.spark.sparkContext.defaultParallelism
    return raw.spark.createDataFrame(names).repartition(min(len(raw.files), 4 * cores))


def _read(
    kind: Format, what: str, columns: tuple[str, ...], check: RowCheck, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for row in batch.to_pylist():
            raw = with_columns(read_one(kind, Path(row[FILE]), what=what, columns=columns), columns)
            yield from check.checked(raw, row[BEFORE] + np.arange(1, len(raw) + 1))


def _counted(kind: Format, what: str, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for row in batch.to_pylist():
            n_records = len(read_one(kind, Path(row[FILE]), what=what))
            yield pa.RecordBatch.from_pylist([{FILE: row[FILE], "n": n_records}], schema=_COUNTED)


def with_columns(raw: pa.Table, columns: Sequence[str]) -> pa.Table:
    """The records, with nulls in columns that only other files have."""
    for name in columns:
        if name not in raw.column_names:
            raw = raw.append_column(name, pa.nulls(len(raw), pa.string()))
    return raw
