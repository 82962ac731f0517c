"""Selections of stage rows: by the conditions of leaves, by keys with new rows, and by resets."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.evaluators.stage.rows import format as r
from inkling.evaluators.stage.rows.batches import in_one_piece, key_codes, source_numbers
from inkling.model.batch import FOREVER, EventBatch, Ints
from inkling.physical.plan import LeafTest, Stage


def passing(rows: pa.Table, tests: Iterable[LeafTest]) -> NDArray[np.bool_]:
    """Whether each row passes the conditions of one of the leaves."""
    words: dict[int, NDArray[np.uint64]] = {}
    source = source_numbers(rows) if r.SOURCE in rows.column_names else None
    passed = np.zeros(len(rows), bool)
    for test in tests:
        fits = np.ones(len(rows), bool) if source is None else np.isin(source, test.inputs)
        for bit in test.bits:
            if bit >> 6 not in words:
                words[bit >> 6] = rows[r.mask_name(bit >> 6)].to_numpy().view(np.uint64)
            fits &= (words[bit >> 6] >> np.uint64(bit & 63)) & np.uint64(1) != 0
        passed |= fits
    return passed


def retained_rows(held: pa.Table, rows: pa.Table, leaves: Iterable[LeafTest], since: int) -> pa.Table:
    """The kept rows, and new rows that pass the conditions of some leaves and end after `since`."""
    wanted = passing(rows, leaves)
    if since > -FOREVER:
        wanted &= rows[r.END].to_numpy() > since
    if not wanted.all():
        rows = rows.filter(pa.array(wanted))
    return in_one_piece(pa.concat_tables([held, rows])) if len(rows) else held


def of_moved_keys(held: pa.Table, n_key_columns: int, done: int, until: int) -> NDArray[np.bool_]:
    """The rows up to `until` of keys with a row after `done`."""
    end = held[r.END].to_numpy()
    due = (end > done) & (end <= until)
    if not due.any():
        return due
    codes, _ = key_codes(held, n_key_columns)
    moved = np.zeros(int(codes.max()) + 1, bool)
    moved[codes[due]] = True
    return moved[codes] & (end <= until)


Booleans = NDArray[np.bool_]


def resets_in(resets: tuple[int | None, ...], batch: EventBatch) -> Booleans:
    """Which rows of a batch reset their key; `resets` is the condition of each input."""
    marks = np.zeros(len(batch), bool)
    for number, bit in enumerate(resets):
        if bit is not None:
            holds = (batch.bits[:, bit >> 6] >> np.uint64(bit & 63)) & np.uint64(1)
            marks |= (batch.source == number) & holds.astype(bool)
    return marks


def without_resets(stage: Stage, rows: pa.Table, codes: Ints | None = None) -> tuple[pa.Table, Ints | None]:
    """Stage rows, and their key codes, without rows that reset their key."""
    if not any(bit is not None for bit in stage.resets) or not len(rows):
        return rows, codes
    source, marks = source_numbers(rows), np.zeros(len(rows), bool)
    for number, bit in enumerate(stage.resets):
        if bit is not None:
            word = rows[r.mask_name(bit >> 6)].to_numpy().view(np.uint64)
            marks |= (source == number) & ((word >> np.uint64(bit & 63)) & np.uint64(1)).astype(bool)
    if not marks.any():
        return rows, codes
    return rows.filter(pa.array(~marks)), None if codes is None else codes[~marks]


def in_pieces(resets: tuple[int | None, ...], batch: EventBatch) -> tuple[EventBatch, Ints]:
    """The batch with one key per piece between two resets, and the original key of each piece."""
    marks = resets_in(resets, batch)
    begins = marks.copy()
    begins[:1] = True
    begins[1:] |= batch.key[1:] != batch.key[:-1]
    piece = np.cumsum(begins) - 1
    events = np.flatnonzero(~marks)
    return replace(batch.take(events), key=piece[events]), batch.key[begins]
