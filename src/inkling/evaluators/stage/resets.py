"""Rows that reset their key: no events themselves, and what the key did before them does not count after them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.evaluators.stage import rows as r
from inkling.evaluators.stage.batches import source_numbers
from inkling.model.batch import EventBatch, Ints
from inkling.physical.plan import Stage

Marks = NDArray[np.bool_]


def resets_in(resets: tuple[int | None, ...], batch: EventBatch) -> Marks:
    """Which rows of a batch reset their key; `resets` gives the condition of each input."""
    marks = np.zeros(len(batch), bool)
    for number, bit in enumerate(resets):
        if bit is not None:
            holds = (batch.bits[:, bit >> 6] >> np.uint64(bit & 63)) & np.uint64(1)
            marks |= (batch.source == number) & holds.astype(bool)
    return marks


def without_resets(stage: Stage, rows: pa.Table, codes: Ints | None = None) -> tuple[pa.Table, Ints | None]:
    """Stage rows, and codes beside them, without those that reset their key."""
    if not any(bit is not None for bit in stage.resets) or not len(rows):
        return rows, codes
    source, marks = source_numbers(rows), np.zeros(len(rows), bool)
    for number, bit in enumerate(stage.resets):
        if bit is not None:
            word = rows[r.word_name(bit >> 6)].to_numpy().view(np.uint64)
            marks |= (source == number) & ((word >> np.uint64(bit & 63)) & np.uint64(1)).astype(bool)
    if not marks.any():
        return rows, codes
    return rows.filter(pa.array(~marks)), None if codes is None else codes[~marks]


def in_pieces(resets: tuple[int | None, ...], batch: EventBatch) -> tuple[EventBatch, Ints]:
    """The events of a batch with a key for each piece between two resets, and the key that each piece belongs to."""
    marks = resets_in(resets, batch)
    begins = marks.copy()
    begins[:1] = True
    begins[1:] |= batch.key[1:] != batch.key[:-1]
    piece = np.cumsum(begins) - 1
    events = np.flatnonzero(~marks)
    return replace(batch.take(events), key=piece[events]), batch.key[begins]
