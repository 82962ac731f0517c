"""The guard of running streams: rows far in the future are rejects, because they would make all later rows late.

A timestamp is credible up to `AHEAD` after the row arrived, one day by default. The time of arrival is a clock of the
machine, so nothing depends on the order of rows, on pauses of a stream, or on how rows are divided into steps; rows of
the past are always credible. Integers have no clock. They are guarded only where the stream declares `AHEAD`: a time is
credible if a chain of rows leads to it from the newest credible time so far, in which no step is longer than that. The
first rows of a stream begin at their middle, so that no single row decides for all others. Chains of rows that were
read in different places are joined (`Chain`), so many workers may read at once.

>>> ticks = FutureGuard("S", "@end", 10, "10 ticks", Clock.TICKS)
>>> limit = ticks.limit(np.array([3, 12, 99, 20]), newest=5, now_us=0)
>>> limit.latest, limit.reason
(20, 'more than 10 ticks after the newest time of `S`')
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from inkling.errors import InputError
from inkling.io.normalize import LatestTime
from inkling.logical.plan import ProgramPlan
from inkling.logical.printing.text import span_text
from inkling.logical.settings import SettingError, span_of
from inkling.model.batch import FOREVER
from inkling.model.schema import USUAL_AHEAD, StreamSchema
from inkling.model.time import Clock
from inkling.physical.streams import time_of

OFF = "none"

Chain: TypeAlias = tuple[int, int, int]
"""Rows of one stream without a gap longer than its guard allows: the first time, the last time, how many rows."""


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
        latest = now_us + self.ahead
        if self.clock is Clock.TICKS:
            latest = self.reached(self.chains(times), newest)
        return self.after(latest) if int(times.max()) > latest else None

    def after(self, latest: int) -> LatestTime:
        """The complaint about rows after the latest credible time."""
        reference = f"the newest time of `{self.stream}`" if self.clock is Clock.TICKS else "its arrival"
        return LatestTime(self.column, latest, f"more than {self.length} after {reference}")

    def chains(self, times: NDArray[np.int64]) -> list[Chain]:
        """Times of rows as chains, in order."""
        ordered = np.sort(times)
        gaps = np.diff(ordered.view(np.uint64))  # unsigned, so that the widest gap is not negative
        firsts = np.flatnonzero(gaps > self.ahead) + 1
        return [(int(part[0]), int(part[-1]), len(part)) for part in np.split(ordered, firsts) if len(part)]

    def reached(self, chains: Sequence[Chain], newest: int | None) -> int:
        """The latest time that chains lead to from the newest credible time, or else from the middle row."""
        ordered = self._joined(chains)
        if newest is None:
            middle = (sum(n for _, _, n in ordered) - 1) // 2
            before = 0
            for _, last, n in ordered:
                before += n
                if middle < before:
                    return last
        latest = -FOREVER if newest is None else newest
        for first, last, _ in ordered:
            if first - latest > self.ahead:
                break
            latest = max(latest, last)
        return latest

    def _joined(self, chains: Iterable[Chain]) -> list[Chain]:
        """Chains in order, joined where the gap between them is short enough."""
        found: list[Chain] = []
        for first, last, n in sorted(chains):
            if found and first - found[-1][1] <= self.ahead:
                before = found.pop()
                first, last, n = before[0], max(before[1], last), before[2] + n
            found.append((first, last, n))
        return found


def guard_of(schema: StreamSchema, clock: Clock, override: str | None = None) -> FutureGuard | None:
    """The guard of a stream; `override` is a duration in place of the declared one, or `none`."""
    if override is not None and override.strip().lower() == OFF:
        return None
    span = schema.ahead if override is None else span_of(override)
    if span is None:
        if clock is Clock.TICKS:
            return None
        span = USUAL_AHEAD
    try:
        ahead = span.units(clock, schema.tick)
    except ValueError as problem:
        raise InputError.of("INK0622", f"`ahead` of `{schema.name}`: {problem}") from None
    return FutureGuard(schema.name, time_of(schema), ahead, span_text(span), clock)


def guards_of_ticks(
    program: ProgramPlan, clocks: Mapping[str, Clock], override: str | None = None
) -> dict[str, FutureGuard]:
    """The guards of the streams that are read and whose times are integers."""
    streams = [one.schema for one in program.streams if clocks.get(one.schema.name) is Clock.TICKS]
    found = {schema.name: guard_of(schema, Clock.TICKS, override) for schema in streams}
    return {name: guard for name, guard in found.items() if guard is not None}


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
