"""Events that say they are the same: a second row with the id, key and time of another is no event."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from inkling.io.normalize import END, ID, START
from inkling.io.rejects import REJECTS_SCHEMA, Complaint, Reason, rejected_rows
from inkling.model.schema import StreamSchema

_ROW, _PLACE = "@row", "@place_in_order"


def without_duplicates(schema: StreamSchema, rows: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Rows with distinct (key, time, id), and rejects for the others.

    Of several rows with one id the one with the least values stays, column by column, so it does not matter in
    which order they came.
    """
    if schema.id is None or not len(rows):
        return rows, REJECTS_SCHEMA.empty_table()
    names = list(dict.fromkeys((*schema.key, START, END, ID)))
    if len(rows.group_by(names).aggregate([])) == len(rows):
        return rows, REJECTS_SCHEMA.empty_table()
    columns = [name for name in rows.column_names if not name.startswith("@")]
    numbers = pa.array(np.arange(len(rows)))
    sortable = _sortable(rows).append_column(_ROW, numbers)
    ordered = sortable.sort_by([(name, "ascending") for name in (*names, *columns)])
    places = ordered.select(names).append_column(_PLACE, numbers)
    least = places.group_by(names).aggregate([(_PLACE, "min")])[f"{_PLACE}_min"].to_numpy()
    kept = np.zeros(len(rows), bool)
    kept[ordered[_ROW].to_numpy()[least]] = True
    complaint = Complaint(Reason.DUPLICATE_ID, schema.id, ~kept)
    rejects = rejected_rows(schema.name, rows.select(columns), schema.id, [complaint])
    return rows.filter(pa.array(kept)), rejects


def _sortable(rows: pa.Table) -> pa.Table:
    """Rows with a number for each distinct list, which Arrow does not sort."""
    for place, field in enumerate(rows.schema):
        if pa.types.is_list(field.type):
            values = [None if one is None else tuple(map(str, one)) for one in rows.column(place).to_pylist()]
            known = {value: number for number, value in enumerate(sorted({one for one in values if one is not None}))}
            ranks = [None if one is None else known[one] for one in values]
            rows = rows.set_column(place, field.name, pa.array(ranks, pa.int64()))
    return rows
