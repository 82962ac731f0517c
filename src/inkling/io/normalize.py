"""Raw rows of a stream as typed rows, split from those that break its declaration."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.errors import InputError, nearest
from inkling.io.casting import Cast, cast_column, clock_of
from inkling.io.rejects import REJECTS_SCHEMA, Complaint, Reason, rejected_rows
from inkling.model.schema import StreamSchema
from inkling.model.time import Clock
from inkling.model.types import Type

START, END, PLACE, ID = "@start", "@end", "@place", "@id"
"""Columns that say when a row's event happened, where it stands among simultaneous ones, and how it is called."""


@dataclass(frozen=True, slots=True)
class Normalized:
    """Rows with the declared columns and the `@` columns, what was set aside, and what the times count."""

    rows: pa.Table
    rejects: pa.Table
    clock: Clock
    n_read: int


def normalize(raw: pa.Table, schema: StreamSchema, derived: Iterable[str] = ()) -> Normalized:
    """Check and type the rows of a stream; `derived` columns are computed later and not expected."""
    computed = set(derived)
    wanted = [column for column in schema.columns if column.name not in computed]
    require_columns(schema, [column.name for column in wanted], raw.column_names)
    clock = Clock.TICKS if schema.time_type is Type.INTEGER else clock_of(raw[schema.end])
    casts = {column.name: cast_column(raw[column.name], column.type, clock) for column in wanted}
    start, end = (cast_column(raw[name], Type.TIME, clock) for name in (schema.start, schema.end))
    complaints = _complaints(schema, casts, start, end)
    bad = np.zeros(len(raw), bool)
    for complaint in complaints:
        bad |= complaint.mask
    columns = {name: cast.values for name, cast in casts.items()}
    columns[START], columns[END] = start.values, end.values
    columns[PLACE] = _places(schema, casts)
    columns[ID] = pa.array(np.arange(1, len(raw) + 1)) if schema.id is None else casts[schema.id].values
    rows = pa.table(columns).filter(pa.array(~bad))
    rejects = rejected_rows(schema.name, raw, schema.id, complaints) if bad.any() else REJECTS_SCHEMA.empty_table()
    return Normalized(rows, rejects, clock, len(raw))


def require_columns(schema: StreamSchema, needed: list[str], present: list[str]) -> None:
    """Refuse an input that lacks a column."""
    roles = [schema.start, schema.end, *schema.key]
    for name in dict.fromkeys([*needed, *roles]):
        if name in present:
            continue
        close = nearest(name, present, n=3)
        raise InputError.of(
            "INK0504",
            f"the input for `{schema.name}` has no column `{name}`",
            notes=(f"its columns are {', '.join(present) or 'none'}",),
            helps=(f"rename a column, or declare `{close[0]}` instead",) if close else (),
        )


def _complaints(schema: StreamSchema, casts: dict[str, Cast], start: Cast, end: Cast) -> list[Complaint]:
    found = []
    for name, cast in ((schema.start, start), (schema.end, end)):
        found.append(Complaint(Reason.BAD_TIME, name, cast.bad))
        found.append(Complaint(Reason.NULL_TIME, name, _null(cast)))
    backward = pc.fill_null(pc.greater(start.values, end.values), False).to_numpy(zero_copy_only=False)
    found.append(Complaint(Reason.ENDS_BEFORE_START, schema.start, backward))
    found += [Complaint(Reason.BAD_VALUE, name, cast.bad) for name, cast in casts.items()]
    found += [Complaint(Reason.NULL_KEY, name, _null(casts[name])) for name in schema.key]
    if schema.id is not None:
        found.append(Complaint(Reason.NULL_ID, schema.id, _null(casts[schema.id])))
    if schema.order_by is not None:
        found.append(Complaint(Reason.NULL_ORDER, schema.order_by, _null(casts[schema.order_by])))
    return found


def _null(cast: Cast) -> np.ndarray:
    return np.asarray(pc.is_null(cast.values).to_numpy(zero_copy_only=False))


def _places(schema: StreamSchema, casts: dict[str, Cast]) -> pa.Array:
    """The value of ORDER BY; text is kept and ranked where all simultaneous events are known."""
    if schema.order_by is None:
        n = len(next(iter(casts.values())).values) if casts else 0
        return pa.nulls(n, pa.int64())
    return casts[schema.order_by].values
