"""Checks that durations and points in time of a program match the clocks of its streams (timestamps or ticks)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from inkling import source as text
from inkling.language import syntax as s
from inkling.logical.binding.catalog import Catalog, Timing
from inkling.logical.binding.diagnostics import Diagnostics, listed
from inkling.logical.plan import TicksOnly
from inkling.model.time import FARTHEST, Clock, Duration


@dataclass(slots=True)
class TimeUses:
    """The durations, plain numbers used as ticks, points in time and POINTS of one statement, each with its span.

    `dates_only` are times and lengths of time as RDF terms, if times might be integers.
    """

    spans: list[tuple[Duration, text.Span]] = field(default_factory=list)
    ticks_only: list[tuple[str, text.Span]] = field(default_factory=list)
    dates_only: list[tuple[str, text.Span]] = field(default_factory=list)
    moments: list[tuple[Duration, text.Span]] = field(default_factory=list)
    points: list[tuple[str, text.Span]] = field(default_factory=list)


def check_times(
    uses: TimeUses, streams: Iterable[str], at: text.Span, catalog: Catalog, diagnostics: Diagnostics
) -> tuple[TicksOnly, ...]:
    """Reports durations that do not match the clock; returns uses that only the data can decide."""
    names = tuple(sorted(streams))
    timings = {name: catalog.timings[name] for name in names if name in catalog.timings}
    if _disagree(timings, at, diagnostics):
        return ()
    stamped = [name for name, timing in timings.items() if timing.clock is Clock.TIMESTAMP]
    for span, where in uses.spans:
        _check_span(span, where, timings, diagnostics)
    for moment, where in uses.moments:
        _check_moment(moment, where, timings, diagnostics)
    on_grid = bool(timings) and all(timing.is_grid for timing in timings.values())
    in_ticks = [*([] if on_grid else uses.points), *uses.ticks_only]
    for words, where in in_ticks:
        if stamped:
            diagnostics.error(
                "INK0304",
                f"`{words}` uses a plain number as a length of time",
                where,
                notes=[f"the times of {listed(stamped)} are timestamps, not ticks"],
                helps=["write the unit, for example `30 SECONDS`", *(_TICK if (words, where) in uses.points else ())],
            )
    ticking = [name for name, timing in timings.items() if timing.clock is Clock.TICKS]
    for words, where in uses.dates_only:
        if ticking:
            diagnostics.error(
                "INK0304",
                f"`{words}` is a date or a length of time",
                where,
                notes=[f"the times of {listed(ticking)} are integers"],
            )
    dates = (TicksOnly(names, words, where, needs_dates=True) for words, where in uses.dates_only)
    return (*(TicksOnly(names, words, where) for words, where in in_ticks), *dates)


_TICK = ("or declare the length of a tick in every stream: `TICK 1 SECONDS`",)


def _disagree(timings: dict[str, Timing], at: text.Span, diagnostics: Diagnostics) -> bool:
    stamped = [name for name, timing in timings.items() if timing.clock is Clock.TIMESTAMP]
    ticking = [name for name, timing in timings.items() if timing.clock is Clock.TICKS]
    if stamped and ticking:
        diagnostics.error(
            "INK0303",
            "one event cannot mix timestamps and ticks",
            at,
            notes=[f"times are timestamps in {listed(stamped)} and integers in {listed(ticking)}"],
        )
        return True
    ticks = {name: timing.tick for name, timing in timings.items() if timing.tick is not None}
    if len(set(ticks.values())) > 1:
        written = ", ".join(f"`{name}` {tick}" for name, tick in ticks.items())
        diagnostics.error(
            "INK0303", "one event cannot mix ticks of different length", at, notes=[f"one tick lasts: {written}"]
        )
        return True
    return False


def _check_span(span: Duration, where: text.Span, timings: dict[str, Timing], diagnostics: Diagnostics) -> None:
    tick = next((timing.tick for timing in timings.values() if timing.tick is not None), None)
    for name, timing in timings.items():
        if timing.clock is None:
            continue
        try:
            span.units(timing.clock, tick)
            if timing.clock is Clock.TIMESTAMP and tick is not None and not span.is_on_grid(tick):
                raise ValueError(f"{span} is not a whole number of ticks, which last {tick} each")
        except ValueError as problem:
            written = diagnostics.text_of(where)
            counted = "timestamps" if timing.clock is Clock.TIMESTAMP else "integers"
            helps = []
            if timing.is_grid:
                helps = [f"write whole ticks, or change `TICK {tick}` of the stream"]
            elif timing.clock is Clock.TIMESTAMP:
                helps = ["write a unit of time, for example `30 SECONDS`"]
            elif tick is None:
                helps = ["write `TICKS`, or declare the length of a tick in the stream: `TICK 1 SECONDS`"]
            diagnostics.error(
                "INK0304",
                f"`{written}` cannot be measured in the times of `{name}`",
                where,
                str(problem),
                notes=[f"the time column of `{name}` holds {counted}"],
                helps=helps,
            )
            return


_EXAMPLES = {Clock.TICKS: "`AT 100`", Clock.TIMESTAMP: "`AT '2024-05-01 10:00:00'`"}


def to_moment(node: s.AtTime, uses: list[tuple[Duration, text.Span]], diagnostics: Diagnostics) -> Duration:
    """A point in time as its distance from the zero of its clock; it is added to the uses of time."""
    value = node.time.value
    if isinstance(value, int):
        moment = Duration(Fraction(value), "TICKS")
    else:
        from inkling.io.spellings import (  # imported late: only programs with dates need the readers of files
            MisspelledError,
            read_instant,
        )

        try:
            moment = Duration(Fraction(read_instant(str(value).strip())), "MICROSECONDS")
        except MisspelledError:
            diagnostics.error(
                "INK0361",
                f"`{value}` is not a date and time",
                node.time,
                helps=[f"write for example {_EXAMPLES[Clock.TIMESTAMP]}"],
            )
            return Duration(Fraction(0), "TICKS")
    if abs(moment.amount) > FARTHEST:
        diagnostics.error("INK0361", "this time is out of range", node.time)
        return Duration(Fraction(0), "TICKS")
    uses.append((moment, node.span))
    return moment


def _check_moment(moment: Duration, where: text.Span, timings: Mapping[str, Timing], diagnostics: Diagnostics) -> None:
    """Reports ticks over streams of timestamps, and dates over streams of integers."""
    clock = Clock.TICKS if moment.unit == "TICKS" else Clock.TIMESTAMP
    for name, timing in timings.items():
        if timing.clock is None or timing.clock is clock:
            continue
        holds = "integers" if timing.clock is Clock.TICKS else "timestamps"
        diagnostics.error(
            "INK0361",
            f"the times of `{name}` are {holds}",
            where,
            "this is a tick" if clock is Clock.TICKS else "this is a date",
            helps=[f"write for example {_EXAMPLES[timing.clock]}"],
        )
        return


def report_pattern_without_events(decl: s.EventDecl, diagnostics: Diagnostics) -> None:
    diagnostics.error(
        "INK0360",
        "this pattern can match without an event",
        decl.body.pattern,
        notes=["AT is a time, not an event; a match needs at least one event"],
        helps=["add an event: `SEQ(AT 100, A a)`"],
    )
