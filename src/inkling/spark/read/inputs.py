"""The inputs that Spark can read: DataFrames, tables by name, files, and rows in memory."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import pyarrow as pa
from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, SparkSession

from inkling.errors import InputError
from inkling.foreign_errors import unreadable_file
from inkling.io import Data, read_table
from inkling.io.readers.compression import SPLIT_BY_SPARK, compression_of
from inkling.io.readers.csv_text import COMMAS, Dialect
from inkling.io.readers.files import dialect_of
from inkling.io.readers.formats import Format
from inkling.io.readers.options import options_apart
from inkling.io.readers.places import files_at
from inkling.io.readers.rdf import RDF_FORMATS
from inkling.io.readers.storage import is_stored
from inkling.io.tables import read_tables
from inkling.physical.plan import Runnable

WHOLE_FILE_BYTES = 32 << 20
"""Text files up to this size are read whole, each by one worker; larger ones are cut into blocks of lines."""


@dataclass(frozen=True, slots=True)
class RowsInMemory:
    """Rows in the memory of this process."""

    spark: SparkSession
    table: pa.Table


@dataclass(frozen=True, slots=True)
class WholeFiles:
    """Files that are read whole, each by one worker."""

    spark: SparkSession
    kind: Format
    files: tuple[Path, ...]
    what: str


@dataclass(frozen=True, slots=True)
class LinesOfFiles:
    """Text files that Spark splits into lines; `addresses` are their paths with the options of the input."""

    spark: SparkSession
    kind: Format
    files: tuple[Path, ...]
    what: str
    addresses: tuple[Path, ...]
    dialect: Dialect = COMMAS


Raw: TypeAlias = DataFrame | RowsInMemory | WholeFiles | LinesOfFiles
"""Unchecked rows; only a DataFrame has typed columns."""


def read_frame(
    spark: SparkSession, data: Data, *, what: str, columns: Sequence[str], whole_file_bytes: int = WHOLE_FILE_BYTES
) -> Raw:
    """The rows of a stream, not read yet; `what` names the stream in messages, `columns` are those to read."""
    if isinstance(data, DataFrame):
        return data
    if not isinstance(data, str | Path):
        return RowsInMemory(spark, read_table(data, what=what, columns=columns))
    is_elsewhere = is_stored(Path(data))
    if isinstance(data, str) and not is_elsewhere and not Path(data).exists() and is_table(spark, data):
        return spark.table(data)
    kind, files = files_at(Path(data) if is_elsewhere else Path(data).absolute(), what=what)
    if is_elsewhere:
        return WholeFiles(spark, kind, files, what)
    apart = [options_apart(file) for file in files]
    plain = tuple(file for file, _ in apart)
    if kind is Format.PARQUET:
        return _read_parquet(spark, plain, what)
    if kind in RDF_FORMATS or not plain:
        return WholeFiles(spark, kind, files, what)
    dialect = dialect_of(files[0])
    are_lines = all(
        options.encoding is None and compression_of(file) in SPLIT_BY_SPARK and dialect_of(one) == dialect
        for one, (file, options) in zip(files, apart, strict=True)
    )
    if not are_lines or dialect.separator.isspace() or all(file.stat().st_size <= whole_file_bytes for file in plain):
        return WholeFiles(spark, kind, files, what)
    return LinesOfFiles(spark, kind, plain, what, files, dialect)


def is_table(spark: SparkSession, name: str) -> bool:
    """Whether Spark's catalog has a table or view of that name."""
    try:
        return spark.catalog.tableExists(name)
    except AnalysisException:  # not a name of a table, such as a path
        return False


def _read_parquet(spark: SparkSession, files: tuple[Path, ...], what: str) -> Raw:
    try:
        return spark.read.parquet(*map(str, files))
    except AnalysisException:
        # Spark lacks types that Arrow has, such as nanoseconds and times of day
        return WholeFiles(spark, Format.PARQUET, files, what)
    except (PySparkException, Py4JJavaError) as problem:
        found = unreadable_file(str(problem))
        if found is None:
            raise
        raise InputError(found) from None


def read_facts(spark: SparkSession, program: Runnable, given: Mapping[str, Data]) -> dict[str, pa.Table]:
    """The facts of every declared table, from `given` or from its path: a file, or else a table of that name."""
    named = {schema.name: schema.path for schema in program.plan.tables if schema.name not in given}
    from_catalog = {
        name: spark.table(path)
        for name, path in {**named, **given}.items()
        if isinstance(path, str) and not _is_file(program, name, path) and is_table(spark, path)
    }
    return read_tables(program.plan.tables, {**given, **from_catalog}, program.files)


def _is_file(program: Runnable, name: str, path: str) -> bool:
    """Whether the table is a file; a program that is confined to a root must not read the catalog."""
    return program.files.root is not None or (program.files.folder / path).exists()
