"""Rows compared by content: which of some rows are gone, and which are new."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.evaluators.hashes import hashes_of_lists
from inkling.model.hashes import Hashes, combined, hashes_of
from inkling.model.runs import changes, places_in_runs

_OTHER = np.uint64(0x243F6A8885A308D3)


def content_hashes(rows: pa.Table, names: Sequence[str] | None = None) -> Hashes:
    """One hash per row of some columns, or of all."""
    chosen = rows.column_names if names is None else names
    return combined(np.zeros(len(rows), np.uint64), *(_hashes(rows[name].combine_chunks()) for name in chosen))


def differences(old: pa.Table, new: pa.Table, names: Sequence[str]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which of the old rows are not among the new ones, and the other way round; equal rows are counted.

    Rows are equal if they agree in the columns of these names.
    """
    if not len(old) or not len(new):
        return np.ones(len(old), bool), np.ones(len(new), bool)
    code, check = (np.concatenate(pair) for pair in zip(_two_hashes(old, names), _two_hashes(new, names), strict=True))
    order = np.argsort(code, kind="stable")
    if (changes(check[order]) & ~changes(code[order])).any():
        order = np.lexsort((check, code))
    is_first = changes(code[order]) | changes(check[order])
    begins = np.flatnonzero(is_first)
    # of each group of equal rows the old ones stand first
    is_old = order < len(old)
    n_old = np.add.reduceat(is_old, begins, dtype=np.int64)
    lengths = np.diff(np.append(begins, len(order)))
    place = places_in_runs(is_first)
    n_old, n_new = np.repeat(n_old, lengths), np.repeat(lengths - n_old, lengths)
    differs = np.empty(len(order), bool)
    differs[order] = np.where(is_old, place >= n_new, place - n_old >= n_old)
    return differs[: len(old)], differs[len(old) :]


def _two_hashes(rows: pa.Table, names: Sequence[str]) -> tuple[Hashes, Hashes]:
    """Two hashes of 64 bits per row, so that rows that differ are not taken for equal."""
    hashes = [_hashes(rows[name].combine_chunks()) for name in names]
    nothing = np.zeros(len(rows), np.uint64)
    return combined(nothing, *hashes), combined(nothing + _OTHER, *hashes[::-1])


def _hashes(column: pa.Array) -> Hashes:
    kind = column.type
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _hashes_of_lists(column)
    if pa.types.is_null(kind):
        return hashes_of(column.cast(pa.int64()))
    if pa.types.is_timestamp(kind) or pa.types.is_unsigned_integer(kind):
        column = column.cast(pa.int64(), safe=False)
    return hashes_of(column)


def _hashes_of_lists(column: pa.Array) -> Hashes:
    items = _hashes(column.values)
    offsets = column.offsets.to_numpy(zero_copy_only=False).astype(np.int64)
    found = hashes_of_lists(offsets, items)
    if column.null_count:
        found = np.where(column.is_null().to_numpy(zero_copy_only=False), _OTHER, found)
    return found
