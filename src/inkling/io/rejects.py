"""Rows that break the declaration of their stream, with a reason and the numbers that failed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import Enum

import numpy as np
import pyarrow as pa

REJECTS_SCHEMA = pa.schema(
    [
        pa.field("stream", pa.string()),
        pa.field("reason", pa.string()),
        pa.field("detail", pa.string()),
        pa.field("row", pa.string()),
        pa.field("id", pa.string()),
    ]
)


class Reason(Enum):
    """Why a row was set aside; the first that applies, in this order."""

    NULL_TIME = "null time"
    BAD_TIME = "bad time"
    ENDS_BEFORE_START = "ends before it starts"
    NULL_KEY = "null key"
    NULL_ID = "null id"
    NULL_ORDER = "null order"
    BAD_VALUE = "bad value"
    DUPLICATE_ID = "duplicate id"


@dataclass(frozen=True, slots=True)
class Complaint:
    """Rows with one kind of fault; `column` tells which value to show."""

    reason: Reason
    column: str
    mask: np.ndarray


def rejected_rows(stream: str, raw: pa.Table, id_column: str | None, complaints: list[Complaint]) -> pa.Table:
    """One reject per faulty row, with the first complaint about it."""
    seen = np.zeros(len(raw), bool)
    rows = []
    for complaint in complaints:
        fresh = np.flatnonzero(complaint.mask & ~seen)
        seen[fresh] = True
        for place, row in zip(fresh, raw.take(pa.array(fresh)).to_pylist(), strict=True):
            identity = row.get(id_column) if id_column else int(place) + 1
            value = row.get(complaint.column)
            rows.append(
                {
                    "stream": stream,
                    "reason": complaint.reason.value,
                    "detail": f"`{complaint.column}` is {'null' if value is None else repr(_plain(value))}",
                    "row": json.dumps(row, default=str, ensure_ascii=False),
                    "id": None if identity is None else str(identity),
                }
            )
    return pa.Table.from_pylist(rows, schema=REJECTS_SCHEMA)


def _plain(value: object) -> object:
    return value if isinstance(value, int | float | bool) else str(value)
