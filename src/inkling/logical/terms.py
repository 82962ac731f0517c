"""Functions of RDF terms, by the operators of SPARQL 1.1 (section 17): values, comparisons, arithmetic.

Terms are compared by parts that depend on one term each, so that they are computed once per distinct term:
`x < y` holds if both have one `order_kind`, and the `term_value` of x is less than that of y as texts.
"""

from __future__ import annotations

import hashlib
import math
import re
import struct
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import ROUND_DOWN, Decimal, localcontext
from functools import lru_cache, partial

from inkling.model import terms as t
from inkling.model.terms import MalformedTermError, Term, read

Number = int | Decimal | float

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_DURATION = re.compile(
    r"(-)?P(?:([0-9]+)Y)?(?:([0-9]+)M)?(?:([0-9]+)D)?(T)?(?:([0-9]+)H)?(?:([0-9]+)M)?(?:([0-9]+)(?:\.([0-9]+))?S)?"
)
DURATIONS = frozenset(t.XSD + name for name in ("duration", "dayTimeDuration", "yearMonthDuration"))
KNOWN = t.INTEGERS | DURATIONS | {t.STRING, t.DECIMAL, t.DOUBLE, t.FLOAT, t.BOOLEAN, t.DATE_TIME, t.DATE}
MAX_VALUES = 65_536
"""Size of the cache of the values of terms."""


def number_of(term: Term) -> Number | None:
    """The value of a numeric literal; NaN and infinities are numbers, ill-typed literals are not."""
    text = term.text
    if term.datatype in t.INTEGERS:
        try:
            value = int(text)
        except ValueError:
            return None
        return value if t.SMALLEST_INTEGER <= value <= t.LARGEST_INTEGER else None
    if term.datatype == t.DECIMAL:
        return t.decimal_of(text)
    if term.datatype in (t.DOUBLE, t.FLOAT):
        return t.double_of(text)
    return None


_ZONE = r"(Z|([+-])([0-9]{2}):([0-9]{2}))?"
_MOMENTS = {
    t.DATE_TIME: re.compile(
        rf"([0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}T[0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}})(?:\.([0-9]+))?{_ZONE}"
    ),
    t.DATE: re.compile(rf"([0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}})(){_ZONE}"),
}


def moment_of(term: Term) -> int | None:
    """Microseconds since 1970 of a dateTime or a date; without a time zone they are in UTC."""
    if term.datatype not in _MOMENTS:
        return None
    found = _MOMENTS[term.datatype].fullmatch(term.text)
    if found is None:
        return None
    clock, fraction, zone, sign, hours, minutes = found.groups()
    next_day = clock.endswith("T24:00:00")
    try:
        day = datetime.fromisoformat(clock.replace("T24:00:00", "T00:00:00")).replace(tzinfo=UTC)
    except ValueError:
        return None
    moment = (day - _EPOCH) // _MICROSECOND + int((fraction or "")[:6].ljust(6, "0")) + next_day * 86_400_000_000
    if zone in (None, "Z"):
        return moment
    if int(hours) > 14 or int(minutes) > 59:
        return None
    offset = (60 * int(hours) + int(minutes)) * 60_000_000
    return moment + offset if sign == "-" else moment - offset


def duration_of(term: Term) -> tuple[int, int] | None:
    """Months and microseconds of a duration; `P1H` is read like `PT1H`."""
    if term.datatype not in DURATIONS:
        return None
    found = _DURATION.fullmatch(term.text)
    if found is None or all(part is None for part in found.groups()[1:4] + found.groups()[5:]):
        return None
    sign, years, months, days, time_part, hours, minutes, seconds, fraction = found.groups()
    if time_part and not (hours or minutes or seconds):
        return None
    total = 12 * int(years or 0) + int(months or 0)
    length = ((int(days or 0) * 24 + int(hours or 0)) * 60 + int(minutes or 0)) * 60 + int(seconds or 0)
    microseconds = length * 1_000_000 + int((fraction or "")[:6].ljust(6, "0"))
    factor = -1 if sign else 1
    if abs(total) > 2**40 or microseconds > 2**62:
        return None
    return factor * total, factor * microseconds


def _whole_key(number: int) -> str:
    """16 digits that sort like the integers of 64 bits."""
    return f"{number + 2**63:016x}"


