"""Background tables as Spark knows them: files, rows in memory, frames, and tables of its catalog by name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
from pyspark.sql import SparkSession

from inkling.io import Data
from inkling.io.tables import read_tables
from inkling.physical.runnable import Runnable
from inkling.spark.read import is_table


def read_facts(spark: SparkSession, program: Runnable, given: Mapping[str, Data]) -> dict[str, pa.Table]:
    """Every declared table: what is given for it, else what it names; a file comes before a table of that name."""
    named = {schema.name: schema.path for schema in program.plan.tables if schema.name not in given}
    from_catalog = {
        name: spark.table(path)
        for name, path in {**named, **given}.items()
        if isinstance(path, str) and not (program.folder / Path(path)).exists() and is_table(spark, path)
    }
    return read_tables(program.plan.tables, {**given, **from_catalog}, program.folder)
