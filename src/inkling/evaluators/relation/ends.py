"""How far keys of a stream with lost events are known: by which rows, and when nothing more of a key can follow."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.evaluators.hashes import Hashes
from inkling.io.normalize import START
from inkling.model.batch import FOREVER, Ints
from inkling.model.time import TimeUnit
from inkling.model.uncertainty import LostEvents

NOT_YET = FOREVER


def places_of(keys: Hashes, wanted: Hashes) -> Ints:
    """Numbers of keys by their hashes; -1 for those that are not there."""
    order = np.argsort(keys, kind="stable")
    place = np.searchsorted(keys[order], wanted)
    there = np.append(keys[order], np.uint64(0))[place] == wanted
    there &= place < len(keys)
    return np.where(there, np.append(order, -1)[place], -1)


def known_times(rows: pa.Table, key: Ints, n_keys: int, uncertainty: LostEvents) -> tuple[Ints, Ints, Ints]:
    """Times of all rows, marks among them, by key and in order; up to when segments are known; where each key begins.

    What is open need not be a segment: it may never be closed. So nothing is known from its opening on until a larger
    number shows that it was.
    """
    mine = np.flatnonzero(key >= 0)
    time, number = rows[START].to_numpy()[mine], rows[uncertainty.number].to_numpy()[mine].astype(np.int64)
    order = np.lexsort((number, time, key[mine]))
    time, number, key = time[order], number[order], key[mine][order]
    place = np.arange(len(order))
    anew = np.append(True, (key[1:] != key[:-1]) | (number[1:] != number[:-1]))[: len(order)]
    before = np.maximum.accumulate(np.where(anew, place, 0)) - 1 if len(order) else place
    offsets = np.searchsorted(key, np.arange(n_keys + 1))
    is_first = before < offsets[key] if len(order) else anew
    closed = np.where(number % 2 == 0, time, np.where(is_first, -FOREVER, np.append(time, 0)[before]))
    return time, closed, offsets


def completed_at(rows: pa.Table, key: Ints, n_keys: int, uncertainty: LostEvents, unit: TimeUnit) -> Ints:
    """When the last row of each key came, or its bound was reached, after which nothing can follow."""
    complete = np.full(n_keys + 1, NOT_YET)  # the last is that of no key
    time = rows[START].to_numpy()
    if uncertainty.role is not None:
        ends = pc.fill_null(pc.equal(pc.utf8_lower(rows[uncertainty.role]), "end"), False)
        _at_least(complete, key, time, np.asarray(ends.to_numpy(zero_copy_only=False), bool))
    if uncertainty.count is not None:
        count = pc.fill_null(rows[uncertainty.count], FOREVER).to_numpy()
        _at_least(complete, key, time, rows[uncertainty.number].to_numpy() >= count)
        if uncertainty.bounds is not None:
            until = pc.fill_null(rows[uncertainty.bounds[1]], FOREVER).cast(pa.int64()).to_numpy()
            _at_least(complete, key, until, count < FOREVER)
    if uncertainty.timeout is not None:
        last = np.full(n_keys + 1, -FOREVER)
        np.maximum.at(last, key, time)
        silent = np.where(last > -FOREVER, last + unit(uncertainty.timeout), NOT_YET)
        complete = np.minimum(complete, silent)
    return complete[:n_keys]


def _at_least(complete: Ints, key: Ints, time: Ints, known: np.ndarray) -> None:
    np.minimum.at(complete, key[known], time[known])
