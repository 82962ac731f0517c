"""Which stage rows an event looks at, before they are events: by the tests of its leaves, and by what is new."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.evaluators.stage import rows as r
from inkling.evaluators.stage.batches import in_one_piece, key_codes, source_numbers
from inkling.model.batch import FOREVER
from inkling.physical.plan import LeafTest


def passing(rows: pa.Table, tests: Iterable[LeafTest]) -> NDArray[np.bool_]:
    """Whether each row comes from an input of one of the leaves and has all its bits."""
    words: dict[int, NDArray[np.uint64]] = {}
    source = source_numbers(rows) if r.SOURCE in rows.column_names else None
    passed = np.zeros(len(rows), bool)
    for test in tests:
        fits = np.ones(len(rows), bool) if source is None else np.isin(source, test.inputs)
        for bit in test.bits:
            if bit >> 6 not in words:
                words[bit >> 6] = rows[r.word_name(bit >> 6)].to_numpy().view(np.uint64)
            fits &= (words[bit >> 6] >> np.uint64(bit & 63)) & np.uint64(1) != 0
        passed |= fits
    return passed


def taken_in(held: pa.Table, rows: pa.Table, leaves: Iterable[LeafTest], since: int) -> pa.Table:
    """Rows that are held, and new ones that pass the tests of some leaves and end after `since`."""
    wanted = passing(rows, leaves)
    if since > -FOREVER:
        wanted &= rows[r.END].to_numpy() > since
    if not wanted.all():
        rows = rows.filter(pa.array(wanted))
    return in_one_piece(pa.concat_tables([held, rows])) if len(rows) else held


def of_moved_keys(held: pa.Table, n_key_columns: int, done: int, until: int) -> NDArray[np.bool_]:
    """The rows up to `until` of keys that have one after `done`."""
    end = held[r.END].to_numpy()
    due = (end > done) & (end <= until)
    if not due.any():
        return due
    codes, _ = key_codes(held, n_key_columns)
    moved = np.zeros(int(codes.max()) + 1, bool)
    moved[codes[due]] = True
    return moved[codes] & (end <= until)
