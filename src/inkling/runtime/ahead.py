"""The guard of running streams: rows far in the future are rejects, because they would make all later rows late.

A timestamp is credible up to `AHEAD` after the row arrived, one day by default. The time of arrival is a clock of the
machine, so nothing depends on the order of rows, on pauses of a stream, or on how rows are divided into steps; rows of
the past are always credible. Integers have no clock. They are guarded only where the stream declares `AHEAD`: a time is
credible if a chain of rows leads to it from the newest credible time so far, in which no step is longer than that. The
first rows of a stream begin at their middle, so that no single row decides for all others.

>>> ticks = FutureGuard("S", "@end", 10, "10 ticks", Clock.TICKS)
>>> limit = ticks.limit(np.array([3, 12, 99, 20]), newest=5, now_us=0)
>>> limit.latest, limit.reason
(20, 'more than 10 ticks after the newest time of `S`')
"""

import time
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from inkling.errors import InputError
from inkling.io.normalize import LatestTime
from inkling.logical.printing.text import span_text
from inkling.logical.settings import SettingError, span_of
from inkling.model.schema import StreamSchema
from inkling.model.time import Clock, Duration
from inkling.physical.streams import time_of

USUAL = Duration(Fraction(1), "DAYS")
OFF = "none"


@dataclass(frozen=True, slots=True)
class FutureGuard:
    """The guard of one stream; `ahead` is in units of its clock, `column` is the time that moves its watermark."""

    stream: str
    column: str
    ahead: int
    length: str
    clock: Clock

    def limit(self, times: NDArray[np.int64], newest: int | None, now_us: int) -> LatestTime | None:
        """The latest credible time of rows that arrive together, if one of them is later."""
        if not len(times):
            return None
        latest, reference = now_us + self.ahead, "its arrival"
        if self.clock is Clock.TICKS:
            latest, reference = self._reached(times, newest), f"the newest time of `{self.stream}`"
        if int(times.max()) <= latest:
            return None
        return LatestTime(self.column, latest, f"more than {self.length} after {reference}")

    def _reached(self, times: NDArray[np.int64], newest: int | None) -> int:
        ordered = np.sort(times)
        first = int(ordered[(len(ordered) - 1) // 2]) if newest is None else newest
        if int(ordered[-1]) <= first + self.ahead:
            return first + self.ahead
        later = np.concatenate([[first], ordered[ordered > first]])
        too_long = np.flatnonzero(np.diff(later) > self.ahead)
        return int(later[too_long[0]] if len(too_long) else later[-1])


def guard_of(schema: StreamSchema, clock: Clock, override: str | None = None) -> FutureGuard | None:
    """The guard of a stream; `override` is a duration in place of the declared one, or `none`."""
    if override is not None and override.strip().lower() == OFF:
        return None
    span = schema.ahead if override is None else span_of(override)
    if span is None:
        if clock is Clock.TICKS:
            return None
        span = USUAL
    try:
        ahead = span.units(clock, schema.tick)
    except ValueError as problem:
        raise InputError.of("INK0622", f"`ahead` of `{schema.name}`: {problem}") from None
    return FutureGuard(schema.name, time_of(schema), ahead, span_text(span), clock)


def require_length(override: str | None) -> None:
    """Reject a text that is neither a duration nor `none`."""
    try:
        if override is not None and override.strip().lower() != OFF:
            span_of(override)
    except SettingError as problem:
        raise InputError.of(
            "INK0622", f"`ahead`: {problem}", helps=("write a length of time such as `2 HOURS`, or `none`",)
        ) from None


def now_us() -> int:
    """The present, in microseconds since 1970."""
    return time.time_ns() // 1000
