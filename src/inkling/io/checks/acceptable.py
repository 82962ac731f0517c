"""Normalized rows of a stream as events: without repetitions, and without what contradicts its kind of doubt."""

from __future__ import annotations

import pyarrow as pa

from inkling.io.checks.alternatives import checked_alternatives
from inkling.io.checks.imprecise_times import checked_times
from inkling.io.checks.numbers import MOST_LOST, checked_numbers
from inkling.io.duplicates import without_duplicates
from inkling.io.rejects import NO_REJECTS
from inkling.model.schema import StreamSchema
from inkling.model.uncertainty import ImpreciseTime, LostEvents, ProbableValue


def checked(schema: StreamSchema, rows: pa.Table, *, most_lost: int = MOST_LOST) -> tuple[pa.Table, pa.Table]:
    """Good rows and rejects of normalized rows that hold whole KEYs of a stream.

    An event whose rows contradict each other is set aside with all of its rows, a chain from there on, a numbered
    KEY as a whole. So what is left is as if the others had never come. `most_lost` is how many events in a row may
    be lost.
    """
    match schema.doubt:
        case None:
            return rows, NO_REJECTS
        case ImpreciseTime():
            return checked_times(schema, schema.doubt, rows)
        case ProbableValue():
            return checked_alternatives(schema, schema.doubt, rows)
        case LostEvents():
            return checked_numbers(schema, schema.doubt, rows, most_lost)


def acceptable(schema: StreamSchema, rows: pa.Table) -> tuple[pa.Table, list[pa.Table]]:
    """Good rows, and rejects; alternatives and numbered events may share an id."""
    if schema.doubt is None or isinstance(schema.doubt, ImpreciseTime):
        rows, repeated = without_duplicates(schema, rows)
        good, refused = checked(schema, rows)
        return good, [repeated, refused]
    good, refused = checked(schema, rows)
    return good, [refused]
