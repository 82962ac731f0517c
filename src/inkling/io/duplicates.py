"""Events that say they are the same: a second row with the id, key and time of another is no event."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa

from inkling.io.normalize import END, ID, START
from inkling.io.rejects import REJECTS_SCHEMA, Reason
from inkling.model.schema import StreamSchema


def without_duplicates(schema: StreamSchema, rows: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Rows with distinct (key, time, id), the first of each, and rejects for the others."""
    if schema.id is None or not len(rows):
        return rows, REJECTS_SCHEMA.empty_table()
    names = [*schema.key, START, END, ID]
    numbered = rows.select(dict.fromkeys(names)).append_column("@row", pa.array(np.arange(len(rows))))
    first = numbered.group_by(list(dict.fromkeys(names))).aggregate([("@row", "min")])["@row_min"].to_numpy()
    if len(first) == len(rows):
        return rows, REJECTS_SCHEMA.empty_table()
    kept = np.zeros(len(rows), bool)
    kept[first] = True
    again = rows.filter(pa.array(~kept)).select([name for name in rows.column_names if not name.startswith("@")])
    rejects = [
        {
            "stream": schema.name,
            "reason": Reason.DUPLICATE_ID.value,
            "detail": f"`{schema.id}` is {row[schema.id]!r} once more at the same time",
            "row": json.dumps(row, default=str, ensure_ascii=False),
            "id": str(row[schema.id]),
        }
        for row in again.to_pylist()
    ]
    return rows.filter(pa.array(kept)), pa.Table.from_pylist(rejects, schema=REJECTS_SCHEMA)
