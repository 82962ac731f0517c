"""Checks of uncertain rows on a stream: what a row says of itself when it comes, what rows say together when due."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from inkling.io.normalize import END
from inkling.io.rejects import NO_REJECTS, Complaint, Reason, rejected_rows
from inkling.model.schema import StreamSchema
from inkling.model.uncertainty import ImpreciseTime, LostEvents, ProbableValue
from inkling.worlds.checks.checked import checked
from inkling.worlds.streams.placed import key_hashes


def arriving(schema: StreamSchema, rows: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Good rows and rejects of a kind of doubt in which every row stands alone."""
    return checked(schema, rows) if isinstance(schema.doubt, ImpreciseTime) else (rows, NO_REJECTS)


def releasable(schema: StreamSchema, rows: pa.Table, old: int, new: int) -> tuple[pa.Table, pa.Table]:
    """Rows without those of (old, new] that contradict each other, and the rejects.

    Rows up to `old` were good when they were due; rows after `new` are not complete yet.
    """
    if not isinstance(schema.doubt, ProbableValue | LostEvents) or not len(rows):
        return rows, NO_REJECTS
    due = rows[END].to_numpy() <= new
    if not due.any():
        return rows, NO_REJECTS
    later, now = rows.filter(pa.array(~due)), rows.filter(pa.array(due))
    if isinstance(schema.doubt, LostEvents):
        good, refused = _numbered_on(schema, schema.doubt, now, old)
    else:
        good, refused = checked(_step_by_step(schema, schema.doubt), now)
    return pa.concat_tables([later, good]), refused


def _step_by_step(schema: StreamSchema, doubt: ProbableValue) -> StreamSchema:
    """A chain whose past is not at hand: rows after one value are alternatives of each other."""
    return replace(schema, key=(*schema.key, *doubt.given), doubt=ProbableValue(doubt.probability))


def _numbered_on(schema: StreamSchema, doubt: LostEvents, rows: pa.Table, old: int) -> tuple[pa.Table, pa.Table]:
    """In every key numbers grow with time; a row that does not fit those before it is set aside."""
    number = rows[doubt.number].fill_null(0).to_numpy().astype(np.int64)
    time = rows[END].to_numpy()
    key = np.unique(key_hashes(schema, rows), return_inverse=True)[1]
    order = np.lexsort((number, time, key))
    first = np.append(True, np.diff(key[order]) != 0)
    beyond = int(number.max()) + 1
    ranked = key[order] * beyond + np.clip(number[order], 0, None)
    before = np.append(-1, np.maximum.accumulate(ranked)[:-1])
    room = time[order] - np.append(time[order][:1], time[order][:-1])
    missing = number[order] - np.append(0, number[order][:-1]) - 1
    repeats = ~first & (ranked <= before)
    no_room = ~first & ~repeats & ((room <= 0) | ((missing > 0) & (room < 1)))
    masks = {}
    for reason, found in (
        (Reason.NULL_NUMBER, number[order] < 1),
        (Reason.DUPLICATE_NUMBER, repeats & (ranked == before)),
        (Reason.NOT_INCREASING, repeats | no_room),
    ):
        mask = np.zeros(len(rows), bool)
        mask[order] = found
        masks[reason] = mask & (time > old)
    bad = np.logical_or.reduce(list(masks.values()))
    if not bad.any():
        return rows, NO_REJECTS
    plain = rows.select([name for name in rows.column_names if not name.startswith("@")])
    complaints = [Complaint(reason, doubt.number, mask) for reason, mask in masks.items()]
    return rows.filter(pa.array(~bad)), rejected_rows(schema.name, plain, schema.id, complaints)