def _number_key(number: Number) -> str | None:
    """Digits that sort like the numbers, as doubles; integers that are no doubles have further digits."""
    value = float(number)
    if math.isnan(value):
        return None
    beyond = number - int(value) if isinstance(number, int) else 0
    (bits,) = struct.unpack(">q", struct.pack(">d", value + 0.0))
    return f"{_whole_key(bits if bits >= 0 else -(2**63) - bits - 1)}{beyond + 0x8000:04x}"


@lru_cache(maxsize=MAX_VALUES)
def _order(text: str) -> tuple[str | None, str | None, int]:
    """The kind of values with which a term is ordered, its value as a text, and how far its value is known.

    Known is 0 if the term differs from all others, 1 if its datatype is known, 2 if its value is unknown.
    """
    term = read(text)
    if not term.is_literal or term.datatype == t.LANG_STRING:
        return None, text, 0
    if term.datatype == t.STRING:
        return "string", f"s{term.text}", 1
    number = number_of(term)
    if number is not None:
        key = _number_key(number)
        return ("number", f"n{key}", 1) if key is not None else (None, None, 1)
    if term.datatype == t.BOOLEAN and term.text in ("true", "false"):
        return "boolean", f"b{int(term.text == 'true')}", 1
    moment = moment_of(term)
    if moment is not None:
        kind = "moment" if term.datatype == t.DATE_TIME else "date"
        return kind, f"{kind}{_whole_key(moment)}", 1
    length = duration_of(term)
    if length is not None:
        months, microseconds = length
        ordered = None if months and microseconds else "months" if months else "span"
        return ordered, f"d{_whole_key(months)}{_whole_key(microseconds)}", 1
    return None, text, 2


def order_kind(text: str) -> str | None:
    """The kind of values with which a term is ordered: number, string, boolean, moment, date, span or months."""
    return _order(text)[0]


def term_value(text: str) -> str | None:
    """A text that is equal for terms with equal values, and sorts like the values of one kind; null for NaN."""
    return _order(text)[1]


def written_value(value: str) -> str:
    """What `term_value` gives, in readable form.

    >>> [written_value(term_value(t.canonical(one))) for one in ("5", "-2.5", "'x'", "true", "<http://ex.org/>")]
    ['5', '-2.5', '"x"', 'true', '<http://ex.org/>']
    """
    if value[:1] in ("<", "_", '"'):
        return value
    kind, digits = value[0], value[1:]
    if value.startswith("moment"):
        return str(of_moment(int(value[6:], 16) - 2**63)).partition("^^")[0].strip('"')
    if value.startswith("date"):
        return str(of_moment(int(value[4:], 16) - 2**63))[1:11]
    match kind:
        case "s":
            return t.literal(digits)
        case "b":
            return "true" if digits == "1" else "false"
        case "n":
            return _written_number(int(digits[:16], 16) - 2**63, int(digits[16:], 16) - 0x8000)
        case _:
            months, microseconds = (int(part, 16) - 2**63 for part in (digits[:16], digits[16:]))
            return f"{months} months" if months else of_span(microseconds).partition("^^")[0].strip('"')


def _written_number(key: int, beyond: int) -> str:
    bits = key if key >= 0 else -(2**63) - key - 1
    (number,) = struct.unpack(">d", struct.pack(">q", bits))
    return str(int(number) + beyond) if number.is_integer() and abs(number) < 2**64 else repr(number)


def unknown_value(text: str) -> int:
    """0 for terms that differ from all others, 1 for values of known datatypes, 2 for those of unknown ones."""
    return _order(text)[2]


def number(text: str) -> float | None:
    value = number_of(read(text))
    if value is None or not math.isfinite(float(value)):
        return None
    return float(value) + 0.0


def is_nan(text: str) -> bool:
    value = number_of(read(text))
    return isinstance(value, float) and math.isnan(value)


def text_of(text: str) -> str | None:
    term = read(text)
    return None if term.is_blank else term.text


def language_of(text: str) -> str | None:
    term = read(text)
    return (term.language or "") if term.is_literal else None


def datatype_of(text: str) -> str | None:
    term = read(text)
    return None if term.datatype is None else f"<{term.datatype}>"


def is_iri(text: str) -> bool:
    return text.startswith("<")


