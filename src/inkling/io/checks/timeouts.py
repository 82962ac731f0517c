"""Rows of numbered streams that come after their KEY was silent for too long, and so was closed."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from inkling.io.checks.findings import split
from inkling.io.checks.groups import numbered
from inkling.io.normalize import START
from inkling.io.rejects import NO_REJECTS, Reason
from inkling.model.schema import StreamSchema
from inkling.model.uncertainty import LostEvents


def before_timeouts(schema: StreamSchema, doubt: LostEvents, rows: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Rows up to the first time that their KEY is silent for too long, and rejects for those after it."""
    if doubt.timeout is None or not len(rows):
        return rows, NO_REJECTS
    most = schema.units(doubt.timeout)
    key, time = numbered([rows[name] for name in schema.key], len(rows)), rows[START].to_numpy()
    order = np.lexsort((time, key))
    begins = np.append(True, np.diff(key[order]) != 0)
    silent = np.append(False, np.diff(time[order]) > most) & ~begins
    n_silent = np.cumsum(silent)
    of_key = np.maximum.accumulate(np.where(begins, n_silent, 0))
    after = n_silent > of_key
    last = np.maximum.accumulate(np.where(~after, np.arange(len(order)), 0))  # the row before the silence
    bad, closed = np.zeros(len(rows), bool), np.zeros(len(rows), np.int64)
    bad[order] = after
    closed[order] = time[order][last] + most
    return split(schema, rows, bad, lambda place: (Reason.AFTER_TIMEOUT, after_timeout(time[place], closed[place])))


def after_timeout(time: int, closed: int) -> str:
    """Why a row comes too late."""
    return f"it is at {time}, and its key was closed at {closed}"
