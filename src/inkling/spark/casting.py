"""Columns of a DataFrame read as the types that a declaration gives them, as `io.casting` reads Arrow columns."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from inkling.io.casting import DOUBLE_TEXT, FALSE_TEXT, INTEGER_TEXT, NOT_A_NUMBER, TIME_TEXT, TRUE_TEXT
from inkling.model.time import Clock
from inkling.model.types import Type
from inkling.spark.stage_frame import named


@dataclass(frozen=True, slots=True)
class Cast:
    """A value of the wanted type, null where there was none; `bad` where it cannot be read so."""

    value: Column
    bad: Column


def cast_column(frame: DataFrame, name: str, kind: Type, clock: Clock) -> Cast:
    """Read a column as a type of the language; TIME is read as the clock's numbers."""
    column, have = named(name), frame.schema[name].dataType
    match kind:
        case Type.STRING:
            return Cast(column.cast("string"), F.lit(False))
        case Type.DOUBLE:
            return _as_double(column, have)
        case Type.BOOLEAN:
            value = _as_boolean(column, have)
        case Type.TIME if clock is Clock.TIMESTAMP:
            value = _as_microseconds(column, have)
        case _:
            value = _as_integer(column, have)
    certain = isinstance(have, T.IntegralType) and kind is not Type.BOOLEAN
    return Cast(value, F.lit(False) if certain else column.isNotNull() & value.isNull())


def clock_of(frame: DataFrame, name: str) -> Clock:
    """What the numbers of a time column count: text is judged by its first value."""
    kind = frame.schema[name].dataType
    if isinstance(kind, T.NumericType):
        return Clock.TICKS
    if isinstance(kind, T.StringType):
        first = frame.where(named(name).isNotNull()).select(named(name).rlike(INTEGER_TEXT).alias("whole")).first()
        return Clock.TICKS if first is not None and first["whole"] else Clock.TIMESTAMP
    return Clock.TIMESTAMP


def _as_integer(column: Column, have: T.DataType) -> Column:
    if isinstance(have, T.IntegralType | T.BooleanType):
        return column.cast("bigint")
    if isinstance(have, T.FractionalType):
        whole = column == F.floor(column)
        return F.when(whole & (F.abs(column) < float(2**63)), column.cast("bigint"))
    if not isinstance(have, T.StringType):
        return F.lit(None).cast("bigint")
    digits = F.regexp_replace(F.trim(column), r"\.0*$", "")
    return F.when(column.rlike(INTEGER_TEXT), digits.try_cast("bigint"))


def _as_boolean(column: Column, have: T.DataType) -> Column:
    if isinstance(have, T.BooleanType):
        return column
    text = F.lower(F.trim(column.cast("string")))
    return F.when(text.isin(*TRUE_TEXT), F.lit(True)).when(text.isin(*FALSE_TEXT), F.lit(False))


def _as_double(column: Column, have: T.DataType) -> Cast:
    if not isinstance(have, T.StringType):
        return Cast(_finite(column.cast("double")), F.lit(False))
    text = F.trim(column)
    value = _finite(F.when(text.rlike(DOUBLE_TEXT), text.try_cast("double")))
    nothing = column.isNull() | F.lower(text).isin(*NOT_A_NUMBER)
    return Cast(value, ~nothing & value.isNull())


def _finite(number: Column) -> Column:
    return F.when(~F.isnan(number) & (F.abs(number) < float("inf")), number)


def _as_microseconds(column: Column, have: T.DataType) -> Column:
    if isinstance(have, T.StringType):
        return F.when(column.rlike(TIME_TEXT), F.unix_micros(F.trim(column).try_cast("timestamp")))
    if isinstance(have, T.TimestampType | T.TimestampNTZType | T.DateType):
        return F.unix_micros(column.cast("timestamp"))
    return F.lit(None).cast("bigint")
