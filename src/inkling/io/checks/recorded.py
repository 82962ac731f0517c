"""Rows of a stream with sequence numbers, sorted by KEY and number, marks after the event with the same number."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from inkling.io.checks.findings import Mask, Numbers, numbered
from inkling.io.checks.marks import marks_in
from inkling.io.normalize import START
from inkling.model.schema import StreamSchema
from inkling.model.uncertainty import LostEvents


@dataclass(frozen=True, slots=True)
class Recorded:
    """Columns of the sorted rows; `order` maps a sorted position to a position in the table.

    The rows of KEY k are `offsets[k]:offsets[k + 1]`.
    """

    order: Numbers
    key: Numbers
    number: Numbers
    time: Numbers
    is_event: Mask
    offsets: Numbers
    key_of_row: Numbers

    @classmethod
    def of(cls, schema: StreamSchema, uncertainty: LostEvents, rows: pa.Table) -> Recorded:
        key_of_row = numbered([rows[name] for name in schema.key], len(rows))
        number, time, is_mark = rows[uncertainty.number].to_numpy(), rows[START].to_numpy(), marks_in(rows, uncertainty)
        order = np.lexsort((time, is_mark, number, key_of_row)).astype(np.int64)
        key = key_of_row[order]
        offsets = np.append(np.flatnonzero(np.diff(key, prepend=-1)), len(key))
        return cls(order, key, number[order], time[order], ~is_mark[order], offsets, key_of_row)

    @property
    def n_keys(self) -> int:
        return len(self.offsets) - 1

    @property
    def first(self) -> Numbers:
        """[KEY]: the position of the first row."""
        return self.offsets[:-1]

    @property
    def last(self) -> Numbers:
        return self.offsets[1:] - 1

    @property
    def continues(self) -> Mask:
        """[pair of neighbors]: whether they have the same KEY."""
        return np.asarray(np.diff(self.key) == 0, bool)

    @property
    def lost_between(self) -> Numbers:
        """[pair of neighbors]: the number of events lost between them; 0 if their KEYs differ."""
        return np.where(self.continues, np.diff(self.number) - self.is_event[1:], 0)

    def keys_with(self, pairs: Mask) -> Mask:
        """[KEY]: whether one of its pairs is set."""
        return np.bincount(self.key[:-1][pairs], minlength=self.n_keys) > 0

    def first_with(self, pairs: Mask, key: int) -> int:
        """The position of the first set pair of a KEY."""
        begin = int(self.offsets[key])
        return begin + int(np.argmax(pairs[begin : self.offsets[key + 1] - 1]))

    def named(self, place: int) -> str:
        """A row in a message."""
        return f"{'event' if self.is_event[place] else 'mark'} {self.number[place]}"
