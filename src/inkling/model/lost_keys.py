"""One key of a stream with lost events: its recorded events, and the time ranges of its lost ones.

Sequence numbers are consecutive per key. Recorded events, marks and bounds are the entries of its *sequence log*: an
entry is the number of events up to its time. Events whose numbers are missing between two entries were lost.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from inkling.model.roles import CLOSING, END, OPENING, Roles, fits, in_the_middle, is_mark, role_of
from inkling.model.schema import StreamSchema
from inkling.model.uncertainty import LostEvents, Row, Rows, exact


@dataclass(frozen=True, slots=True, order=True)
class LogEntry:
    """The number of events up to a time; the last of them happened at this time, unless the entry is a mark."""

    number: int
    is_mark: bool
    time: Fraction


@dataclass(frozen=True, slots=True)
class LostRun:
    """Consecutive lost events `first` to `last`, and the times that enclose them."""

    first: int
    last: int
    lo: Fraction
    hi: Fraction

    @property
    def numbers(self) -> range:
        return range(self.first, self.last + 1)


@dataclass(frozen=True, slots=True)
class LosingKey:
    """The rows of one key; raises `ValueError` if they contradict each other.

    With `begun`, the rows are those after a time at which the stream begins for a new event. Events that were lost
    before the first row then count only if BOUNDS say that they happened after that time.
    """

    schema: StreamSchema
    rows: Rows
    begun: int | None = None

    @property
    def uncertainty(self) -> LostEvents:
        assert isinstance(self.schema.uncertainty, LostEvents)
        return self.schema.uncertainty

    @property
    def key(self) -> Row:
        return {name: self.rows[0][name] for name in self.schema.key}

    @property
    def events(self) -> list[Row]:
        return [row for row in self.rows if not marks(row, self.uncertainty)]

    @property
    def log(self) -> list[LogEntry]:
        """Recorded events and marks, by number."""
        return sorted(
            LogEntry(number_of(row, self.uncertainty), marks(row, self.uncertainty), exact(row[self.schema.start]))
            for row in self.rows
        )

    @property
    def n_uncounted(self) -> int:
        """How many events before the first row do not count, because they may have happened before the stream began."""
        lo, first = self._bounds()[0], self.log[0]
        counts = self.begun is None or (lo is not None and lo >= self.begun)
        return 0 if counts else first.number - (not first.is_mark)

    @property
    def is_empty(self) -> bool:
        """Whether the key has marks only, and no event counts."""
        return self.total == self.n_uncounted

    @property
    def total(self) -> int:
        """The number of events of the key, recorded and lost."""
        last = self.log[-1].number
        if self._has_ended:
            return last
        count = self._shared(self.uncertainty.count)
        if count is not None:
            return int(exact(count))
        is_open = last % 2 == 1 and self.uncertainty.timeout is not None
        return last + 1 if is_open else last

    def runs(self) -> Iterator[LostRun]:
        """The events that were lost before, between and after the entries of the log."""
        self._require_order()
        self._require_roles()
        log = self.log
        lo, hi = self._bounds()
        borders = [*([] if lo is None or self.n_uncounted else [LogEntry(0, True, lo)]), *log]
        if hi is not None:
            borders.append(LogEntry(self.total, True, hi))
        is_open = borders[0].number - (not borders[0].is_mark) > self.n_uncounted
        if is_open or borders[-1].number < self.total:
            reason = (
                "a run that a RATE limits has no exact probability" if self.uncertainty.rate else "BOUNDS are missing"
            )
            raise ValueError(f"events were lost before the first or after the last recorded one: {reason}")
        for before, after in pairwise(borders):
            last = after.number - (not after.is_mark)
            if last <= before.number:
                continue
            if after.time <= before.time:
                raise ValueError(f"events {before.number + 1} to {last} were lost in no time")
            yield LostRun(before.number + 1, last, before.time, after.time)

    def is_last(self, number: int) -> bool:
        """Whether an event is known to be the last one of the key."""
        declared = (
            self._has_ended or self.uncertainty.timeout is not None or self._shared(self.uncertainty.count) is not None
        )
        return declared and number == self.total

    @property
    def _has_ended(self) -> bool:
        role = self.uncertainty.role
        return role is not None and any(str(row.get(role)).lower() == END for row in self.events)

    def _shared(self, column: str | None) -> object:
        """The value of a column that all rows of the key share, or None."""
        declared = {value for row in self.rows if column is not None and (value := row.get(column)) is not None}
        if len(declared) > 1:
            raise ValueError(f"events of one key differ in `{column}`")
        return next(iter(declared), None)

    @property
    def _first_is_without_bounds(self) -> bool:
        first = min(self.rows, key=lambda row: (exact(row[self.schema.start]), number_of(row, self.uncertainty)))
        return self.uncertainty.bounds is not None and first.get(self.uncertainty.bounds[0]) is None

    def _bounds(self) -> tuple[Fraction | None, Fraction | None]:
        """The earliest and latest time of events; a timeout closes a key."""
        lo, hi = (
            None if (declared := self._shared(name)) is None else exact(declared)
            for name in self.uncertainty.bounds or (None, None)
        )
        first, last = self.log[0], self.log[-1]
        if self.begun is not None and lo is not None and lo >= self.begun and self._first_is_without_bounds:
            raise ValueError("the first row of the key does not state its BOUNDS")
        if (lo is not None and lo > first.time) or (hi is not None and hi < last.time):
            raise ValueError("BOUNDS do not lie around the recorded events")
        if self.uncertainty.timeout is not None:
            closed = last.time + self.schema.units(self.uncertainty.timeout)
            hi = closed if hi is None else min(hi, closed)
        return lo, hi

    def _require_order(self) -> None:
        """Times ascend with numbers; no row is after the timeout or after the last event of the key."""
        log = self.log
        for before, after in pairwise(log):
            if before.number == after.number and not after.is_mark:
                raise ValueError(f"number {after.number} is given twice")
            follows = after.number == before.number + (not after.is_mark) and after.number > before.number
            if after.time < before.time or (after.time == before.time and follows):
                raise ValueError(f"what is known of event {after.number} is not later than event {before.number}")
        for time, later in pairwise(sorted(entry.time for entry in log)):
            if self.uncertainty.timeout is not None and later - time > self.schema.units(self.uncertainty.timeout):
                raise ValueError(f"a row at {later} comes after the timeout")
        count = self._shared(self.uncertainty.count)
        if count is not None and int(exact(count)) < log[-1].number:
            raise ValueError(f"event {log[-1].number} of {count}")
        if count is not None and self.uncertainty.role is not None and int(exact(count)) % 2:
            raise ValueError(f"{count} events do not open and close segments in turn")
        if self._has_ended and count is not None and int(exact(count)) != self.total:
            raise ValueError(f"event {self.total} of {count} is the end")
        self._require_rate()

    def _require_rate(self) -> None:
        rate = self._shared(self.uncertainty.rate) if isinstance(self.uncertainty.rate, str) else None
        if rate is not None and exact(rate) <= 0:
            raise ValueError(f"a rate of arrivals is positive, got {rate}")

    def _require_roles(self) -> None:
        """Odd numbers open and even numbers close segments; a word has one of these roles in all events of a key."""
        role = self.uncertainty.role
        if role is None:
            return
        count = self._shared(self.uncertainty.count)
        total = None if count is None else int(exact(count))
        meant = dict.fromkeys(OPENING, 1) | dict.fromkeys(CLOSING, 0)
        for number, word in sorted(
            (number_of(row, self.uncertainty), row.get(role)) for row in self.events if row.get(role)
        ):
            is_followed = any(entry.number > number for entry in self.log)
            parity = meant.setdefault(str(word).lower(), number % 2)
            if parity != number % 2 or not fits(str(word), number, total, is_followed=is_followed):
                raise ValueError(f"event {number} has the role {word}")


def keys_of(rows: Rows, schema: StreamSchema, begun: int | None = None) -> list[LosingKey]:
    found: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(tuple(row[name] for name in schema.key), []).append(row)
    return [LosingKey(schema, some, begun) for some in found.values()]


def marks(row: Row, uncertainty: LostEvents) -> bool:
    """Whether a row is a mark: it reports the number of events so far and is no event."""
    return uncertainty.role is not None and is_mark(row.get(uncertainty.role))


def number_of(row: Row, uncertainty: LostEvents) -> int:
    given, least = row[uncertainty.number], 0 if marks(row, uncertainty) else 1
    if given is None or exact(given) < least:
        raise ValueError(f"events are numbered from 1, got {given}")
    return int(exact(given))


def declared_roles(keys: Sequence[LosingKey], uncertainty: LostEvents) -> Roles:
    """The words for events with even and odd numbers in a whole stream; the first in alphabetical order."""
    even, odd = (
        min(
            (
                in_the_middle(str(word))
                for key in keys
                for row in key.events
                if uncertainty.role is not None
                and (word := row.get(uncertainty.role)) is not None
                and number_of(row, uncertainty) % 2 == parity
            ),
            default=None,
        )
        for parity in (0, 1)
    )
    return even, odd


def lost_row(key: LosingKey, number: int, roles: Roles, known: Rows) -> Row:
    """A row for a lost event: its key, number and role, and the columns of a table of known events."""
    uncertainty = key.uncertainty
    role = {} if uncertainty.role is None else {uncertainty.role: role_of(roles, number, is_last=key.is_last(number))}
    about = {**key.key, uncertainty.number: number}
    declared = [row for row in known if all(row[name] == value for name, value in about.items() if name in row)]
    supplied = {name: value for row in declared for name, value in row.items() if value is not None}
    if any(supplied[name] != value for row in declared for name, value in row.items() if value is not None):
        raise ValueError(f"two things are known of event {number}")
    return {**supplied, **role, **about}
