"""The times of events: columns rounded to the grid of the stream, widened by the error of the time if there is one."""

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from inkling.model.schema import StreamSchema
from inkling.model.time import FARTHEST, Duration
from inkling.model.uncertainty import ClockErrors, ErrorColumn, ImpreciseTime


def error_columns(schema: StreamSchema) -> tuple[str, ...]:
    """Columns that determine the error of the time of a row."""
    match schema.uncertainty:
        case ImpreciseTime(error=ErrorColumn(name=name)) | ImpreciseTime(error=ClockErrors(column=name)):
            return (name,)
        case _:
            return ()


def largest_error(schema: StreamSchema) -> int:
    """The largest valid value of an error column."""
    return FARTHEST // (schema.grid or 1)


def moments(columns: Mapping[str, pa.Array], schema: StreamSchema) -> tuple[pa.Array, pa.Array]:
    """The starts and ends of events, or the first and last possible moments of imprecise ones.

    A null operand makes the result null.
    """
    starts, ends = columns[schema.start], columns[schema.end]
    if isinstance(schema.uncertainty, ImpreciseTime) and schema.uncertainty.error is not None:
        error = _errors(columns, schema, schema.uncertainty.error)
        starts, ends = pc.subtract(starts, error), pc.add(ends, error)
    return (starts, ends) if schema.grid is None else (_rounded(starts, schema.grid), _rounded(ends, schema.grid))


def on_grid(columns: Mapping[str, pa.Array], schema: StreamSchema) -> dict[str, pa.Array]:
    """The columns with times rounded down to whole ticks."""
    if schema.grid is None:
        return dict(columns)
    return {**columns, **{name: _rounded(columns[name], schema.grid) for name in {schema.start, schema.end}}}


def outside_limits(columns: Mapping[str, pa.Array], schema: StreamSchema) -> dict[str, NDArray[np.bool_]]:
    """Masks of the rows with an invalid error, by the text of what was expected."""
    if not isinstance(schema.uncertainty, ImpreciseTime) or not isinstance(schema.uncertainty.error, ErrorColumn):
        return {}
    errors = pc.fill_null(columns[schema.uncertainty.error.name], 0).to_numpy(zero_copy_only=False)
    most = largest_error(schema)
    return {"0 or more": errors < 0, f"at most {most}": errors > most}


def _errors(
    columns: Mapping[str, pa.Array], schema: StreamSchema, error: Duration | ErrorColumn | ClockErrors
) -> pa.Array | pa.Scalar:
    match error:
        case Duration():
            return pa.scalar(schema.units(error), pa.int64())
        case ErrorColumn(name=name):
            return pc.multiply(columns[name], pa.scalar(schema.grid or 1, pa.int64()))
        case ClockErrors(column=column, usual=usual, others=others):
            clocks = columns[column]
            known = pc.index_in(clocks, pa.array([name for name, _ in others], pa.string()))
            lengths = pa.array([schema.units(span) for _, span in others], pa.int64())
            found = pc.fill_null(lengths.take(known), schema.units(usual))
            return pc.if_else(pc.is_valid(clocks), found, pa.scalar(None, pa.int64()))


def _rounded(times: pa.Array, grid: int) -> pa.Array:
    """Times rounded down to whole ticks."""
    numbers = pc.fill_null(times, 0).to_numpy(zero_copy_only=False)
    return pa.array(numbers - numbers % grid, mask=pc.is_null(times).to_numpy(zero_copy_only=False))
