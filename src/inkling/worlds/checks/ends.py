"""What the events of a KEY say about its ends: how many there were, and since when and until when."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.io.rejects import Reason
from inkling.model.uncertainty import LostEvents
from inkling.worlds.checks.findings import Finding, Mask
from inkling.worlds.checks.groups import Numbers
from inkling.worlds.checks.recorded import Recorded

_LEAST, _MOST = np.iinfo(np.int64).min, np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Said:
    """What one column says, per KEY: nothing, or from `least` to `most`, which should be one number."""

    column: str
    known: Mask
    least: Numbers
    most: Numbers

    @classmethod
    def of(cls, column: str | None, rows: pa.Table, recorded: Recorded) -> Said:
        if column is None:
            nothing = np.zeros(recorded.n_keys, np.int64)
            return cls("", np.zeros(recorded.n_keys, bool), nothing, nothing)
        values = rows[column].combine_chunks().take(pa.array(recorded.order))
        known = np.asarray(pc.is_valid(values).to_numpy(zero_copy_only=False), bool)
        numbers = pc.fill_null(values, 0).to_numpy()
        return cls(
            column,
            np.logical_or.reduceat(known, recorded.first),
            np.minimum.reduceat(np.where(known, numbers, _MOST), recorded.first),
            np.maximum.reduceat(np.where(known, numbers, _LEAST), recorded.first),
        )

    def differing(self, reason: Reason) -> Finding:
        def detail(key: int) -> str:
            return f"`{self.column}` is {self.least[key]} and {self.most[key]} in events of one key"

        return Finding(reason, self.known & (self.least != self.most), detail)


@dataclass(frozen=True, slots=True)
class Ends:
    doubt: LostEvents
    recorded: Recorded
    count: Said
    lo: Said
    hi: Said

    @classmethod
    def of(cls, doubt: LostEvents, rows: pa.Table, recorded: Recorded) -> Ends:
        lo, hi = doubt.bounds or (None, None)
        return cls(doubt, recorded, *(Said.of(column, rows, recorded) for column in (doubt.count, lo, hi)))

    @property
    def n_before(self) -> Numbers:
        """How many events were lost before the first recorded one."""
        return self.recorded.number[self.recorded.first] - 1

    @property
    def n_after(self) -> Numbers:
        """How many were lost after the last recorded one, as far as a count tells."""
        return np.where(self.count.known, self.count.least - self.recorded.number[self.recorded.last], 0)

    @property
    def since(self) -> Numbers:
        return self.recorded.time[self.recorded.first]

    @property
    def until(self) -> Numbers:
        return self.recorded.time[self.recorded.last]

    def counts(self) -> list[Finding]:
        count, last = self.count, self.recorded.number[self.recorded.last]
        is_odd = count.known & (count.least % 2 == 1) & (self.doubt.role is not None)
        return [
            count.differing(Reason.BAD_COUNT),
            Finding(
                Reason.BAD_COUNT,
                count.known & (count.least < last),
                lambda key: f"`{count.column}` is {count.least[key]}, and there is an event {last[key]}",
            ),
            Finding(
                Reason.ODD_COUNT,
                is_odd,
                lambda key: f"`{count.column}` is {count.least[key]}, and events open and close segments in turn",
            ),
        ]

    def bounds(self) -> list[Finding]:
        lo, hi, since, until = self.lo, self.hi, self.since, self.until
        return [
            lo.differing(Reason.BAD_BOUNDS),
            hi.differing(Reason.BAD_BOUNDS),
            Finding(
                Reason.BAD_BOUNDS,
                lo.known & (lo.least > since),
                lambda key: f"`{lo.column}` is {lo.least[key]}, after the first recorded event at {since[key]}",
            ),
            Finding(
                Reason.BAD_BOUNDS,
                hi.known & (hi.least < until),
                lambda key: f"`{hi.column}` is {hi.least[key]}, before the last recorded event at {until[key]}",
            ),
        ]

    def windows(self) -> list[Finding]:
        """Losses at the ends, and the room that bounds leave for them."""
        before, after = self.n_before, self.n_after
        lo, hi, since, until = self.lo, self.hi, self.since, self.until
        return [
            Finding(
                Reason.ZERO_WINDOW,
                (before > 0) & lo.known & (lo.least == since),
                lambda key: (
                    f"{before[key]} lost before the first recorded event, and `{lo.column}` is its time, {since[key]}"
                ),
            ),
            Finding(
                Reason.ZERO_WINDOW,
                (after > 0) & hi.known & (hi.least == until),
                lambda key: (
                    f"{after[key]} lost after the last recorded event, and `{hi.column}` is its time, {until[key]}"
                ),
            ),
            Finding(
                Reason.MISSING_BOUND,
                (before > 0) & ~lo.known,
                lambda key: f"{before[key]} lost before the first recorded event, and nothing says since when",
            ),
            Finding(
                Reason.MISSING_BOUND,
                (after > 0) & ~hi.known,
                lambda key: f"{after[key]} lost after the last recorded event, and nothing says until when",
            ),
        ]
