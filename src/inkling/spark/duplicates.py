"""Rows that repeat the id, key and time of another row of their stream, found by Spark."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from inkling.io.normalize import END, ID, START
from inkling.io.rejects import Reason
from inkling.model.schema import StreamSchema
from inkling.spark.stage_frame import named

_AGAIN = "@again"


def repeated_rows(schema: StreamSchema, rows: DataFrame) -> DataFrame:
    """Rejects for all but the least of the rows with one id at one time; a pass of its own, when asked for."""
    stored = _stored(rows)
    identity = named(ID).cast("string")
    return (
        _numbered(schema, rows)
        .where(named(_AGAIN) > 1)
        .select(
            F.lit(schema.name).alias("stream"),
            F.lit(Reason.DUPLICATE_ID.value).alias("reason"),
            F.concat(F.lit(f"`{schema.id}` is "), identity, F.lit(" once more at the same time")).alias("detail"),
            F.to_json(F.struct(*(named(name) for name in stored)), {"ignoreNullFields": "false"}).alias("row"),
            identity.alias("id"),
        )
    )


def first_rows(schema: StreamSchema, rows: DataFrame) -> DataFrame:
    """The least of the rows with one id at one time."""
    return rows if schema.id is None else _numbered(schema, rows).where(named(_AGAIN) == 1).drop(_AGAIN)


def _numbered(schema: StreamSchema, rows: DataFrame) -> DataFrame:
    same = Window.partitionBy(*(named(name) for name in dict.fromkeys([*schema.key, START, END, ID])))
    return rows.withColumn(_AGAIN, F.row_number().over(same.orderBy(*(named(name) for name in _stored(rows)))))


def _stored(rows: DataFrame) -> list[str]:
    return [name for name in rows.columns if not name.startswith("@")]
