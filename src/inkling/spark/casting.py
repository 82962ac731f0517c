"""Typed columns read as declared by Catalyst alone; whatever needs more care is left to `io.casting`."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

from inkling.model.time import Clock
from inkling.model.types import Type
from inkling.spark.functions import finite

_DAY_US = 86_400_000_000


@dataclass(frozen=True, slots=True)
class Cast:
    """A value of the wanted type, null where there was none; `bad` where it cannot be read so."""

    value: Column
    bad: Column


def plain_cast(column: Column, have: T.DataType, kind: Type, clock: Clock, *, in_utc: bool) -> Cast | None:
    """The column as a type of the language, or None when Spark and `io.casting` may differ on it.

    `in_utc` says whether the session's time zone is UTC, in which case times without a zone need no detour.
    """
    match have:
        case T.ByteType() | T.ShortType() | T.IntegerType() | T.LongType():
            return _from_whole(column, kind)
        case T.FloatType() | T.DoubleType():
            return _from_double(column.cast("double"), kind)
        case T.BooleanType() if kind in (Type.INTEGER, Type.DOUBLE):
            return _sure(column.cast("int").cast("bigint" if kind is Type.INTEGER else "double"))
        case T.BooleanType() if kind in (Type.BOOLEAN, Type.STRING):
            return _sure(column.cast(kind.value))
        case T.StringType() if kind is Type.STRING:
            return _sure(column.cast("string"))
        case T.TimestampType() if kind is Type.TIME and clock is Clock.TIMESTAMP:
            return _sure(F.unix_micros(column))
        case T.TimestampNTZType() if kind is Type.TIME and clock is Clock.TIMESTAMP:
            instant = column if in_utc else F.concat(column.cast("string"), F.lit("Z"))
            return _sure(F.unix_micros(instant.cast("timestamp")))
        case T.DateType() if kind is Type.TIME and clock is Clock.TIMESTAMP:
            return _sure(F.unix_date(column).cast("bigint") * F.lit(_DAY_US))
        case T.ArrayType(elementType=T.DoubleType()) if kind is Type.WEIGHTS:
            return _sure(column)
    return None


def _sure(value: Column) -> Cast:
    return Cast(value, F.lit(False))


def _from_whole(column: Column, kind: Type) -> Cast:
    match kind:
        case Type.BOOLEAN:
            truth = F.when(column == 1, F.lit(True)).when(column == 0, F.lit(False))
            return Cast(truth, column.isNotNull() & truth.isNull())
        case Type.DOUBLE | Type.STRING:
            return _sure(column.cast(kind.value))
        case _:
            return _sure(column.cast("bigint"))


def _from_double(column: Column, kind: Type) -> Cast | None:
    if kind is Type.DOUBLE:
        return _sure(finite(column))
    if kind in (Type.STRING, Type.BOOLEAN):
        return None
    is_whole = F.coalesce((column % F.lit(1.0) == 0.0) & (F.abs(column) < 2.0**63), F.lit(False))
    is_missing = column.isNull() | F.isnan(column)
    return Cast(F.when(is_whole, column.cast("bigint")), ~is_missing & ~is_whole)
