"""Checks of streams with sequence numbers: numbers, times, counts, bounds, rates and roles of a KEY must be consistent.

A KEY that violates one of them is rejected as a whole, because its lost events are not defined.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from inkling.io.checks.findings import Finding, Numbers, Verdicts, number_words, numbered, split
from inkling.io.checks.marks import has_role, marks_in
from inkling.io.normalize import START
from inkling.io.rejects import NO_REJECTS, Reason, shown
from inkling.model.batch import Mask
from inkling.model.roles import CLOSING, END, OPENING
from inkling.model.runs import changes
from inkling.model.schema import StreamSchema
from inkling.model.uncertainty import LostEvents

_LEAST, _MOST = np.iinfo(np.int64).min, np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Recorded:
    """Columns of the rows sorted by KEY and number, marks after the event with the same number.

    `order` maps a sorted position to a position in the table. The rows of KEY k are `offsets[k]:offsets[k + 1]`.
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


@dataclass(frozen=True, slots=True)
class Declared:
    """The value of a column per KEY, if it is `known`; it is consistent if `least` and `most` are equal."""

    column: str
    known: Mask
    least: Numbers
    most: Numbers

    @classmethod
    def of(cls, column: str | None, rows: pa.Table, recorded: Recorded) -> Declared:
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
class SegmentEnds:
    """What rows declare about the ends of each KEY: the number of events, time bounds, a rate, a last event."""

    uncertainty: LostEvents
    recorded: Recorded
    count: Declared
    lo: Declared
    hi: Declared
    rate: Declared
    ended: Mask

    @classmethod
    def of(cls, uncertainty: LostEvents, rows: pa.Table, recorded: Recorded) -> SegmentEnds:
        lo, hi = uncertainty.bounds or (None, None)
        rate = uncertainty.rate if isinstance(uncertainty.rate, str) else None
        count, low, high, speed = (Declared.of(column, rows, recorded) for column in (uncertainty.count, lo, hi, rate))
        ends = has_role(rows, uncertainty, END)[recorded.order]
        return cls(uncertainty, recorded, count, low, high, speed, np.logical_or.reduceat(ends, recorded.first))

    @property
    def n_before(self) -> Numbers:
        """[KEY]: the number of events lost before the first row."""
        first = self.recorded.first
        return np.asarray(self.recorded.number[first] - self.recorded.is_event[first], np.int64)

    @property
    def n_after(self) -> Numbers:
        """[KEY]: the number of events lost after the last row, as far as a count or a timeout shows."""
        last = self.recorded.number[self.recorded.last]
        closing = np.where(self.ended | (self.uncertainty.timeout is None), 0, last % 2)
        return np.where(self.count.known, self.count.least - last, closing)

    @property
    def since(self) -> Numbers:
        """[KEY]: the time of the first row."""
        return self.recorded.time[self.recorded.first]

    @property
    def until(self) -> Numbers:
        return self.recorded.time[self.recorded.last]

    @property
    def has_rate(self) -> Mask:
        """[KEY]: whether the rate of events is known."""
        return self.rate.known | (self.uncertainty.rate is not None and not isinstance(self.uncertainty.rate, str))

    def counts(self) -> list[Finding]:
        count, last = self.count, self.recorded.last
        number = self.recorded.number[last]
        is_odd = count.known & (count.least % 2 == 1) & (self.uncertainty.role is not None)
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
                lambda key: f"`{count.column}` is {count.least[key]}, but events alternately open and close segments",
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
        """Faults at the ends: events lost there need a bound or a rate, and a window of positive length."""
        before, after = self.n_before, self.n_after
        lo, hi, since, until = self.lo, self.hi, self.since, self.until
        is_closed = hi.known | (self.uncertainty.timeout is not None)
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
                lambda key: f"{before[key]} lost before {self._first(key)}, without a lower bound of their time",
            ),
            Finding(
                Reason.MISSING_BOUND,
                (after > 0) & ~is_closed & ~self.has_rate,
                lambda key: f"{after[key]} lost after {self._last(key)}, without an upper bound of their time",
            ),
        ]

    def _first(self, key: int) -> str:
        is_event = self.recorded.is_event[self.recorded.first[key]]
        return "the first recorded event" if is_event else "the first mark"

    def _last(self, key: int) -> str:
        is_event = self.recorded.is_event[self.recorded.last[key]]
        return "the last recorded event" if is_event else "the last mark"


