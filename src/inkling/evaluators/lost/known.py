"""What a table knows of lost events, by their keys and numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from inkling.errors import InputError
from inkling.evaluators.hashes import Hashes, combined, hashes_of


def known_columns(
    name: str, table: pa.Table, told_apart_by: Sequence[str], lost: Mapping[str, pa.Array], like: pa.Schema
) -> dict[str, pa.Array]:
    """Further columns of lost events, null where the table says nothing.

    `told_apart_by` are number and KEY of the stream; the table need not have all of KEY.
    """
    shared = [column for column in told_apart_by if column in table.column_names]
    others = [column for column in table.column_names if column not in shared and column in like.names]
    table = table.select([*shared, *others]).combine_chunks()
    table = table.cast(pa.schema([like.field(column) for column in table.column_names]))
    codes = _codes([table[column].combine_chunks() for column in shared])
    order = np.argsort(codes, kind="stable")
    _require_one(name, table, codes, order, shared, others)
    wanted = _codes([lost[column] for column in shared])
    place = np.searchsorted(codes[order], wanted)
    is_there = np.append(codes[order], np.uint64(0))[place] == wanted
    is_there &= place < len(order)
    rows = pa.array(np.append(order, 0)[place], mask=~is_there)
    return {column: table[column].combine_chunks().take(rows) for column in others}


def _require_one(
    name: str, table: pa.Table, codes: Hashes, order: np.ndarray, shared: Sequence[str], others: Sequence[str]
) -> None:
    """Raises `InputError` where a table says different things about one event."""
    whole = combined(codes, *(hashes_of(table[column].combine_chunks()) for column in others))
    again = np.flatnonzero((np.diff(codes[order]) == 0) & (np.diff(whole[order]) != 0))
    if len(again):
        row = table.select(list(shared)).slice(int(order[again[0]]), 1).to_pylist()[0]
        said = ", ".join(f"{column} = {value!r}" for column, value in row.items())
        raise InputError.of(
            "INK0563",
            f"the table `{name}` has two rows that differ for {said}",
            notes=("KNOWN FROM looks up what a lost event was by its number and its key",),
            helps=("keep one row for each number of a key",),
        )


def _codes(columns: Sequence[pa.Array]) -> Hashes:
    return combined(*map(hashes_of, columns))
