"""Tables that are put away: whole numbers in as few bytes as they need, and no column twice."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa

_HOW = b"inkling"
_WIDTHS = (np.uint8, np.uint16, np.uint32)
_WHOLE = pa.int64()


def compact(table: pa.Table) -> pa.Table:
    """A table that `restored` turns back; each of its columns says less, or what it says with fewer bytes."""
    if not len(table):
        return table
    columns: dict[str, pa.Array] = {}
    kept: dict[str, pa.Array] = {}
    how: dict[str, list[object]] = {}
    for name in table.column_names:
        column = table[name].combine_chunks()
        same = next(
            (other for other, held in columns.items() if held.type == column.type and held.equals(column)), None
        )
        columns[name] = column
        if same is not None:
            how[name] = ["same", same]
            continue
        base, kept[name] = _narrowed(column)
        how[name] = ["plain"] if base is None else ["above", base]
    about = {_HOW: json.dumps(how).encode()}
    return pa.table(kept, metadata=about) if kept else table


def restored(table: pa.Table) -> pa.Table:
    """The table that `compact` was given."""
    metadata = table.schema.metadata or {}
    if _HOW not in metadata:
        return table
    columns: dict[str, pa.Array | pa.ChunkedArray] = {}
    for name, (kind, *more) in json.loads(metadata[_HOW]).items():
        match kind:
            case "same":
                columns[name] = columns[more[0]]
            case "above":
                columns[name] = pa.array(table[name].to_numpy().astype(np.int64) + more[0])
            case _:
                columns[name] = table[name]
    return pa.table(columns)


def _narrowed(column: pa.Array) -> tuple[int | None, pa.Array]:
    """Whole numbers as what they are above the least, and the least; other columns as they are."""
    if column.type != _WHOLE or column.null_count or not len(column):
        return None, column
    numbers = column.to_numpy()
    least, most = int(numbers.min()), int(numbers.max())
    for width in _WIDTHS:
        if most - least <= np.iinfo(width).max:
            return least, pa.array((numbers - least).astype(width))
    return None, column
