"""Checks of rows with sequence numbers as they arrive: a row must not contradict earlier rows, which are evaluated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.evaluators.hashes import key_hashes, labels_of
from inkling.io.checks.findings import number_words, split
from inkling.io.checks.marks import marks_in
from inkling.io.checks.numbers import MOST_LOST, after_timeout
from inkling.io.normalize import END
from inkling.io.rejects import Reason, shown
from inkling.kernels.columns import numbered_rows as k
from inkling.kernels.columns.numbered_rows import NOT_GIVEN
from inkling.model.batch import Ints
from inkling.model.hashes import Hashes
from inkling.model.schema import StreamSchema
from inkling.model.uncertainty import LostEvents

WORDS = {"start": k.START, "resume": k.RESUME, "open": k.OPEN, "suspend": k.SUSPEND, "end": k.END, "close": k.CLOSE}


def numbered_on(
    schema: StreamSchema,
    uncertainty: LostEvents,
    known: pa.Table,
    fresh: pa.Table,
    open_since: int,
    *,
    begun: int,
    is_over: bool,
) -> tuple[pa.Table, pa.Table, pa.Table]:
    """Fresh rows that contradict neither known rows nor each other, rejects, and late rows.

    A first row of a key is late if events before it can have been lost before `open_since`, the time up to which lost
    events are final (NOT_GIVEN for none). Those that can have been lost before `begun` do not count. With `is_over`,
    the stream has ended, and open gaps are rejected.
    """
    rows = pa.concat_tables([known, fresh]).combine_chunks()
    arrivals = _ArrivedRows.of(schema, uncertainty, rows, len(known))
    fault, before = arrivals.judged(schema, open_since, begun)
    words = _FaultMessages(schema, uncertainty, rows, arrivals, before)
    faults = fault[len(known) :]
    late = faults == k.LATE
    bad = (faults != k.FINE) & ~late
    _, rejects = split(schema, fresh, bad, lambda place: words.about(len(known) + place, int(faults[place])))
    if is_over:
        rejects = pa.concat_tables([rejects, _open_ends(schema, uncertainty, rows, arrivals, fault)])
    return fresh.filter(pa.array(~bad & ~late)), rejects, fresh.filter(pa.array(late))


@dataclass(frozen=True, slots=True)
class _ArrivedRows:
    """Columns of known and fresh rows as numbers, for the kernel."""

    uncertainty: LostEvents
    n_known: int
    key: Hashes
    number: Ints
    time: Ints
    is_event: np.ndarray
    word: Ints
    role: Ints
    count: Ints
    since: Ints
    until: Ints
    rate: np.ndarray

    @classmethod
    def of(cls, schema: StreamSchema, uncertainty: LostEvents, rows: pa.Table, n_known: int) -> _ArrivedRows:
        since, until = uncertainty.bounds or (None, None)
        count, low, high = (_plain(rows, name) for name in (uncertainty.count, since, until))
        word, role = _roles(rows, uncertainty)
        return cls(
            uncertainty,
            n_known,
            key_hashes(schema, rows),
            rows[uncertainty.number].to_numpy(),
            rows[END].to_numpy(),
            ~marks_in(rows, uncertainty),
            word,
            role,
            count,
            low,
            high,
            _rates(rows, uncertainty),
        )

    @property
    def order(self) -> Ints:
        """The order of rows by key, time and number, marks after events."""
        return np.lexsort((~self.is_event, self.number, self.time, self.key))

    def judged(self, schema: StreamSchema, open_since: int, begun: int) -> tuple[Ints, Ints]:
        """The fault of every row, and the last row of its key before it without a fault, or -1."""
        order, uncertainty = self.order, self.uncertainty
        rows = k.NumberedColumns(
            self.key[order],
            order < self.n_known,
            self.number[order],
            self.time[order],
            self.is_event[order],
            self.word[order],
            self.role[order],
            self.count[order],
            self.since[order],
            self.until[order],
            self.rate[order],
        )
        fault, before = k.judged(
            rows,
            uncertainty.role is not None,
            -1 if uncertainty.timeout is None else schema.units(uncertainty.timeout),
            uncertainty.rate is not None and not isinstance(uncertainty.rate, str),
            MOST_LOST,
            open_since,
            begun,
        )
        found, previous = np.empty(len(order), np.int64), np.empty(len(order), np.int64)
        found[order], previous[order] = fault, np.where(before >= 0, order[before], -1)
        return found, previous


def _plain(rows: pa.Table, name: str | None) -> Ints:
    if name is None:
        return np.full(len(rows), NOT_GIVEN)
    return np.asarray(pc.fill_null(rows[name].cast(pa.int64()), NOT_GIVEN).to_numpy(), np.int64)


def _rates(rows: pa.Table, uncertainty: LostEvents) -> np.ndarray:
    if not isinstance(uncertainty.rate, str):
        return np.full(len(rows), np.nan)
    return np.asarray(pc.fill_null(rows[uncertainty.rate].cast(pa.float64()), np.nan).to_numpy(), np.float64)


def _roles(rows: pa.Table, uncertainty: LostEvents) -> tuple[Ints, Ints]:
    """The code of each known role, and a label per distinct role; -1 where a row has none."""
    if uncertainty.role is None:
        return np.zeros(len(rows), np.int64), np.full(len(rows), -1)
    words = pc.utf8_lower(rows[uncertainty.role].cast(pa.string())).combine_chunks()
    place = pc.index_in(words, pa.array(list(WORDS), pa.string()))
    known = pa.array(list(WORDS.values())).take(place)
    return np.asarray(pc.fill_null(known, k.NO_WORD).to_numpy(), np.int64), labels_of(words)


@dataclass(frozen=True, slots=True)
class _FaultMessages:
    """Reasons and details of rejects."""

    schema: StreamSchema
    uncertainty: LostEvents
    rows: pa.Table
    arrivals: _ArrivedRows
    before: Ints

    def about(self, place: int, fault: int) -> tuple[Reason, str]:
        arrivals, uncertainty, before = self.arrivals, self.uncertainty, int(self.before[place])
        number, time = arrivals.number[place], arrivals.time[place]
        since, until = uncertainty.bounds or ("", "")
        mine, last = self._named(place), self._named(before)
        lost = number - arrivals.is_event[place] - (0 if before < 0 else arrivals.number[before])
        match fault:
            case k.AFTER_TIMEOUT:
                assert uncertainty.timeout is not None
                closed = arrivals.time[before] + self.schema.units(uncertainty.timeout)
                return Reason.AFTER_TIMEOUT, after_timeout(time, closed)
            case k.DUPLICATE_NUMBER:
                return Reason.DUPLICATE_NUMBER, f"another event has the number {number}"
            case k.COUNT_DIFFERS:
                return Reason.BAD_COUNT, self._differing(uncertainty.count, arrivals.count, place)
            case k.COUNT_TOO_SMALL:
                there_is = f"there is {'an' if arrivals.is_event[place] else 'a'} {mine}"
                return (
                    Reason.BAD_COUNT,
                    f"`{uncertainty.count}` is {self._known(arrivals.count, place)}, and {there_is}",
                )
            case k.ODD_COUNT:
                odd = self._known(arrivals.count, place)
                return (
                    Reason.ODD_COUNT,
                    f"`{uncertainty.count}` is {odd}, but events alternately open and close segments",
                )
            case k.SINCE_DIFFERS:
                if self._known(arrivals.since, int(self.before[place])) == NOT_GIVEN:
                    about = f"`{since}` is {int(arrivals.since[place])}, which the first row of the key does not state"
                    return Reason.BAD_BOUNDS, about
                return Reason.BAD_BOUNDS, self._differing(since, arrivals.since, place)
            case k.UNTIL_DIFFERS:
                return Reason.BAD_BOUNDS, self._differing(until, arrivals.until, place)
            case k.BEFORE_SINCE:
                return Reason.BAD_BOUNDS, f"`{since}` is {self._known(arrivals.since, place)}, after {mine} at {time}"
            case k.AFTER_UNTIL:
                return Reason.BAD_BOUNDS, f"`{until}` is {self._known(arrivals.until, place)}, before {mine} at {time}"
            case k.BAD_RATE:
                rate = number_words(arrivals.rate[place])
                return Reason.BAD_RATE, f"`{uncertainty.rate}` is {rate}, expected a positive number"
            case k.RATE_DIFFERS:
                return (
                    Reason.BAD_RATE,
                    f"`{uncertainty.rate}` is {number_words(arrivals.rate[place])}, and had another value before",
                )
            case k.NOT_LATER:
                return Reason.NOT_INCREASING, f"{mine} is at {time}, and {last} is at {arrivals.time[before]}"
            case k.NO_SEGMENT:
                return Reason.ZERO_LENGTH_SEGMENT, f"{last} opens a segment and {mine} closes it, both at {time}"
            case k.NO_TIME_BETWEEN:
                return Reason.ZERO_WINDOW, f"{lost} lost between {last} and {mine}, both at {time}"
            case k.NO_TIME_BEFORE:
                return Reason.ZERO_WINDOW, f"{lost} lost before {mine}, and `{since}` is its time, {time}"
            case k.NO_TIME_AFTER:
                left = self._known(arrivals.count, place) - number
                return Reason.ZERO_WINDOW, f"{left} lost after {mine}, and `{until}` is its time, {time}"
            case k.NOTHING_SINCE:
                return Reason.MISSING_BOUND, f"{lost} lost before {mine}, without a lower bound of their time"
            case k.TOO_MANY_LOST:
                return Reason.RUN_TOO_LONG, f"{lost} events in a row are lost, more than {MOST_LOST}"
            case k.AFTER_THE_END:
                return Reason.ROLE_MISMATCH, f"{mine} arrived after {last}, the last event of its key"
            case _:
                return Reason.ROLE_MISMATCH, self._misplaced(place, fault)

    def _misplaced(self, place: int, fault: int) -> str:
        is_odd = self.arrivals.number[place] % 2
        does = {
            k.NOT_THE_FIRST: "is not the first",
            k.THE_FIRST: "is the first",
            k.THE_LAST: "is the last",
            k.NOT_THE_LAST: "is not the last",
        }.get(fault, "opens a segment" if is_odd else "closes a segment")
        role = self.uncertainty.role
        return f"{self._named(place)} {does}, and its `{role}` is {shown(self.rows[role][place].as_py())}"

    def _named(self, place: int) -> str:
        return f"{'event' if self.arrivals.is_event[place] else 'mark'} {self.arrivals.number[place]}"

    def _known(self, column: Ints, place: int) -> int:
        """The value in the row, or in the last earlier row of its key that has one."""
        while column[place] == NOT_GIVEN and self.before[place] >= 0:
            place = int(self.before[place])
        return int(column[place])

    def _differing(self, name: str | None, column: Ints, place: int) -> str:
        pair = sorted((int(column[place]), self._known(column, int(self.before[place]))))
        return f"`{name}` is {pair[0]} and {pair[1]} in events of one key"


def _open_ends(
    schema: StreamSchema, uncertainty: LostEvents, rows: pa.Table, arrivals: _ArrivedRows, fault: Ints
) -> pa.Table:
    """Rejects for the last rows of keys that lost events after them without a limit on their time."""
    order = arrivals.order[fault[arrivals.order] == k.FINE]
    is_last = np.append(arrivals.key[order][1:] != arrivals.key[order][:-1], True)[: len(order)]
    owner = np.cumsum(is_last) - is_last
    last = order[is_last]
    count, until = np.full(len(last), NOT_GIVEN), np.full(len(last), NOT_GIVEN)
    np.maximum.at(count, owner, arrivals.count[order])
    np.maximum.at(until, owner, arrivals.until[order])
    has_rate = np.full(len(last), uncertainty.rate is not None and not isinstance(uncertainty.rate, str))
    np.logical_or.at(has_rate, owner, ~np.isnan(arrivals.rate[order]))
    lost = count - arrivals.number[last]
    is_open = (count != NOT_GIVEN) & (lost > 0) & (until == NOT_GIVEN) & ~has_rate & (uncertainty.timeout is None)
    bad, about = np.zeros(len(rows), bool), dict(zip(last.tolist(), lost.tolist(), strict=True))
    bad[last[is_open]] = True

    def words(place: int) -> tuple[Reason, str]:
        kind = "event" if arrivals.is_event[place] else "mark"
        detail = f"{about[place]} lost after {kind} {arrivals.number[place]}, without an upper bound of their time"
        return Reason.MISSING_BOUND, detail

    return split(schema, rows, bad, words)[1]
