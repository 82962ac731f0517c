"""Duplicates: rows with the id, key and time of another row; one of them stays, the others are rejected."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.io.normalize import END, ID, START
from inkling.io.rejects import NO_REJECTS, Complaint, Reason, rejected_rows
from inkling.kernels.columns.repeats import STRICTLY, beside_equal, rises, share_hash
from inkling.model.batch import Ints, in_one_array
from inkling.model.hashes import row_hashes
from inkling.model.schema import StreamSchema

_ROW, _PLACE = "@row", "@place_in_order"


def without_duplicates(schema: StreamSchema, rows: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Rows with distinct (key, time, id), and rejects for the others.

    Of duplicates the least row stays, compared column by column, so the choice does not depend on their order.
    """
    if schema.id is None:
        return rows, NO_REJECTS
    names = list(dict.fromkeys((*schema.key, START, END, ID)))
    return _without(schema, rows, least_rows(rows, names), " for the same key and time")


def with_distinct_ids(schema: StreamSchema, rows: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Rows with distinct ids, whatever their keys and times, and rejects for the others; the least row stays."""
    return _without(schema, rows, least_rows(rows, [ID], [START, END]), "")


def least_rows(rows: pa.Table, same: list[str], first: Sequence[str] = ()) -> NDArray[np.bool_] | None:
    """A mask of the least row of each group that agrees in the columns `same`; None if all rows differ in them.

    Rows are compared by the columns `first`, then by all columns of the input; null is larger than any value.
    """
    alike = _perhaps_alike(rows, same)
    some = rows if len(alike) == len(rows) else rows.take(pa.array(alike))
    if not len(some) or len(some.group_by(same).aggregate([])) == len(some):
        return None
    kept = np.ones(len(rows), bool)
    kept[alike] = _are_least(some, same, first)
    return kept


def _are_least(rows: pa.Table, same: list[str], first: Sequence[str]) -> NDArray[np.bool_]:
    columns = dict.fromkeys([*same, *first, *_read(rows)])
    numbers = pa.array(np.arange(len(rows)))
    sortable = _sortable(rows).append_column(_ROW, numbers)
    ordered = sortable.sort_by([(name, "ascending") for name in columns])
    places = ordered.select(same).append_column(_PLACE, numbers)
    least = places.group_by(same).aggregate([(_PLACE, "min")])[f"{_PLACE}_min"].to_numpy()
    kept = np.zeros(len(rows), bool)
    kept[ordered[_ROW].to_numpy()[least]] = True
    return kept


FEW = 64
"""Rows that are compared at once: looking for rows that may be alike would take longer."""


def _perhaps_alike(rows: pa.Table, same: Sequence[str]) -> Ints:
    """The numbers of rows that may agree with another row in some columns; linear in the number of rows.

    Often a glance suffices: ids rise, or times do. Else rows with the same hash may be alike.
    """
    if len(rows) < FEW:
        return np.arange(len(rows) if len(rows) > 1 else 0)
    columns = [in_one_array(rows[name]) for name in reversed(same)]  # first ids, whose values differ most
    for column in columns:
        if column.type != pa.int64() or column.null_count:
            continue
        values = column.to_numpy()
        rising = rises(values)
        if rising == STRICTLY:
            return np.empty(0, np.int64)
        if rising:
            close = np.flatnonzero(beside_equal(values))
            if len(close) <= len(rows) // 2:
                return close
    hashes = row_hashes((one for one in columns if not pa.types.is_list(one.type)), len(rows))
    return np.flatnonzero(share_hash(hashes))


def _without(
    schema: StreamSchema, rows: pa.Table, kept: NDArray[np.bool_] | None, again: str
) -> tuple[pa.Table, pa.Table]:
    if kept is None or schema.id is None:
        return rows, NO_REJECTS
    complaint = Complaint(Reason.DUPLICATE_ID, schema.id, ~kept, again)
    rejects = rejected_rows(schema.name, rows.select(_read(rows)), schema.id, [complaint])
    return rows.filter(pa.array(kept)), rejects


def _read(rows: pa.Table) -> list[str]:
    return [name for name in rows.column_names if not name.startswith("@")]


def _sortable(rows: pa.Table) -> pa.Table:
    """Rows with lists replaced by ranks, because Arrow does not sort lists."""
    for place, field in enumerate(rows.schema):
        if pa.types.is_list(field.type):
            values = [None if one is None else tuple(map(str, one)) for one in rows.column(place).to_pylist()]
            known = {value: number for number, value in enumerate(sorted({one for one in values if one is not None}))}
            ranks = [None if one is None else known[one] for one in values]
            rows = rows.set_column(place, field.name, pa.array(ranks, pa.int64()))
    return rows
