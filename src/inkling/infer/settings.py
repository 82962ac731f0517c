"""Settings of inference: names of columns, the grid of time steps, and checks of options."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import TypeAlias

from inkling.errors import InputError
from inkling.model.time import MICROSECONDS, Clock

Length: TypeAlias = int | str | timedelta
"""Ticks, or a length of time such as `'5 seconds'`."""

Moment: TypeAlias = int | str | datetime
"""A tick, or a time; one without a zone is read as UTC."""

_WRITTEN = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]+)?\s*")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Names:
    """The names of the columns of readings and of results."""

    key: tuple[str, ...] = ("key",)
    time: str = "t"
    reader: str = "reader"
    value: str = "value"
    state: str = "state"
    previous: str = "previous"
    prob: str = "p"
    left_out: str = "left_out"

    def __post_init__(self) -> None:
        out = (*self.key, self.time, self.previous, self.state, self.prob, self.left_out)
        twice = next((name for name in out if out.count(name) > 1), None)
        if twice is not None or not self.key:
            raise wrong_option(f"two columns of the result are called `{twice}`" if twice else "there is no key column")


@dataclass(frozen=True, slots=True)
class Grid:
    """Time steps: step n is [n * every, (n + 1) * every), from tick 0 or from 1970-01-01 UTC."""

    clock: Clock
    every: int
    first: int | None  # first step of all keys; None: the step of their first reading
    last: int | None  # last step of all keys; None: the step of their last reading

    @classmethod
    def of(cls, clock: Clock, every: Length, start: Moment | None, stop: Moment | None) -> Grid:
        length = _length(every, clock)
        first = None if start is None else _moment(start, clock) // length
        last = None if stop is None else _moment(stop, clock) // length
        if first is not None and last is not None and last < first:
            raise wrong_option(f"the stop, {stop}, is before the start, {start}")
        return cls(clock, length, first, last)


def step_of(grid: Grid, moment: Moment) -> int:
    """The step that contains a moment."""
    return _moment(moment, grid.clock) // grid.every


def require_share(prune: float) -> None:
    if not 0 <= prune < 1:
        raise wrong_option(f"`prune` is a probability from 0 to just below 1, found {prune:g}")


def require_particles(n: int, seed: int) -> None:
    if n < 1:
        raise wrong_option(f"expected at least one particle, found {n}")
    if seed < 0:
        raise wrong_option(f"expected a seed of 0 or more, found {seed}")


def _length(every: Length, clock: Clock) -> int:
    length = _written(every) if isinstance(every, str) else every
    if isinstance(length, timedelta):
        if clock is Clock.TICKS:
            raise wrong_option(f"the readings count ticks, so `every` is a whole number, found {every}")
        length //= timedelta(microseconds=1)
    elif clock is Clock.TIMESTAMP:
        raise wrong_option(
            f"the readings have timestamps, so `every` is a length of time, found {every}",
            help="write, for example, `5 seconds`",
        )
    if length < 1:
        raise wrong_option(f"a step must be longer than zero, found every={every}")
    return length


def _written(text: str) -> int | timedelta:
    found = _WRITTEN.fullmatch(text)
    if found is None:
        raise wrong_option(f"`every` is a number or a length of time, found {text!r}", help="write `5 seconds`")
    amount, unit = Fraction(found[1]), (found[2] or "TICKS").upper()
    unit = unit if unit.endswith("S") else f"{unit}S"
    if unit == "TICKS" and amount.denominator == 1:
        return int(amount)
    if unit not in MICROSECONDS:
        raise wrong_option(f"`every` is a number or a length of time, found {text!r}", help="write `5 seconds`")
    return timedelta(microseconds=int(amount * MICROSECONDS[unit]))


def _moment(moment: Moment, clock: Clock) -> int:
    given = moment
    if isinstance(moment, str):
        try:
            moment = int(moment) if moment.lstrip("-").isdecimal() else datetime.fromisoformat(moment)
        except ValueError:
            raise wrong_option(f"expected a tick or a time, found {given!r}") from None
    if isinstance(moment, datetime):
        if clock is Clock.TICKS:
            raise wrong_option(f"the readings count ticks, found the time {given}")
        aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
        return (aware - _EPOCH) // timedelta(microseconds=1)
    if clock is Clock.TIMESTAMP:
        raise wrong_option(f"the readings have timestamps, found the number {given}")
    return moment


def wrong_option(message: str, *, help: str | None = None) -> InputError:
    return InputError.of("INK0669", message, helps=() if help is None else (help,))
