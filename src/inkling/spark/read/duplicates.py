"""Rows that repeat or withdraw another row of their stream, found by Spark; the order of rows does not matter."""

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


def first_rows(schema: StreamSchema, rows: DataFrame) -> DataFrame:
    """The least of the rows with one id at one time."""
    return rows if schema.id is None else _at_one_time(schema, rows).where(named(_AGAIN) == 1).drop(_AGAIN)


def repeated_rows(schema: StreamSchema, rows: DataFrame) -> DataFrame:
    """Rejects for all but the least of the rows with one id at one time; a separate pass that runs only if read."""
    again = _at_one_time(schema, rows).where(named(_AGAIN) > 1)
    return _repeated(schema, again, named(ID).cast("string"), ", a duplicate at the same time")


def corrected_rows(schema: StreamSchema, rows: DataFrame, withdrawals: DataFrame) -> DataFrame:
    """Rows that are not withdrawn, one for each id."""
    if ids_are_distinct(schema):
        rows = _of_one_id(rows).where(named(_AGAIN) == 1).drop(_AGAIN)
    return rows.join(withdrawals.select(named(ID)), ID, "left_anti").select(*map(named, rows.columns))


def rejected_corrections(schema: StreamSchema, rows: DataFrame, withdrawals: DataFrame) -> Iterator[DataFrame]:
    """Rejects for rows that repeat an id, and for withdrawals of unknown or withdrawn rows; separate passes."""
    if ids_are_distinct(schema):
        identity, is_text = named(ID).cast("string"), isinstance(rows.schema[ID].dataType, StringType)
        shown = F.concat(F.lit("'"), identity, F.lit("'")) if is_text else identity
        yield _repeated(schema, _of_one_id(rows).where(named(_AGAIN) > 1), shown, ", a duplicate")
    withdrawal = F.struct(named(ID).alias(schema.id or ID), F.lit(WITHDRAWAL).alias(schema.op or "op"))
    counted = withdrawals.groupBy(named(ID)).agg(F.count("*").alias(_TIMES))
    unknown = counted.join(rows.select(named(ID)), ID, "left_anti")
    again = counted.withColumn(_AGAIN, F.explode(F.sequence(F.lit(1), named(_TIMES)))).where(named(_AGAIN) > 1)
    for reason, found in ((Reason.NOTHING_TO_WITHDRAW, unknown), (Reason.WITHDRAWN_TWICE, again)):
        yield _rejects(schema, found, reason, F.lit(DETAILS[reason]), F.to_json(withdrawal))


def _repeated(schema: StreamSchema, found: DataFrame, shown: Column, again: str) -> DataFrame:
    detail = F.concat(F.lit(f"`{schema.id}` is "), shown, F.lit(again))
    row = F.to_json(F.struct(*map(named, _stored(found))), {"ignoreNullFields": "false"})
    return _rejects(schema, found, Reason.DUPLICATE_ID, detail, row)


def _rejects(schema: StreamSchema, found: DataFrame, reason: Reason, detail: Column, row: Column) -> DataFrame:
    return found.select(
        F.lit(schema.name).alias("stream"),
        F.lit(reason.value).alias("reason"),
        detail.alias("detail"),
        row.alias("row"),
        named(ID).cast("string").alias("id"),
    )


def _at_one_time(schema: StreamSchema, rows: DataFrame) -> DataFrame:
    """Rows with their place among those of one id, key and time, the least first."""
    same = Window.partitionBy(*(named(name) for name in dict.fromkeys([*schema.key, START, END, ID])))
    return rows.withColumn(_AGAIN, F.row_number().over(same.orderBy(*(named(name) for name in _stored(rows)))))


def _of_one_id(rows: DataFrame) -> DataFrame:
    """Rows with their place among those of one id, the least first, nulls last."""
    order = dict.fromkeys([START, END, *_stored(rows)])
    same = Window.partitionBy(named(ID)).orderBy(*(named(name).asc_nulls_last() for name in order))
    return rows.withColumn(_AGAIN, F.row_number().over(same))


def _stored(rows: DataFrame) -> list[str]:
    return [name for name in rows.columns if not name.startswith("@")]
