"""One operand of a relation between segments: the keys of all partitions in a batch, with their segments."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from inkling.kernels.joins.segments import Side
from inkling.logical import plan as p
from inkling.model.batch import EventBatch, Ints
from inkling.model.keys import codes_of, encoded
from inkling.model.roles import CLOSING, OPENING
from inkling.model.runs import changes, places_in_runs
from inkling.model.schema import Column
from inkling.physical.plan import LeafTest

Turns = NDArray[np.int8]
"""Per event: 1 if it opens a segment, -1 if it closes one, 0 if it does neither."""


def turns_of_roles(roles: pa.Array) -> Turns:
    """The turns of events by the words of their roles."""
    words = pc.utf8_lower(roles)
    opens = pc.is_in(words, value_set=pa.array(sorted(OPENING))).to_numpy(zero_copy_only=False)
    closes = pc.is_in(words, value_set=pa.array(sorted(CLOSING))).to_numpy(zero_copy_only=False)
    return opens.astype(np.int8) - closes.astype(np.int8)


def opened_and_closed(
    key: Ints, time: Ints, number: Ints | None = None, turns: Turns | None = None
) -> tuple[Ints, Ints]:
    """Rows that open segments and the rows that close them, sorted by (key, time).

    A closing event directly follows the opening event of its key. Simultaneous events are sorted by number, then by
    row. Without `turns`, odd numbers open segments; without numbers, the events of a key alternate.
    """
    order = np.lexsort((time, key)) if number is None else np.lexsort((number, time, key))
    key = key[order]
    same = key[1:] == key[:-1]
    if turns is not None:
        opens, closes = turns[order] == 1, turns[order] == -1
    elif number is not None:
        opens = number[order] % 2 == 1
        closes = ~opens
    else:
        opens = places_in_runs(changes(key)) % 2 == 0
        closes = ~opens
    opening = np.flatnonzero(same & opens[:-1] & closes[1:])
    return order[opening], order[opening + 1]


@dataclass(frozen=True, slots=True)
class KeysAndSegments:
    """Keys, sorted by partition, and their segments in the order of `arrays`."""

    arrays: Side
    partition: Ints  # of each key
    row: Ints  # per key: any row of it in the batch
    start: Ints  # of each key: where its first segment starts, or its first event if it has no segment
    end: Ints
    known: Ints  # per key: when the last of its events was known
    opening: Ints  # per segment: the row that opens it, or that it is
    closing: Ints


def side_of(
    batch: EventBatch, operand: p.Operand, test: LeafTest, same: Column | None, n_partitions: int
) -> KeysAndSegments:
    """The keys and segments of an operand; names of columns are physical."""
    (source,) = test.inputs
    rows = np.flatnonzero(batch.source == source)
    columns = [encoded(batch.columns[column.name])[0][rows] for column in operand.key]
    key, n_keys = codes_of([batch.key[rows], *columns], len(rows))
    first = np.full(n_keys, len(rows))
    np.minimum.at(first, key, np.arange(len(rows)))
    opening, closing = _segments(batch, operand.pairing, rows, key)
    chosen = np.ones(len(opening), bool)
    for bit in test.bits:
        word = batch.bits[rows[opening], bit >> 6]
        chosen &= (word >> np.uint64(bit & 63)) & np.uint64(1) != 0
    opening, closing = opening[chosen], closing[chosen]
    owner = key[opening]
    opening, closing = rows[opening], rows[closing]
    start, end = batch.start[opening], batch.end[closing]
    label = _labels(batch, same, opening, closing)
    order = np.lexsort((end, start, label, owner))
    owner, start, end, label = owner[order], start[order], end[order], label[order]
    begins = np.searchsorted(owner, np.arange(n_keys + 1))
    partition = batch.key[rows[first]]
    lo, hi = _hulls(key, n_keys, batch.start[rows], batch.end[rows])
    segment_lo, segment_hi = _hulls(owner, n_keys, start, end)
    has_segments = np.diff(begins) > 0
    return KeysAndSegments(
        Side(
            np.searchsorted(partition, np.arange(n_partitions + 1)),
            begins,
            start,
            end,
            np.lexsort((order, owner)),  # `order` is canonical: that of the rows, or of the events that open
            label,
            _in_step(owner, label, end, n_keys),
            segment_lo,
            segment_hi,
        ),
        partition,
        rows[first],
        np.where(has_segments, segment_lo, lo),
        np.where(has_segments, segment_hi, hi),
        np.where(
            has_segments, _latest(owner, n_keys, batch.known[closing[order]]), _latest(key, n_keys, batch.known[rows])
        ),
        opening[order],
        closing[order],
    )


def _segments(batch: EventBatch, pairing: p.Pairing | None, rows: Ints, key: Ints) -> tuple[Ints, Ints]:
    """Positions in `rows` of the events that open segments and of those that close them."""
    if pairing is None:
        every = np.arange(len(rows))
        return every, every
    number = turns = None
    if pairing.number is not None:
        numbers = pc.fill_null(batch.columns[pairing.number.name], 0)
        number = np.asarray(numbers.to_numpy(zero_copy_only=False), dtype=np.int64)[rows]
    elif pairing.role is not None:
        turns = turns_of_roles(batch.columns[pairing.role.name])[rows]
    return opened_and_closed(key, batch.end[rows], number, turns)


def _labels(batch: EventBatch, same: Column | None, opening: Ints, closing: Ints) -> Ints:
    """Codes of the ON SAME value of each segment: of its opening event, or of its closing one if null; -1 for null."""
    if same is None:
        return np.zeros(len(opening), np.int64)
    column = batch.columns[same.name]
    codes = np.where(column.is_null().to_numpy(zero_copy_only=False), -1, encoded(column)[0])
    opened = codes[opening]
    return np.where(opened < 0, codes[closing], opened)


def _hulls(key: Ints, n_keys: int, start: Ints, end: Ints) -> tuple[Ints, Ints]:
    """First start and last end per key; undefined for keys without segments."""
    lo = np.full(n_keys, np.iinfo(np.int64).max)
    np.minimum.at(lo, key, start)
    return lo, _latest(key, n_keys, end)


def _latest(key: Ints, n_keys: int, times: Ints) -> Ints:
    latest = np.full(n_keys, np.iinfo(np.int64).min)
    np.maximum.at(latest, key, times)
    return latest


def _in_step(owner: Ints, label: Ints, end: Ints, n_keys: int) -> np.ndarray:
    """Per key, whether its segments of each label are sorted by both start and end."""
    broken = (np.diff(owner) == 0) & (np.diff(label) == 0) & (np.diff(end) < 0)
    in_step = np.ones(n_keys, bool)
    in_step[owner[1:][broken]] = False
    return in_step
