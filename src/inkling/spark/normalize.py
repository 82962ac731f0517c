"""Raw rows of a stream as typed rows, split from those that break its declaration, without leaving Spark."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from inkling.io.normalize import END, ID, PLACE, START, require_columns
from inkling.io.rejects import Reason
from inkling.model.schema import StreamSchema
from inkling.model.time import Clock
from inkling.model.types import Type
from inkling.spark.casting import Cast, cast_column, clock_of
from inkling.spark.row_numbers import with_row_numbers
from inkling.spark.stage_frame import named

ROW_NUMBER = "@row"


@dataclass(frozen=True, slots=True)
class NormalizedFrame:
    """Rows with the declared columns and the `@` columns, what was set aside, and what the times count."""

    rows: DataFrame
    rejects: DataFrame
    raw: DataFrame
    clock: Clock


def normalize_frame(raw: DataFrame, schema: StreamSchema, derived: Iterable[str] = ()) -> NormalizedFrame:
    """Check and type the rows of a stream; `derived` columns are computed later and not expected."""
    computed = set(derived)
    wanted = [column for column in schema.columns if column.name not in computed]
    require_columns(schema, [column.name for column in wanted], raw.columns)
    clock = Clock.TICKS if schema.time_type is Type.INTEGER else clock_of(raw, schema.end)
    numbered = with_row_numbers(raw, ROW_NUMBER) if schema.id is None else raw
    casts = {column.name: cast_column(raw, column.name, column.type, clock) for column in wanted}
    start, end = (cast_column(raw, name, Type.TIME, clock) for name in (schema.start, schema.end))
    faults = _faults(schema, casts, start, end)
    good = reduce(lambda one, other: one & other, (~fault for _, _, fault in faults))
    columns = [cast.value.alias(name) for name, cast in casts.items()]
    columns += [start.value.alias(START), end.value.alias(END)]
    place = F.lit(None).cast("bigint") if schema.order_by is None else casts[schema.order_by].value
    identity = named(ROW_NUMBER) if schema.id is None else casts[schema.id].value
    columns += [place.alias(PLACE), identity.alias(ID)]
    return NormalizedFrame(
        numbered.where(good).select(*columns), _rejects(schema, numbered, raw.columns, faults), raw, clock
    )


def _faults(
    schema: StreamSchema, casts: dict[str, Cast], start: Cast, end: Cast
) -> list[tuple[Reason, str, Column]]:
    """What can be wrong with a row, in the order in which it is said."""
    found: list[tuple[Reason, str, Column]] = []
    for name, cast in {schema.start: start, schema.end: end}.items():
        found.append((Reason.BAD_TIME, name, cast.bad))
        found.append((Reason.NULL_TIME, name, cast.value.isNull()))
    if schema.is_interval:
        backward = F.coalesce(start.value > end.value, F.lit(False))
        found.append((Reason.ENDS_BEFORE_START, schema.start, backward))
    found += [(Reason.BAD_VALUE, name, cast.bad) for name, cast in casts.items()]
    found += [(Reason.NULL_KEY, name, casts[name].value.isNull()) for name in schema.key]
    if schema.id is not None:
        found.append((Reason.NULL_ID, schema.id, casts[schema.id].value.isNull()))
    if schema.order_by is not None:
        found.append((Reason.NULL_ORDER, schema.order_by, casts[schema.order_by].value.isNull()))
    return found


def _rejects(
    schema: StreamSchema, frame: DataFrame, columns: list[str], faults: list[tuple[Reason, str, Column]]
) -> DataFrame:
    reason, detail = F.lit(None).cast("string"), F.lit(None).cast("string")
    bad = F.lit(False)
    for why, name, fault in reversed(faults):
        shown = F.coalesce(named(name).cast("string"), F.lit("null"))
        reason = F.when(fault, F.lit(why.value)).otherwise(reason)
        detail = F.when(fault, F.concat(F.lit(f"`{name}` is "), shown)).otherwise(detail)
        bad = bad | fault
    identity = named(ROW_NUMBER) if schema.id is None else named(schema.id)
    row = F.to_json(F.struct(*(named(name) for name in columns)), {"ignoreNullFields": "false"})
    return frame.where(bad).select(
        F.lit(schema.name).alias("stream"),
        reason.alias("reason"),
        detail.alias("detail"),
        row.alias("row"),
        identity.cast("string").alias("id"),
    )
