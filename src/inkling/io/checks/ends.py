"""What the rows of a KEY say about its ends: how many events there were, since when and until when, how fast."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from inkling.io.checks.findings import Finding, Mask, Numbers, number_words
from inkling.io.checks.marks import has_role
from inkling.io.checks.recorded import Recorded
from inkling.io.rejects import Reason
from inkling.model.roles import END
from inkling.model.uncertainty import LostEvents

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
    rate: Said
    ended: Mask

    @classmethod
    def of(cls, doubt: LostEvents, rows: pa.Table, recorded: Recorded) -> Ends:
        lo, hi = doubt.bounds or (None, None)
        rate = doubt.rate if isinstance(doubt.rate, str) else None
        count, low, high, speed = (Said.of(column, rows, recorded) for column in (doubt.count, lo, hi, rate))
        ends = has_role(rows, doubt, END)[recorded.order]
        return cls(doubt, recorded, count, low, high, speed, np.logical_or.reduceat(ends, recorded.first))

    @property
    def n_before(self) -> Numbers:
        """How many events were lost before the first row."""
        first = self.recorded.first
        return np.asarray(self.recorded.number[first] - self.recorded.is_event[first], np.int64)

    @property
    def n_after(self) -> Numbers:
        """How many were lost after the last one, as far as a count tells, or a timeout."""
        last = self.recorded.number[self.recorded.last]
        closing = np.where(self.ended | (self.doubt.timeout is None), 0, last % 2)
        return np.where(self.count.known, self.count.least - last, closing)

    @property
    def since(self) -> Numbers:
        """When the first row of each KEY was."""
        return self.recorded.time[self.recorded.first]

    @property
    def until(self) -> Numbers:
        return self.recorded.time[self.recorded.last]

    @property
    def has_rate(self) -> Mask:
        """Whether it is known how fast events of each KEY come."""
        return self.rate.known | (self.doubt.rate is not None and not isinstance(self.doubt.rate, str))

    def counts(self) -> list[Finding]:
        count, last = self.count, self.recorded.last
        number = self.recorded.number[last]
        is_odd = count.known & (count.least % 2 == 1) & (self.doubt.role is not None)
        return [
            count.differing(Reason.BAD_COUNT),
            Finding(
                Reason.BAD_COUNT,
                count.known & (count.least < number),
                lambda key: (
                    f"`{count.column}` is {count.least[key]}, and there is"
                    f" {'an' if self.recorded.is_event[last[key]] else 'a'} {self.recorded.named(last[key])}"
                ),
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
                lambda key: f"`{lo.column}` is {lo.least[key]}, after {self._first(key)} at {since[key]}",
            ),
            Finding(
                Reason.BAD_BOUNDS,
                hi.known & (hi.least < until),
                lambda key: f"`{hi.column}` is {hi.least[key]}, before {self._last(key)} at {until[key]}",
            ),
        ]

    def rates(self) -> list[Finding]:
        rate = self.rate
        rates: NDArray[np.float64] = rate.least.astype(np.float64)
        return [
            Finding(
                Reason.BAD_RATE,
                rate.known & ~(np.isfinite(rates) & (rates > 0)),
                lambda key: f"`{rate.column}` is {number_words(rates[key])}, expected a positive number",
            ),
            rate.differing(Reason.BAD_RATE),
        ]

    def windows(self) -> list[Finding]:
        """Losses at the ends, and the room that bounds leave for them."""
        before, after = self.n_before, self.n_after
        lo, hi, since, until = self.lo, self.hi, self.since, self.until
        is_closed = hi.known | (self.doubt.timeout is not None)
        return [
            Finding(
                Reason.ZERO_WINDOW,
                (before > 0) & lo.known & (lo.least == since),
                lambda key: (
                    f"{before[key]} lost before {self._first(key)}, and `{lo.column}` is its time, {since[key]}"
                ),
            ),
            Finding(
                Reason.ZERO_WINDOW,
                (after > 0) & hi.known & (hi.least == until),
                lambda key: f"{after[key]} lost after {self._last(key)}, and `{hi.column}` is its time, {until[key]}",
            ),
            Finding(
                Reason.MISSING_BOUND,
                (before > 0) & ~lo.known & ~self.has_rate,
                lambda key: f"{before[key]} lost before {self._first(key)}, and nothing says since when",
            ),
            Finding(
                Reason.MISSING_BOUND,
                (after > 0) & ~is_closed & ~self.has_rate,
                lambda key: f"{after[key]} lost after {self._last(key)}, and nothing says until when",
            ),
        ]

    def _first(self, key: int) -> str:
        is_event = self.recorded.is_event[self.recorded.first[key]]
        return "the first recorded event" if is_event else "the first mark"

    def _last(self, key: int) -> str:
        is_event = self.recorded.is_event[self.recorded.last[key]]
        return "the last recorded event" if is_event else "the last mark"
