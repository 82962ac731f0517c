"""The text of values in files: numbers, Booleans, times, RDF terms and weights.

White space around numbers, Booleans, times and terms is ignored; the empty text, `null` and `none` are null. Text
columns keep the text. RDF terms have the syntax of N-Triples or Turtle. Weights are numbers separated by blanks, commas
or semicolons.
"""

import math
import re
from datetime import UTC, datetime, timedelta
from fractions import Fraction

from inkling.model.terms import MalformedTermError, canonical
from inkling.model.time import FARTHEST, Clock
from inkling.model.types import Type

WHITE_SPACE = " \t\r\n\f\v"
INTEGERS = range(-(2**63), 2**63)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)

_INTEGER = re.compile(r"([+-]?[0-9]+)(?:\.0*)?")
_DOUBLE = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
MISSING = frozenset({"", "null", "none"})
NO_NUMBERS = frozenset({"nan", "inf", "infinity", "null", "none"})
_BETWEEN_WEIGHTS = re.compile(rf"[{WHITE_SPACE}]*[,;][{WHITE_SPACE}]*|[{WHITE_SPACE}]+")

_TRUTHS = {"true": True, "t": True, "1": True, "false": False, "f": False, "0": False}
_TIME = re.compile(
    r"""([0-9]{4})-([0-9]{2})-([0-9]{2})
        (?:[ T]([0-9]{2})
            (?::([0-9]{2})
                (?::([0-9]{2}) (?:\.([0-9]+))? )?
            )?
            (?:[Zz]|([+-])(0[0-9]|1[0-4]):?([0-5][0-9])?)?
        )?""",
    re.VERBOSE,
)


class MisspelledError(ValueError):
    """A text that is not a value of the wanted type."""


def is_blank(text: str) -> bool:
    return not text.strip(WHITE_SPACE)


def read_integer(text: str) -> int:
    """A 64-bit integer; `3.0` is one.

    >>> read_integer("+007"), read_integer("3.")
    (7, 3)
    """
    found = _INTEGER.fullmatch(text)
    # a limit on digits keeps Python from refusing to read very long ones
    if found is None or len(found[1]) > 400 or int(found[1]) not in INTEGERS:
        raise MisspelledError
    return int(found[1])


def read_double(text: str) -> float | None:
    """A finite number, or None for `nan`."""
    if text.lower() in ("nan", "+nan", "-nan"):
        return None
    if not _DOUBLE.fullmatch(text) or math.isinf(number := float(text)):
        raise MisspelledError
    return number


def read_truth(text: str) -> bool:
    """`true`, `t` or `1`; `false`, `f` or `0`; in any case."""
    truth = _TRUTHS.get(text.lower())
    if truth is None:
        raise MisspelledError
    return truth


def read_instant(text: str) -> int:
    """Microseconds since 1970 of an ISO 8601 date, or date and time; UTC unless it names an offset.

    Digits beyond microseconds are truncated.

    >>> read_instant("1970-01-01T00:00:00.0000019Z"), read_instant("1970-01-02 00:00+01:00") // 3_600_000_000
    (1, 23)
    """
    found = _TIME.fullmatch(text)
    if found is None:
        raise MisspelledError
    year, month, day, hour, minute, second, fraction, sign, zone_hours, zone_minutes = found.groups()
    try:
        moment = datetime(
            int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0), tzinfo=UTC
        )
    except ValueError:
        raise MisspelledError from None
    microseconds = (moment - EPOCH) // MICROSECOND + int((fraction or "0")[:6].ljust(6, "0"))
    offset_minutes = 60 * int(zone_hours or 0) + int(zone_minutes or 0)
    return microseconds - (-1 if sign == "-" else 1) * offset_minutes * 60_000_000


def read_moment(text: str, unit_us: Fraction) -> int | None:
    """Microseconds since 1970 of a number of units since then, or of a timestamp.

    Fractions are rounded to the nearest microsecond; parts of a unit that is shorter are truncated.

    >>> read_moment("1.5", Fraction(1_000_000)), read_moment("1999", Fraction(1, 1000))
    (1500000, 1)
    >>> read_moment("1970-01-01T00:00:01Z", Fraction(1_000_000))
    1000000
    """
    trimmed = text.strip(WHITE_SPACE)
    if trimmed.lower() in MISSING or trimmed.lower() in ("nan", "+nan", "-nan"):
        return None
    if _DOUBLE.fullmatch(trimmed) is None:
        return read_instant(trimmed)
    if len(trimmed) > 400 or not math.isfinite(float(trimmed)):
        raise MisspelledError
    count = min(max(Fraction(trimmed) * unit_us, Fraction(-FARTHEST)), Fraction(FARTHEST))
    return round(count) if unit_us >= 1 else math.floor(count)


def read_weights(text: str) -> list[float]:
    """A list of numbers, with or without brackets; invalid numbers become NaN, which a later check reports.

    >>> read_weights("0.2;0.5; 0.3"), read_weights("[1, 2]"), read_weights("1 nan")
    ([0.2, 0.5, 0.3], [1.0, 2.0], [1.0, nan])
    """
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1].strip(WHITE_SPACE)
    return [_read_weight(number) for number in _BETWEEN_WEIGHTS.split(text)] if text else []


def _read_weight(text: str) -> float:
    if text.lstrip("+-").lower() in NO_NUMBERS:
        return math.nan
    if not _DOUBLE.fullmatch(text):
        raise MisspelledError
    return float(text)


def read_term(text: str) -> str:
    """The canonical form of an RDF term.

    >>> read_term("'x'@EN")
    '"x"@en'
    """
    try:
        return canonical(text)
    except MalformedTermError as malformed:
        raise MisspelledError(str(malformed)) from None


def read_value(text: str, kind: Type, clock: Clock) -> int | float | bool | str | list[float] | None:
    """Value of a text as a type; raises `MisspelledError`."""
    if kind is Type.STRING:
        return text
    trimmed = text.strip(WHITE_SPACE)
    if trimmed.lower() in MISSING:
        return None
    match kind:
        case Type.BOOLEAN:
            return read_truth(trimmed)
        case Type.INTEGER:
            return read_integer(trimmed)
        case Type.DOUBLE:
            return read_double(trimmed)
        case Type.TIME:
            return read_instant(trimmed) if clock is Clock.TIMESTAMP else read_integer(trimmed)
        case Type.WEIGHTS:
            return read_weights(trimmed)
        case Type.TERM:
            return read_term(trimmed)
        case Type.DURATION | Type.NULL:
            raise AssertionError(f"no column is declared {kind}")
