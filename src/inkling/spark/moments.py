"""When the events of rows happened, or may have, in the words of Catalyst; `io.moments` says the same of arrays."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column
from pyspark.sql import functions as F

from inkling.io.moments import largest_error
from inkling.model.schema import StreamSchema
from inkling.model.time import FARTHEST, Span
from inkling.model.uncertainty import ClockErrors, ErrorColumn, ImpreciseTime


def moments(values: Mapping[str, Column], schema: StreamSchema) -> tuple[Column, Column]:
    """From when to when events happened, or the first and the last moment at which they may have.

    What rests on a null, or leaves 64 bits, is null.
    """
    starts, ends = values[schema.start], values[schema.end]
    if isinstance(schema.doubt, ImpreciseTime) and schema.doubt.error is not None:
        error = _error(values, schema, schema.doubt.error)
        starts, ends = F.try_subtract(starts, error), F.try_add(ends, error)
    return (starts, ends) if schema.grid is None else (_rounded(starts, schema.grid), _rounded(ends, schema.grid))


def on_grid(values: Mapping[str, Column], schema: StreamSchema) -> dict[str, Column]:
    """Columns of a stream in which times are whole ticks."""
    if schema.grid is None:
        return dict(values)
    return {**values, **{name: _rounded(values[name], schema.grid) for name in (schema.start, schema.end)}}


def fits(values: Mapping[str, Column], schema: StreamSchema) -> list[Column]:
    """What makes moments of a row good, none of which is null."""
    if not isinstance(schema.doubt, ImpreciseTime) or schema.doubt.error is None:
        return []
    conditions = []
    if isinstance(schema.doubt.error, ErrorColumn):
        conditions.append(values[schema.doubt.error.name].between(0, largest_error(schema)))
    conditions += [moment.between(-FARTHEST, FARTHEST) for moment in moments(values, schema)]
    return [F.coalesce(condition, F.lit(False)) for condition in conditions]


def _error(values: Mapping[str, Column], schema: StreamSchema, error: Span | ErrorColumn | ClockErrors) -> Column:
    match error:
        case Span():
            return F.lit(schema.units(error)).cast("bigint")
        case ErrorColumn(name=name):
            return F.try_multiply(values[name], F.lit(schema.grid or 1).cast("bigint"))
        case ClockErrors(column=column, usual=usual, others=others):
            clock = values[column]
            found = F.when(clock.isNull(), F.lit(None).cast("bigint"))
            for name, span in others:
                found = found.when(clock == F.lit(name), F.lit(schema.units(span)).cast("bigint"))
            return found.otherwise(F.lit(schema.units(usual)).cast("bigint"))


def _rounded(time: Column, grid: int) -> Column:
    """Down to whole ticks."""
    return F.try_subtract(time, F.pmod(time, F.lit(grid).cast("bigint")))
