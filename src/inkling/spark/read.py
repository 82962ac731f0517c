"""Anything that holds rows, as a DataFrame: files by suffix, tables by name, frames of other libraries."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from inkling.errors import InputError
from inkling.io import Data, read_table
from inkling.io.files import CSV, JSON_LINES, data_files, format_of


def read_frame(spark: SparkSession, data: Data, *, what: str, columns: list[str]) -> DataFrame:
    """Rows as they are given; text formats give text columns. `columns` are those that JSON lines may lack."""
    if isinstance(data, DataFrame):
        return data
    if isinstance(data, str | Path):
        if isinstance(data, str) and not Path(data).exists() and spark.catalog.tableExists(data):
            return spark.table(data)
        return _read_files(spark, Path(data), what=what, columns=columns)
    return spark.createDataFrame(read_table(data, what=what))


def _read_files(spark: SparkSession, path: Path, *, what: str, columns: list[str]) -> DataFrame:
    kind = format_of(path, what=what)
    files = [str(one.absolute()) for one in data_files(path)]
    if not files:
        raise InputError.of("INK0502", f"the folder `{path}` for `{what}` is empty")
    if kind == CSV:
        options = {"header": "true", "inferSchema": "false", "multiLine": "false", "escape": '"', "nullValue": ""}
        return spark.read.options(**options).csv(files)
    if kind == JSON_LINES:
        schema = ", ".join(f"`{column.replace('`', '``')}` STRING" for column in columns)
        return spark.read.schema(schema).json(files)
    return spark.read.parquet(*files)