def is_blank(text: str) -> bool:
    return text.startswith("_:")


def is_literal(text: str) -> bool:
    return text.startswith('"')


def is_numeric(text: str) -> bool:
    return number_of(read(text)) is not None


def effective_truth(text: str) -> bool | None:
    """The effective boolean value; null for a type error."""
    term = read(text)
    if term.datatype == t.STRING:
        return bool(term.text)
    if term.datatype == t.BOOLEAN:
        return term.text == "true"
    if term.datatype in t.INTEGERS or term.datatype in (t.DECIMAL, t.DOUBLE, t.FLOAT):
        value = number_of(term)
        return value is not None and value != 0 and value == value
    return None


_FLAGS = {"s": re.DOTALL, "m": re.MULTILINE, "i": re.IGNORECASE, "x": re.VERBOSE}


@lru_cache(maxsize=256)
def expression_of(pattern: str, flags: str) -> re.Pattern[str] | None:
    """A regular expression with the flags of SPARQL; None if it has an error."""
    if set(flags) - {*_FLAGS, "q"}:
        return None
    try:
        return re.compile(
            re.escape(pattern) if "q" in flags else pattern, sum(_FLAGS.get(one, 0) for one in set(flags))
        )
    except re.error:
        return None


def regex(text: str, pattern: str, flags: str = "") -> bool | None:
    found = expression_of(pattern, flags)
    return None if found is None else found.search(text) is not None


def language_matches(tag: str, language_range: str) -> bool:
    """Whether a language tag lies in a basic language range; `*` is any tag."""
    if language_range == "*":
        return bool(tag)
    tag, language_range = tag.lower(), language_range.lower()
    return tag == language_range or tag.startswith(language_range + "-")


def moment(text: str) -> int | None:
    term = read(text)
    return moment_of(term) if term.datatype == t.DATE_TIME else None


def span(text: str) -> int | None:
    length = duration_of(read(text))
    return None if length is None or length[0] else length[1]


def _or_nothing(make: Callable[..., str]) -> Callable[..., str | None]:
    def made(*args: str) -> str | None:
        try:
            return make(*args)
        except MalformedTermError:
            return None

    return made


def typed_literal(text: str, datatype: str) -> str:
    return t.literal(text, datatype=datatype)


def plain_literal(text: str, language: str | None = None) -> str:
    return t.literal(text, language=language)


make_iri, make_literal = _or_nothing(t.iri), _or_nothing(plain_literal)
make_typed, make_blank = _or_nothing(typed_literal), _or_nothing(t.blank)
parsed = _or_nothing(t.canonical)


def of_integer(value: int) -> str:
    return t.literal(str(value), datatype=t.INTEGER)


def of_double(value: float) -> str:
    return t.literal(t.double_text(float(value)), datatype=t.DOUBLE)


def of_truth(value: bool) -> str:
    return t.literal("true" if value else "false", datatype=t.BOOLEAN)


def of_moment(microseconds: int) -> str | None:
    """An xsd:dateTime in UTC."""
    try:
        time = _EPOCH + timedelta(microseconds=microseconds)
    except OverflowError:
        return None
    return t.literal(f"{time:%Y-%m-%dT%H:%M:%S.%f}".rjust(26, "0") + "Z", datatype=t.DATE_TIME)


