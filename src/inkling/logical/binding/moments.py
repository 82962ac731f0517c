"""Moments of the clock in patterns: how they are written, and whether they fit the times of the streams."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from inkling import source as text
from inkling.language import syntax as s
from inkling.logical.binding.catalog import Timing
from inkling.logical.binding.mistakes import Mistakes
from inkling.model.time import FARTHEST, Clock, Span

_EXAMPLES = {Clock.TICKS: "`AT 100`", Clock.TIMESTAMP: "`AT '2024-05-01 10:00:00'`"}


def to_moment(node: s.AtTime, uses: list[tuple[Span, text.Span]], mistakes: Mistakes) -> Span:
    """How long after the zero of its clock a moment lies; it is noted among the uses of time."""
    value = node.time.value
    if isinstance(value, int):
        moment = Span(Fraction(value), "TICKS")
    else:
        from inkling.io.spellings import (  # only who writes a date waits for what reads files
            MisspelledError,
            read_instant,
        )

        try:
            moment = Span(Fraction(read_instant(str(value).strip())), "MICROSECONDS")
        except MisspelledError:
            mistakes.wrong(
                "INK0361",
                f"`{value}` is no date and time",
                node.time,
                helps=[f"write it like this: {_EXAMPLES[Clock.TIMESTAMP]}"],
            )
            return Span(Fraction(0), "TICKS")
    if abs(moment.amount) > FARTHEST:
        mistakes.wrong("INK0361", "this time lies further away than times can count", node.time)
        return Span(Fraction(0), "TICKS")
    uses.append((moment, node.span))
    return moment


def check_moment(moment: Span, where: text.Span, timings: Mapping[str, Timing], mistakes: Mistakes) -> None:
    """Ticks belong to streams of integers, dates to streams of timestamps."""
    clock = Clock.TICKS if moment.unit == "TICKS" else Clock.TIMESTAMP
    for name, timing in timings.items():
        if timing.clock is None or timing.clock is clock:
            continue
        holds = "integers" if timing.clock is Clock.TICKS else "timestamps"
        mistakes.wrong(
            "INK0361",
            f"the times of `{name}` are {holds}",
            where,
            "this is a tick" if clock is Clock.TICKS else "this is a date",
            helps=[f"write a time of that kind: {_EXAMPLES[timing.clock]}"],
        )
        return


def eventless(decl: s.EventDecl, mistakes: Mistakes) -> None:
    mistakes.wrong(
        "INK0360",
        "this pattern can happen without any event",
        decl.body.pattern,
        notes=["a time that AT names passes for everybody; a result needs at least one event to rest on"],
        helps=["relate the time to an event: `SEQ(AT 100, A a)`"],
    )