MOST_LOST = 10_000
"""The maximum number of consecutive lost events."""


def checked_numbers(
    schema: StreamSchema, uncertainty: LostEvents, rows: pa.Table, most_lost: int
) -> tuple[pa.Table, pa.Table]:
    """Good rows and rejects; a fault rejects all rows of its KEY.

    Exceptions: a row without a valid number, or after a timeout, is rejected alone.
    """
    rows, unnumbered = with_numbers(schema, uncertainty, rows)
    rows, after = _before_timeouts(schema, uncertainty, rows)
    if not len(rows):
        return rows, pa.concat_tables([unnumbered, after])
    recorded = Recorded.of(schema, uncertainty, rows)
    ends = SegmentEnds.of(uncertainty, rows, recorded)
    findings = [
        _repeated(recorded),
        *ends.counts(),
        *ends.bounds(),
        *ends.rates(),
        *_not_later(uncertainty, recorded),
        *ends.windows(),
        *([] if uncertainty.role is None else _wrong_roles(uncertainty.role, rows, recorded, ends)),
        _long_runs(recorded, ends, most_lost),
    ]
    verdicts = Verdicts.of(recorded.n_keys, findings)
    fault = cache(verdicts.fault)
    of_row = recorded.key_of_row
    good, rejects = split(schema, rows, verdicts.guilty[of_row], lambda place: fault(int(of_row[place])))
    return good, pa.concat_tables([unnumbered, after, rejects])


def with_numbers(schema: StreamSchema, uncertainty: LostEvents, rows: pa.Table) -> tuple[pa.Table, pa.Table]:
    if not len(rows):
        return rows, NO_REJECTS
    numbers = rows[uncertainty.number].combine_chunks()
    least = pa.array(np.where(marks_in(rows, uncertainty), 0, 1))
    findings = [
        Finding(Reason.NULL_NUMBER, _mask(pc.is_null(numbers)), lambda _: f"`{uncertainty.number}` is missing"),
        Finding(
            Reason.BAD_NUMBER,
            _mask(pc.fill_null(pc.less(numbers, least), False)),
            lambda place: f"`{uncertainty.number}` is {numbers[place]}, expected a number from {least[place]}",
        ),
    ]
    verdicts = Verdicts.of(len(rows), findings)
    return split(schema, rows, verdicts.guilty, verdicts.fault)


def _mask(truth: pa.Array) -> Mask:
    return np.asarray(truth.to_numpy(zero_copy_only=False), bool)


def _repeated(recorded: Recorded) -> Finding:
    both = recorded.is_event[1:] & recorded.is_event[:-1]
    same = recorded.continues & both & (recorded.number[1:] == recorded.number[:-1])

    def detail(key: int) -> str:
        number = recorded.number[recorded.first_with(same, key)]
        mine = slice(recorded.offsets[key], recorded.offsets[key + 1])
        n_events = (recorded.is_event[mine] & (recorded.number[mine] == number)).sum()
        return f"{n_events} events have the number {number}"

    return Finding(Reason.DUPLICATE_NUMBER, recorded.keys_with(same), detail)


def _not_later(uncertainty: LostEvents, recorded: Recorded) -> list[Finding]:
    """Faults of neighbors: the second row must be later than the first, except a mark at the time of its event."""
    step, lost = np.diff(recorded.number), recorded.lost_between
    tied = recorded.continues & (np.diff(recorded.time) == 0)
    in_no_time = tied & (lost > 0)
    both = recorded.is_event[1:] & recorded.is_event[:-1]
    is_segment = tied & (lost == 0) & both & (recorded.number[:-1] % 2 == 1) & (uncertainty.role is not None)
    backward = recorded.continues & (np.diff(recorded.time) < 0)
    out_of_order = backward | (tied & (lost == 0) & (step > 0) & ~is_segment)

    def about(reason: Reason, pairs: Mask, words: Callable[[int], str]) -> Finding:
        return Finding(reason, recorded.keys_with(pairs), lambda key: words(recorded.first_with(pairs, key)))

    def order(place: int) -> str:
        before, after = recorded.named(place), recorded.named(place + 1)
        return f"{after} is at {recorded.time[place + 1]}, not after {before} at {recorded.time[place]}"

    def segment(place: int) -> str:
        before, after = recorded.named(place), recorded.named(place + 1)
        return f"{before} opens a segment and {after} closes it, both at {recorded.time[place]}"

    def window(place: int) -> str:
        before, after = recorded.named(place), recorded.named(place + 1)
        return f"{lost[place]} lost between {before} and {after}, both at {recorded.time[place]}"

    return [
        about(Reason.NOT_INCREASING, out_of_order, order),
        about(Reason.ZERO_LENGTH_SEGMENT, is_segment, segment),
        about(Reason.ZERO_WINDOW, in_no_time, window),
    ]