def of_span(microseconds: float) -> str:
    """An xsd:dayTimeDuration in canonical form."""
    sign, left = ("-", -int(microseconds)) if microseconds < 0 else ("", int(microseconds))
    seconds, fraction = divmod(left, 1_000_000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    exact = f"{seconds}.{fraction:06}".rstrip("0").rstrip(".")
    parts = [(hours, "H"), (minutes, "M"), (exact if exact != "0" else 0, "S")]
    time = "".join(f"{amount}{unit}" for amount, unit in parts if amount)
    text = (f"{days}D" if days else "") + (f"T{time}" if time else "")
    return t.literal(f"{sign}P{text or 'T0S'}", datatype=t.DAY_TIME_DURATION)


def _rank(term: Term) -> int:
    return 0 if term.datatype in t.INTEGERS else (t.DECIMAL, t.FLOAT, t.DOUBLE).index(term.datatype or "") + 1


def _double(operator: str, one: float, other: float) -> float:
    match operator:
        case "+":
            return one + other
        case "-":
            return one - other
        case "*":
            return one * other
    if other == 0:
        sign = math.copysign(1.0, one) * math.copysign(1.0, other)
        return math.nan if one == 0 or math.isnan(one) else sign * math.inf
    return one / other


MOST_DECIMAL = Decimal(2**127 - 1).scaleb(-18)


def _decimal(operator: str, one: Decimal, other: Decimal) -> Decimal | None:
    with localcontext() as context:
        context.prec = 400
        match operator:
            case "+":
                result = one + other
            case "-":
                result = one - other
            case "*":
                result = one * other
            case _:
                if other == 0:
                    return None
                context.rounding = ROUND_DOWN
                result = one / other
        if abs(result) > MOST_DECIMAL:
            return None
        return result.quantize(Decimal(1).scaleb(-18), rounding=ROUND_DOWN)


def arithmetic(operator: str, left: str, right: str) -> str | None:
    """A sum, difference, product or quotient of two numeric terms in the wider of their types; null on error.

    Integers beyond 64 bits and decimals beyond 128 bits are errors, and so is a division by zero other than of doubles.
    """
    terms = read(left), read(right)
    one, other = map(number_of, terms)
    if one is None or other is None:
        return None
    rank = max(map(_rank, terms))
    if rank >= 2:
        value = _double(operator, float(one), float(other))
        return t.literal(t.double_text(value), datatype=t.FLOAT if rank == 2 else t.DOUBLE)
    if rank == 0 and operator != "/":
        assert isinstance(one, int)
        assert isinstance(other, int)
        whole = one + other if operator == "+" else one - other if operator == "-" else one * other
        return of_integer(whole) if t.SMALLEST_INTEGER <= whole <= t.LARGEST_INTEGER else None
    exact = _decimal(operator, Decimal(one), Decimal(other))
    return None if exact is None else t.literal(t.decimal_text(exact), datatype=t.DECIMAL)


plus, minus, times, divided = (partial(arithmetic, operator) for operator in "+-*/")


CASTS = frozenset((t.STRING, t.BOOLEAN, t.INTEGER, t.DECIMAL, t.FLOAT, t.DOUBLE, t.DATE_TIME))


def cast(text: str, datatype: str) -> str | None:
    """A value as one of another type, by the casts of SPARQL; null if there is none."""
    term = read(text)
    if datatype not in CASTS or term.is_blank or not (term.is_literal or datatype == t.STRING):
        return None
    if datatype == t.STRING:
        return t.literal(term.text)
    written = term.text.strip()
    value = number_of(term)
    if term.datatype == t.BOOLEAN:
        value = int(written == "true")
    if datatype == t.BOOLEAN:
        if value is not None:
            return of_truth(value != 0 and value == value)
        known = {"true": True, "1": True, "false": False, "0": False}
        return of_truth(known[written]) if term.datatype == t.STRING and written in known else None
    if term.datatype == t.STRING:
        made = t.literal(written, datatype=datatype)
        read_back = read(made)
        return made if number_of(read_back) is not None or moment_of(read_back) is not None else None
    if datatype == t.DATE_TIME:
        return text if term.datatype == t.DATE_TIME and moment_of(term) is not None else None
    if value is None:
        return None
    if datatype in (t.DOUBLE, t.FLOAT):
        return t.literal(t.double_text(float(value)), datatype=datatype)
    if not math.isfinite(value):
        return None
    if datatype == t.DECIMAL:
        return t.literal(
            t.decimal_text(Decimal(str(value)) if isinstance(value, float) else Decimal(value)), datatype=datatype
        )
    whole = int(value)
    return of_integer(whole) if t.SMALLEST_INTEGER <= whole <= t.LARGEST_INTEGER else None


def blank_of(label: str, *terms: str) -> str:
    """A blank node for terms: equal terms have the same one."""
    digest = hashlib.blake2b("\n".join(terms).encode(), digest_size=12).hexdigest()
    return t.blank(f"{label}_{digest}")


make_blank_of = _or_nothing(blank_of)


def negated(text: str) -> str | None:
    term = read(text)
    value = number_of(term)
    if value is None:
        return None
    if isinstance(value, float):
        return t.literal(t.double_text(-value), datatype=term.datatype or t.DOUBLE)
    return arithmetic("-", of_integer(0), text)
