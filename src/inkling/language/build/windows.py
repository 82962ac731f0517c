"""Durations and counts in plain words: `minutes(30)`, `events(4)`."""

from fractions import Fraction

from inkling.language.syntax import Duration, EventCount, PointCount, Rate, TimeUnit


def duration(amount: int | float | str | Fraction, unit: TimeUnit) -> Duration:
    """A length of time; a float counts as the decimal number Python shows for it.

    >>> duration(0.1, "SECONDS").amount
    Fraction(1, 10)
    """
    return Duration(_exact(amount), unit)


def rate(count: int | float | str | Fraction, per: Duration) -> Rate:
    """So many in a length of time, on average: `rate(12, hours(1))`."""
    return Rate(_exact(count), per)


def ticks(amount: int) -> Duration:
    return duration(amount, "TICKS")


def microseconds(amount: int | float) -> Duration:
    return duration(amount, "MICROSECONDS")


def milliseconds(amount: int | float) -> Duration:
    return duration(amount, "MILLISECONDS")


def seconds(amount: int | float) -> Duration:
    return duration(amount, "SECONDS")


def minutes(amount: int | float) -> Duration:
    return duration(amount, "MINUTES")


def hours(amount: int | float) -> Duration:
    return duration(amount, "HOURS")


def days(amount: int | float) -> Duration:
    return duration(amount, "DAYS")


def weeks(amount: int | float) -> Duration:
    return duration(amount, "WEEKS")


def events(n: int) -> EventCount:
    return EventCount(n)


def points(n: int) -> PointCount:
    return PointCount(n)


def _exact(amount: int | float | str | Fraction) -> int | Fraction:
    exact = Fraction(str(amount))
    return exact.numerator if exact.denominator == 1 else exact
