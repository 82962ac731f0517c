"""The identity of results: rows with equal values, times and lineage are one result, whatever their probability."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, DoubleType, FloatType, StructField, TimestampType

from inkling.spark.stage_frame import named

RESULT_ID = "result_id"
CHANGEABLE = ("probability", "method", "error", "op")
"""The columns that a correction may change; all others identify the result."""

HEX_DIGITS = 32


def result_id(frame: DataFrame) -> Column:
    """A 128-bit hash in hexadecimal digits, the same on all machines."""
    parts = [_portable(named(one.name), one.dataType).alias(one.name) for one in _identity(frame)]
    text = F.to_json(F.struct(*parts), {"ignoreNullFields": "false"})
    return F.substring(F.sha2(text, 256), 1, HEX_DIGITS)


def with_result_id(frame: DataFrame) -> DataFrame:
    """The rows with `result_id` as the last column."""
    return frame.withColumn(RESULT_ID, result_id(frame))


def net(identified: DataFrame) -> DataFrame:
    """One row per result: where it is both withdrawn and emitted, the emitted row counts."""
    return _first_of_each(identified, [F.desc(F.col("op") == "+"), *map(F.desc, CHANGEABLE[:-1])])


def newest(numbered: DataFrame, number: str) -> DataFrame:
    """One row per result: the one with the largest number."""
    return _first_of_each(numbered, [F.desc(number)])


def _first_of_each(identified: DataFrame, order: list[Column]) -> DataFrame:
    place = F.row_number().over(Window.partitionBy(RESULT_ID).orderBy(*order))
    return identified.withColumn("@place", place).where("`@place` = 1").drop("@place")


def _identity(frame: DataFrame) -> list[StructField]:
    return [one for one in frame.schema if one.name not in (*CHANGEABLE, RESULT_ID)]


def _portable(value: Column, kind: DataType) -> Column:
    """A value that depends neither on the time zone of a session nor on how a Java version prints doubles."""
    match kind:
        case TimestampType():
            return F.unix_micros(value)
        case DoubleType() | FloatType():
            return F.when(value.isNotNull(), F.xxhash64(value))
        case ArrayType():
            return F.transform(value, lambda one: _portable(one, kind.elementType))
        case _:
            return value
