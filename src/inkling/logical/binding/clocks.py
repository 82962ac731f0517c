"""Whether the lengths of time in a program fit the times of its streams."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from inkling import source as text
from inkling.logical.binding.catalog import Catalog, Timing
from inkling.logical.binding.mistakes import Mistakes, listed
from inkling.logical.binding.moments import check_moment
from inkling.logical.plan import TicksOnly
from inkling.model.time import Clock, Span


@dataclass(slots=True)
class TimeUses:
    """Where one statement speaks of time: written durations, plain numbers read as ticks, numbers of time points."""

    spans: list[tuple[Span, text.Span]] = field(default_factory=list)
    ticks_only: list[tuple[str, text.Span]] = field(default_factory=list)
    moments: list[tuple[Span, text.Span]] = field(default_factory=list)
    points: list[tuple[str, text.Span]] = field(default_factory=list)


def check_times(
    uses: TimeUses, streams: Iterable[str], at: text.Span, catalog: Catalog, mistakes: Mistakes
) -> tuple[TicksOnly, ...]:
    """Reports durations that cannot be measured; returns what only the data can decide."""
    names = tuple(sorted(streams))
    timings = {name: catalog.timings[name] for name in names if name in catalog.timings}
    if _disagree(timings, at, mistakes):
        return ()
    stamped = [name for name, timing in timings.items() if timing.clock is Clock.TIMESTAMP]
    for span, where in uses.spans:
        _check_span(span, where, timings, mistakes)
    for moment, where in uses.moments:
        check_moment(moment, where, timings, mistakes)
    on_grid = bool(timings) and all(timing.is_grid for timing in timings.values())
    in_ticks = [*([] if on_grid else uses.points), *uses.ticks_only]
    for words, where in in_ticks:
        if stamped:
            mistakes.wrong(
                "INK0304",
                f"`{words}` takes a plain number for a length of time",
                where,
                notes=[f"the times of {listed(stamped)} are timestamps, not ticks"],
                helps=["write the unit, for example `30 SECONDS`", *(_TICK if (words, where) in uses.points else ())],
            )
    return tuple(TicksOnly(names, words, where) for words, where in in_ticks)


_TICK = ("say in every stream how long a tick of its timestamps lasts: `TICK 1 SECONDS`",)


def _disagree(timings: dict[str, Timing], at: text.Span, mistakes: Mistakes) -> bool:
    stamped = [name for name, timing in timings.items() if timing.clock is Clock.TIMESTAMP]
    ticking = [name for name, timing in timings.items() if timing.clock is Clock.TICKS]
    if stamped and ticking:
        mistakes.wrong(
            "INK0303",
            "one event cannot mix timestamps and ticks",
            at,
            notes=[f"times are timestamps in {listed(stamped)} and integers in {listed(ticking)}"],
        )
        return True
    ticks = {name: timing.tick for name, timing in timings.items() if timing.tick is not None}
    if len(set(ticks.values())) > 1:
        written = ", ".join(f"`{name}` {tick}" for name, tick in ticks.items())
        mistakes.wrong(
            "INK0303",
            "one event cannot mix ticks of different length",
            at,
            notes=[f"one tick lasts: {written}"],
        )
        return True
    return False


def _check_span(span: Span, where: text.Span, timings: dict[str, Timing], mistakes: Mistakes) -> None:
    tick = next((timing.tick for timing in timings.values() if timing.tick is not None), None)
    for name, timing in timings.items():
        if timing.clock is None:
            continue
        try:
            span.units(timing.clock, tick)
            if timing.clock is Clock.TIMESTAMP and tick is not None and not span.is_on_grid(tick):
                raise ValueError(f"{span} is not a whole number of ticks, which last {tick} each")
        except ValueError as problem:
            written = mistakes.words(where)
            counted = "timestamps" if timing.clock is Clock.TIMESTAMP else "integers"
            helps = []
            if timing.is_grid:
                helps = [f"write whole ticks, or change `TICK {tick}` of the stream"]
            elif timing.clock is Clock.TIMESTAMP:
                helps = ["write a unit of time, for example `30 SECONDS`"]
            elif tick is None:
                helps = ["write `TICKS`, or say in the stream how long one tick lasts: `TICK 1 SECONDS`"]
            mistakes.wrong(
                "INK0304",
                f"`{written}` cannot be measured in the times of `{name}`",
                where,
                str(problem),
                notes=[f"the time column of `{name}` holds {counted}"],
                helps=helps,
            )
            return
