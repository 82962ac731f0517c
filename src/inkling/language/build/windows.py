"""Durations and counts in plain words: `minutes(30)`, `events(4)`."""

from fractions import Fraction

from inkling.language.syntax import Duration, EventCount, PointCount, TimeUnit


def duration(amount: int | float | str | Fraction, unit: TimeUnit) -> Duration:
    """A length of time; a float counts as the decimal number Python shows for it.

    >>> duration(0.1, "SECONDS").amount
    Fraction(1, 10)
    """
    exact = Fraction(str(amount))
    return Duration(exact.numerator if exact.denominator == 1 else exact, unit)


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
