"""Normalized rows of a stream as events: without repetitions, and without what contradicts its kind of doubt."""

from __future__ import annotations

import pyarrow as pa

from inkling.io.checks.checked import checked
from inkling.io.duplicates import without_duplicates
from inkling.model.schema import StreamSchema
from inkling.model.uncertainty import ImpreciseTime


def acceptable(schema: StreamSchema, rows: pa.Table) -> tuple[pa.Table, list[pa.Table]]:
    """Good rows, and rejects; alternatives and numbered events may share an id."""
    if schema.doubt is None or isinstance(schema.doubt, ImpreciseTime):
        rows, repeated = without_duplicates(schema, rows)
        good, refused = checked(schema, rows)
        return good, [repeated, refused]
    good, refused = checked(schema, rows)
    return good, [refused]
