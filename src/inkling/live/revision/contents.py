"""Rows compared by what they hold: which of some rows are gone, and which are new."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.evaluators.hashes import Hashes, combined, hashes_of, hashes_of_lists

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
    first, second = content_hashes(old, names), content_hashes(new, names)
    # two hashes of 64 bits each, so that rows that differ are not taken for equal
    checks = [combined(content_hashes(rows, names[::-1]), np.full(len(rows), _OTHER)) for rows in (old, new)]
    code, check = np.concatenate([first, second]), np.concatenate(checks)
    order = np.lexsort((check, code))
    code, check = code[order], check[order]
    begins = np.concatenate([[True], (code[1:] != code[:-1]) | (check[1:] != check[:-1])])
    group = np.empty(len(order), np.int64)
    group[order] = np.cumsum(begins) - 1
    olds, news = group[: len(old)], group[len(old) :]
    n_groups = int(begins.sum())
    n_old, n_new = np.bincount(olds, minlength=n_groups), np.bincount(news, minlength=n_groups)
    return _places(olds) >= n_new[olds], _places(news) >= n_old[news]


def _places(groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """Of each row, how many rows of its group stand before it."""
    order = np.argsort(groups, kind="stable")
    ordered = groups[order]
    firsts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    lengths = np.diff(np.concatenate([firsts, [len(ordered)]]))
    found = np.empty(len(groups), np.int64)
    found[order] = np.arange(len(groups)) - np.repeat(firsts, lengths)
    return found


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
