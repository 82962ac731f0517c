"""Checks of uncertain rows on a stream: what a row says of itself, and what rows say together."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pyarrow as pa

from inkling.evaluators.worlds.live.numbers import Borders, numbered_on
from inkling.io.checks.acceptable import checked
from inkling.io.checks.numbers import with_numbers
from inkling.io.duplicates import without_duplicates
from inkling.io.rejects import NO_REJECTS
from inkling.model.batch import FOREVER
from inkling.model.schema import StreamSchema
from inkling.model.uncertainty import ImpreciseTime, LostEvents, ProbableValue
from inkling.physical.streams import time_of


@dataclass(frozen=True, slots=True)
class Judged:
    """Rows that may go on, rows that were refused, and rows that came too late although their own time is open."""

    rows: pa.Table
    rejects: pa.Table
    late: pa.Table


def arriving(schema: StreamSchema, rows: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Good rows and rejects, by what every row says on its own."""
    match schema.doubt:
        case ImpreciseTime():
            return checked(schema, rows)
        case LostEvents():
            return with_numbers(schema, schema.doubt, rows)
        case _:
            return rows, NO_REJECTS


def completed(schema: StreamSchema, rows: pa.Table, borders: Borders) -> Judged:
    """Rows without those of the time that is complete now that contradict each other or what was before."""
    time = rows[time_of(schema)].to_numpy()
    now = (time > borders.complete_before) & (time <= borders.complete)
    is_over = isinstance(schema.doubt, LostEvents) and borders.complete >= FOREVER > borders.complete_before
    if not now.any() and not is_over:
        return Judged(rows, NO_REJECTS, rows.slice(0, 0))
    if isinstance(schema.doubt, LostEvents):
        known = rows.filter(pa.array(time <= borders.complete_before))
        fresh, refused, late = numbered_on(schema, schema.doubt, known, rows.filter(pa.array(now)), borders)
    else:
        fresh, refused = _good(schema, rows.filter(pa.array(now)))
        late = rows.slice(0, 0)
    return Judged(pa.concat_tables([rows.filter(pa.array(~now)), fresh]), refused, late)


def _good(schema: StreamSchema, rows: pa.Table) -> tuple[pa.Table, pa.Table]:
    match schema.doubt:
        case ProbableValue():
            return checked(_step_by_step(schema, schema.doubt), rows)
        case _:
            return without_duplicates(schema, rows)


def _step_by_step(schema: StreamSchema, doubt: ProbableValue) -> StreamSchema:
    """A chain whose past is not at hand: rows after one value are alternatives of each other."""
    return replace(schema, key=(*schema.key, *doubt.given), doubt=ProbableValue(doubt.probability))
