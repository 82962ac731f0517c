"""Clocks, durations, instants, and the time unit of a program, to which written durations are converted."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

MICROSECONDS = {
    "MICROSECONDS": 1,
    "MILLISECONDS": 1_000,
    "SECONDS": 1_000_000,
    "MINUTES": 60_000_000,
    "HOURS": 3_600_000_000,
    "DAYS": 86_400_000_000,
    "WEEKS": 604_800_000_000,
}
"""Microseconds per calendar unit; the only other unit is `TICKS`, the integers of the stream."""


EPOCHS = {
    "SECONDS": Fraction(1_000_000),
    "MILLISECONDS": Fraction(1_000),
    "MICROSECONDS": Fraction(1),
    "NANOSECONDS": Fraction(1, 1_000),
}
"""Microseconds per unit of numbers that count the time since 1970."""


FARTHEST = 2**61
"""The largest absolute value of a time, and the longest duration; so a sum of both fits into 64 bits."""


FOREVER = 2**62
"""A watermark later than all events."""


class Clock(Enum):
    """The unit of the numbers in a time column."""

    TIMESTAMP = "timestamp"  # microseconds since 1970-01-01T00:00:00Z
    TICKS = "ticks"  # plain integers


YEARS_US = (-62_135_596_800_000_000, 253_402_300_799_999_999)
"""The first microsecond of the year 1 and the last one of the year 9999, which are the limits of timestamps."""


def limits(clock: Clock) -> tuple[int, int]:
    """The earliest and the latest time of a row."""
    return YEARS_US if clock is Clock.TIMESTAMP else (-FARTHEST, FARTHEST)


def limits_in_words(clock: Clock) -> str:
    return "a time of the years 1 to 9999" if clock is Clock.TIMESTAMP else f"a time within {FARTHEST} of zero"


@dataclass(frozen=True, slots=True)
class Duration:
    """A duration as written in a program: an amount and a unit."""

    amount: Fraction
    unit: str

    def units(self, clock: Clock, tick: Duration | None = None) -> int:
        """The duration in the unit of a clock; raises `ValueError` if it is not a whole number of units."""
        if clock is Clock.TIMESTAMP:
            if self.unit == "TICKS" and tick is not None:
                return _whole(self.amount * tick.amount * MICROSECONDS[tick.unit], self)
            if self.unit == "TICKS":
                raise ValueError("TICKS need a time column of integers")
            return _whole(self.amount * MICROSECONDS[self.unit], self)
        if self.unit == "TICKS":
            return _whole(self.amount, self)
        if tick is None:
            raise ValueError(f"{self} needs timestamps, or TICK to say how long one tick lasts")
        one_tick = tick.amount * MICROSECONDS[tick.unit]
        return _whole(self.amount * MICROSECONDS[self.unit] / one_tick, self)

    def is_on_grid(self, tick: Duration) -> bool:
        """Whether the duration is a whole number of ticks."""
        length = self.amount if self.unit == "TICKS" else self.amount * MICROSECONDS[self.unit] / tick.microseconds
        return length.denominator == 1

    @property
    def microseconds(self) -> Fraction:
        """The duration in microseconds; its unit must not be `TICKS`."""
        return self.amount * MICROSECONDS[self.unit]

    def length(self, tick: Duration | None) -> Fraction:
        """The duration in microseconds, or in ticks if the duration of a tick is unknown."""
        if self.unit != "TICKS":
            return self.microseconds
        return self.amount if tick is None else self.amount * tick.microseconds

    def __str__(self) -> str:
        return f"{float(self.amount):g} {self.unit}"


def _whole(value: Fraction, span: Duration) -> int:
    if value.denominator != 1:
        raise ValueError(f"{span} is not a whole number of ticks")
    return int(value)


UNORDERED = 2**62
"""Larger than any place that `ORDER BY` gives."""


@dataclass(frozen=True, slots=True, order=True)
class Instant:
    """A point in time, with the place among simultaneous events if the stream declares `ORDER BY`."""

    time: int
    place: int = 0

    @property
    def listed(self) -> tuple[int, int]:
        """The sort key in listings, which need an order even where the semantics has none."""
        return (self.time, 0 if abs(self.place) == UNORDERED else self.place)


def before(left_end: Instant, right_start: Instant, *, ordered: bool) -> bool:
    """Whether an event that ends at `left_end` precedes one that starts at `right_start`.

    One of two simultaneous events precedes the other only if the stream is totally ordered.
    """
    if ordered:
        return left_end < right_start
    return left_end.time < right_start.time


@dataclass(frozen=True, slots=True)
class TimeUnit:
    """The unit that a clock counts; `unit(span)` is the length of a written duration.

    `tick` is the duration that `TICK` declares. With a `scale` above 1, times count fractions of the unit, so that lost
    events have times between two units.

    >>> from fractions import Fraction
    >>> TimeUnit(Clock.TICKS, scale=4)(Duration(Fraction(3), "TICKS"))
    12
    """

    clock: Clock
    tick: Duration | None = None
    scale: int = 1

    def __call__(self, span: Duration) -> int:
        return span.units(self.clock, self.tick) * self.scale
