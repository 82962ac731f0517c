"""Events of a frame without those that it takes back, found by Spark; the order of rows does not matter."""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.types import StringType

from inkling.io.corrections import DETAILS, ids_are_distinct
from inkling.io.normalize import END, ID, START
from inkling.io.rejects import Reason
from inkling.io.withdrawals import WITHDRAWAL
from inkling.model.schema import StreamSchema
from inkling.spark.stage_frame import named

_AGAIN, _TIMES = "@again", "@times"


def corrected_rows(schema: StreamSchema, rows: DataFrame, withdrawals: DataFrame) -> DataFrame:
    """Rows whose ids nobody withdrew, one for each id."""
    if ids_are_distinct(schema):
        rows = _numbered(rows).where(named(_AGAIN) == 1).drop(_AGAIN)
    return rows.join(withdrawals.select(named(ID)), ID, "left_anti").select(*map(named, rows.columns))


def refused_corrections(schema: StreamSchema, rows: DataFrame, withdrawals: DataFrame) -> Iterator[DataFrame]:
    """Rejects for rows that repeat an id, and for withdrawals that withdraw nothing; passes of their own."""
    identity = named(ID).cast("string")
    if ids_are_distinct(schema):
        is_text = isinstance(rows.schema[ID].dataType, StringType)
        shown = F.concat(F.lit("'"), identity, F.lit("'")) if is_text else identity
        stored = F.struct(*map(named, _stored(rows)))
        yield _rejects(
            schema,
            _numbered(rows).where(named(_AGAIN) > 1),
            Reason.DUPLICATE_ID,
            F.concat(F.lit(f"`{schema.id}` is "), shown, F.lit(" once more")),
            F.to_json(stored, {"ignoreNullFields": "false"}),
        )
    said = F.struct(named(ID).alias(schema.id or ID), F.lit(WITHDRAWAL).alias(schema.op or "op"))
    counted = withdrawals.groupBy(named(ID)).agg(F.count("*").alias(_TIMES))
    unknown = counted.join(rows.select(named(ID)), ID, "left_anti")
    again = counted.withColumn(_AGAIN, F.explode(F.sequence(F.lit(1), named(_TIMES)))).where(named(_AGAIN) > 1)
    for reason, found in ((Reason.NOTHING_TO_WITHDRAW, unknown), (Reason.WITHDRAWN_TWICE, again)):
        yield _rejects(schema, found, reason, F.lit(DETAILS[reason]), F.to_json(said))


def _rejects(schema: StreamSchema, found: DataFrame, reason: Reason, detail: Column, row: Column) -> DataFrame:
    return found.select(
        F.lit(schema.name).alias("stream"),
        F.lit(reason.value).alias("reason"),
        detail.alias("detail"),
        row.alias("row"),
        named(ID).cast("string").alias("id"),
    )


def _numbered(rows: DataFrame) -> DataFrame:
    """Rows with their place among those of one id, the least first; nothing is more than any value."""
    order = dict.fromkeys([START, END, *_stored(rows)])
    same = Window.partitionBy(named(ID)).orderBy(*(named(name).asc_nulls_last() for name in order))
    return rows.withColumn(_AGAIN, F.row_number().over(same))


def _stored(rows: DataFrame) -> list[str]:
    return [name for name in rows.columns if not name.startswith("@")]
