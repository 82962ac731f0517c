"""Lengths of time as XML Schema writes them: `P30D`, `PT1H30M`; `P1H` too, as the thesis prints it."""

import re
from fractions import Fraction

from inkling.language.syntax.nodes import TimeUnit

_DURATION = re.compile(
    r"P (?: (?P<DAYS> [0-9]+ ) D )? T? (?: (?P<HOURS> [0-9]+ ) H )? (?: (?P<MINUTES> [0-9]+ ) M )?"
    r" (?: (?P<SECONDS> [0-9]+ (?: \.[0-9]+ )? ) S )?",
    re.VERBOSE,
)
_SECONDS: tuple[tuple[TimeUnit, int], ...] = (("DAYS", 86400), ("HOURS", 3600), ("MINUTES", 60), ("SECONDS", 1))


def duration_of(text: str) -> tuple[int | Fraction, TimeUnit] | None:
    """The amount in the largest unit in which it is whole, or in seconds; None for months, years and other texts."""
    found = _DURATION.fullmatch(text)
    if found is None or not any(found.groupdict().values()) or re.fullmatch(r"P[0-9DHS.]*[0-9]+M.*", text):
        return None
    seconds = sum((Fraction(found[unit] or 0) * size for unit, size in _SECONDS), Fraction(0))
    for unit, size in _SECONDS:
        amount = seconds / size
        if amount.denominator == 1 and (amount or unit == "SECONDS"):
            return amount.numerator, unit
    return seconds, "SECONDS"
