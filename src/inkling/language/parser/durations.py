"""Builds durations and windows, and knows the units people write instead."""

from fractions import Fraction
from typing import cast

from lark import Token, v_args
from lark.tree import Meta

from inkling.errors import ProgramError, nearest
from inkling.language.parser.tree import LARGEST_INTEGER, Children, TreeBuilder, span_of
from inkling.language.syntax import TIME_UNITS, Duration, EventCount, PointCount, Rate, TimeUnit, Window
from inkling.source import Span

_UNITS: dict[str, TimeUnit] = {unit: unit for unit in TIME_UNITS}
_UNITS |= {unit.removesuffix("S"): unit for unit in TIME_UNITS}
_ABBREVIATIONS: dict[str, TimeUnit] = {
    "US": "MICROSECONDS",
    "MS": "MILLISECONDS",
    "S": "SECONDS",
    "SEC": "SECONDS",
    "SECS": "SECONDS",
    "M": "MINUTES",
    "MIN": "MINUTES",
    "MINS": "MINUTES",
    "H": "HOURS",
    "HR": "HOURS",
    "HRS": "HOURS",
    "D": "DAYS",
    "W": "WEEKS",
}
_COUNTS = {"EVENT": "EVENTS", "EVENTS": "EVENTS", "POINT": "POINTS", "POINTS": "POINTS"}


@v_args(meta=True)
class DurationBuilder(TreeBuilder):
    def duration(self, meta: Meta, children: Children) -> Duration:
        number, unit = children
        return self._duration(number, unit, choices=TIME_UNITS)

    def span(self, meta: Meta, children: Children) -> Duration:
        number, unit = children
        return self._duration(number, unit, choices=TIME_UNITS)

    def time_unit(self, meta: Meta, children: Children) -> Token:
        (word,) = children
        return cast(Token, word)

    def rate(self, meta: Meta, children: Children) -> Rate:
        """`12 PER HOUR`, `3 PER 10 MINUTES`"""
        number, per = children
        if isinstance(per, Token):
            one = Token("INTEGER", "1", per.start_pos, end_pos=per.start_pos)
            per = self._duration(one, per, choices=TIME_UNITS)
        count = self._amount(number)
        if count == 0 or per.amount == 0:
            raise self.mistake(
                "INK0116",
                "a rate is a number above 0, in a length of time",
                span_of(meta),
                helps=("say how many events come, for example `RATE 12 PER HOUR`",),
            )
        return Rate(count, per, span=span_of(meta))

    def window(self, number: Token, unit: Token) -> Window:
        """`30 MINUTES`, `5 POINTS` or `4 EVENTS`"""
        match _COUNTS.get(unit.upper()):
            case "EVENTS":
                return self.events(number, unit)
            case "POINTS":
                n = self.count(number, what="a number of time points")
                return PointCount(n, span=_both(number, unit))
            case _:
                return self._duration(number, unit, choices=(*TIME_UNITS, "EVENTS", "POINTS"))

    def last(self, number: Token, unit: Token) -> EventCount | Duration:
        """`3 EVENTS` or `10 MINUTES`"""
        if _COUNTS.get(unit.upper()) == "EVENTS":
            return self.events(number, unit)
        return self._duration(number, unit, choices=(*TIME_UNITS, "EVENTS"))

    def events(self, number: Token, unit: Token) -> EventCount:
        n = self.count(number, what="a number of events")
        return EventCount(n, span=_both(number, unit))

    def horizon(self, number: Token, unit: Token) -> EventCount:
        """`10 EVENTS` and nothing else"""
        if _COUNTS.get(unit.upper()) != "EVENTS":
            raise self.mistake(
                "INK0111",
                f"a forecast counts events, found `{unit}`",
                span_of(unit),
                helps=(f"write `{number} EVENTS`",),
            )
        return self.events(number, unit)

    def _duration(self, number: Token, unit: Token, *, choices: tuple[str, ...]) -> Duration:
        known = _UNITS.get(unit.upper())
        if known is None:
            raise self._unknown_unit(number, unit, choices)
        return Duration(self._amount(number), known, span=_both(number, unit))

    def _unknown_unit(self, number: Token, unit: Token, choices: tuple[str, ...]) -> ProgramError:
        near = nearest(unit, choices, n=1)
        meant: str | None = _ABBREVIATIONS.get(unit.upper()) or (near[0] if near else None)
        notes = [f"units are {', '.join(choices)}"]
        if unit.upper().rstrip("S") in ("MONTH", "YEAR"):
            meant = None
            notes.append("months and years have no fixed length")
        return self.mistake(
            "INK0111",
            f"unknown unit `{unit}`",
            span_of(unit),
            notes=tuple(notes),
            helps=(f"write `{number} {meant}`",) if meant else (),
        )

    def _amount(self, number: Token) -> int | Fraction:
        if number.type == "INTEGER":
            return self.integer(number)
        if self.real(number) > LARGEST_INTEGER:
            raise self.mistake("INK0116", f"the number {number} is too large", span_of(number))
        amount = Fraction(str(number))
        return amount.numerator if amount.denominator == 1 else amount


def _both(number: Token, unit: Token) -> Span:
    return span_of(number).to(span_of(unit))
