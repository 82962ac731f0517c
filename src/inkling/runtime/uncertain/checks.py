"""Checks of arriving rows of uncertain streams: of each row, and of all rows of one time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pyarrow as pa

from inkling.evaluators.gaps.arriving import numbered_on
from inkling.evaluators.gaps.rows import roles_of
from inkling.io.checks.acceptable import checked
from inkling.io.checks.numbers import with_numbers
from inkling.io.duplicates import without_duplicates
from inkling.io.normalize import END, START
from inkling.io.rejects import NO_REJECTS, Complaint, Reason, rejected_rows
from inkling.model.batch import FOREVER
from inkling.model.schema import StreamSchema
from inkling.model.time import FARTHEST
from inkling.model.uncertainty import ImpreciseTime, LostEvents, ProbableValue
from inkling.model.watermarks import Watermarks
from inkling.physical.streams import time_of


def watermarks_of(schemas: Mapping[str, StreamSchema], rows: Mapping[str, pa.Table], scale: int) -> Watermarks:
    """The latest time of each stream that a clock of this scale can count, and what rows call numbered events."""
    latest, roles = {}, {}
    for name, schema in schemas.items():
        if name not in rows:
            continue
        some, _ = countable(schema, rows[name], scale)
        if len(some):
            latest[name] = int(some[time_of(schema)].to_numpy().max())
        if isinstance(schema.uncertainty, LostEvents) and schema.uncertainty.role is not None:
            roles[name] = roles_of(some.filter(some[schema.uncertainty.number].is_valid()), schema.uncertainty)
    return Watermarks(latest, roles=roles)


def countable(schema: StreamSchema, rows: pa.Table, scale: int) -> tuple[pa.Table, pa.Table]:
    """Rows whose times a sub-tick clock can count, and rejects for the others."""
    farthest = FARTHEST // scale
    far = np.maximum(np.abs(rows[START].to_numpy()), np.abs(rows[END].to_numpy())) > farthest
    if scale == 1 or not far.any():
        return rows, NO_REJECTS
    plain = rows.select([name for name in rows.column_names if not name.startswith("@")])
    complaint = Complaint(Reason.BAD_TIME, schema.start, far, f"a time within {farthest} of zero")
    return rows.filter(pa.array(~far)), rejected_rows(schema.name, plain, schema.id, [complaint])


def arriving(schema: StreamSchema, rows: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Accepted rows and rejects, by checks of each row."""
    match schema.uncertainty:
        case ImpreciseTime():
            return checked(schema, rows)
        case LostEvents():
            return with_numbers(schema, schema.uncertainty, rows)
        case _:
            return rows, NO_REJECTS


def completed(
    schema: StreamSchema, rows: pa.Table, before: int, now: int, open_since: int
) -> tuple[pa.Table, pa.Table, pa.Table]:
    """Rows without those of the time that is complete now that contradict each other or what was before; rejects.

    Besides, rows of numbered keys that came too late although their own time was open: see `numbered_on`.
    """
    time = rows[time_of(schema)].to_numpy()
    due, late = (time > before) & (time <= now), rows.slice(0, 0)
    is_over = isinstance(schema.uncertainty, LostEvents) and now >= FOREVER > before
    if not due.any() and not is_over:
        return rows, NO_REJECTS, late
    fresh = rows.filter(pa.array(due))
    if isinstance(schema.uncertainty, LostEvents):
        known = rows.filter(pa.array(time <= before))
        fresh, rejects, late = numbered_on(schema, schema.uncertainty, known, fresh, open_since, is_over=now >= FOREVER)
    else:
        fresh, rejects = _good(schema, fresh)
    return pa.concat_tables([rows.filter(pa.array(~due)), fresh]), rejects, late


def _good(schema: StreamSchema, rows: pa.Table) -> tuple[pa.Table, pa.Table]:
    match schema.uncertainty:
        case ProbableValue():
            return checked(_step_by_step(schema, schema.uncertainty), rows)
        case _:
            return without_duplicates(schema, rows)


def _step_by_step(schema: StreamSchema, uncertainty: ProbableValue) -> StreamSchema:
    """A chain whose past is not at hand: rows after one value are alternatives of each other."""
    return replace(schema, key=(*schema.key, *uncertainty.given), uncertainty=ProbableValue(uncertainty.probability))