def _long_runs(recorded: Recorded, ends: SegmentEnds, most_lost: int) -> Finding:
    longest = np.maximum.reduceat(np.append(recorded.lost_between, 0), recorded.first)
    longest = np.maximum(longest, np.maximum(ends.n_before, ends.n_after))
    return Finding(
        Reason.RUN_TOO_LONG,
        longest > most_lost,
        lambda key: f"{longest[key]} events in a row are lost, more than {most_lost}",
    )


def _wrong_roles(column: str, rows: pa.Table, recorded: Recorded, ends: SegmentEnds) -> list[Finding]:
    """Faults of roles: known words must fit the number of the event, other words must keep one parity within a KEY."""
    roles = rows[column].combine_chunks().take(pa.array(recorded.order)).cast(pa.string())
    words = pc.utf8_lower(roles)
    is_known = np.asarray(pc.is_valid(words).to_numpy(zero_copy_only=False), bool) & recorded.is_event
    opens, closes = (_among(words, meant) for meant in (OPENING, CLOSING))
    is_odd = recorded.number % 2 == 1
    word = numbered([recorded.key, words], len(words))
    first = np.unique(word, return_index=True)[1]  # first row of each word in a KEY
    means_opening = np.where(opens, True, np.where(closes, False, is_odd[first][word]))

    def wrong(is_wrong: Mask, about: str) -> Finding:
        def detail(key: int) -> str:
            begin = int(recorded.offsets[key])
            place = begin + int(np.argmax(is_wrong[begin : recorded.offsets[key + 1]]))
            does = about or ("opens a segment" if is_odd[place] else "closes a segment")
            return f"event {recorded.number[place]} {does}, and its `{column}` is {shown(roles[place].as_py())}"

        mask = np.bincount(recorded.key[is_wrong], minlength=recorded.n_keys) > 0
        return Finding(Reason.ROLE_MISMATCH, mask, detail)

    number, key = recorded.number, recorded.key
    is_followed = number[recorded.last][key] > number
    is_last = ends.count.known[key] & (ends.count.least[key] == number)
    may_be_last = ~is_followed & (is_last | ~ends.count.known[key])
    return [
        wrong(is_known & (means_opening != is_odd), ""),
        wrong(is_known & _among(words, {"start"}) & (number != 1), "is not the first"),
        wrong(is_known & _among(words, {"resume"}) & (number == 1), "is the first"),
        wrong(is_known & _among(words, {"suspend"}) & is_last, "is the last"),
        wrong(is_known & _among(words, {"end"}) & ~may_be_last, "is not the last"),
    ]


def _among(words: pa.Array, meant: frozenset[str] | set[str]) -> Mask:
    return np.asarray(pc.is_in(words, pa.array(sorted(meant), pa.string())).to_numpy(zero_copy_only=False), bool)


def _before_timeouts(schema: StreamSchema, uncertainty: LostEvents, rows: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Rows up to the timeout of their KEY, and rejects for later ones."""
    if uncertainty.timeout is None or not len(rows):
        return rows, NO_REJECTS
    most = schema.units(uncertainty.timeout)
    key, time = numbered([rows[name] for name in schema.key], len(rows)), rows[START].to_numpy()
    order = np.lexsort((time, key))
    begins = changes(key[order])
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
    """The detail of a reject after a timeout."""
    return f"it is at {time}, and its key was closed at {closed}"
