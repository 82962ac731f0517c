"""RDF terms as text in canonical N-Triples form, so that two terms are the same just when their texts are equal.

>>> canonical("'two words'"), canonical('"chat"@EN'), canonical("007")
('"two words"', '"chat"@en', '"7"^^<http://www.w3.org/2001/XMLSchema#integer>')

Escapes are resolved, language tags are in lower case, `xsd:string` is left out, and numbers, Booleans and dateTimes
have one spelling per value. Literals whose text does not fit their datatype stay as they are.
"""

import re
from dataclasses import dataclass
from decimal import ROUND_DOWN, Context, Decimal, InvalidOperation
from functools import lru_cache

XSD = "http://www.w3.org/2001/XMLSchema#"
LANG_STRING = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"
STRING = XSD + "string"
INTEGER, DECIMAL, DOUBLE, FLOAT, BOOLEAN = (XSD + name for name in ("integer", "decimal", "double", "float", "boolean"))
DATE_TIME, DATE = XSD + "dateTime", XSD + "date"
DAY_TIME_DURATION = XSD + "dayTimeDuration"
_BOUNDED = ("long", "int", "short", "byte", "unsignedLong", "unsignedInt", "unsignedShort", "unsignedByte")
_SIGNED = ("nonNegativeInteger", "positiveInteger", "nonPositiveInteger", "negativeInteger")
INTEGERS = frozenset((INTEGER, *(XSD + name for name in (*_BOUNDED, *_SIGNED))))
LARGEST_INTEGER, SMALLEST_INTEGER = 2**63 - 1, -(2**63)
MAX_READ = 65_536
"""Size of the cache of read terms."""

_INTEGER = re.compile(r"[+-]?[0-9]{1,400}")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
_DOUBLE = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_DATE_TIME = re.compile(
    r"(-?[0-9]{4,9}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.([0-9]+))?(Z|[+-][0-9]{2}:[0-9]{2})?"
)
_IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?:[^\x00-\x20<>\"{}|^`\\%]|%[0-9A-Fa-f]{2})*")
_TAG = re.compile(r"(?:[A-Za-z]{2,8}|[iIxX](?=-))(?:-[A-Za-z0-9]{1,8})*")
_BLANK = re.compile(r"_:([\w][\w.·-]*(?<!\.)|[\w])")
_QUOTED = re.compile(
    r"\"\"\"((?:\"{0,2}(?:[^\"\\]|\\.))*)\"\"\"|'''((?:'{0,2}(?:[^'\\]|\\.))*)'''"
    r"|\"((?:[^\"\\\n\r]|\\.)*)\"|'((?:[^'\\\n\r]|\\.)*)'",
    re.DOTALL,
)
_ESCAPED = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_CHARACTERS = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "'": "'", "\\": "\\"}
_WRITTEN = {code: f"\\u{code:04X}" for code in (*range(32), 127)}
_WRITTEN |= {8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r", 34: '\\"', 92: "\\\\"}
_CANONICAL_LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"(?:@(.*)|\^\^<(.*)>)?', re.DOTALL)


class MalformedTermError(ValueError):
    """A text that is not an RDF term; its message says why."""


@dataclass(frozen=True, slots=True)
class Term:
    """A term that was read: an IRI, a blank node (`_:label` in `text`), or a literal with a datatype."""

    text: str
    datatype: str | None = None
    language: str | None = None

    @property
    def is_literal(self) -> bool:
        return self.datatype is not None

    @property
    def is_blank(self) -> bool:
        return self.datatype is None and self.text.startswith("_:")


@lru_cache(maxsize=MAX_READ)
def canonical(text: str) -> str:
    """The canonical form of a term in the syntax of N-Triples or Turtle, without prefixes.

    Raises `MalformedTermError`.
    """
    text = text.strip(" \t\r\n")
    if text.startswith("<"):
        if not text.endswith(">"):
            raise MalformedTermError("an IRI ends with `>`")
        return iri(_unescaped(text[1:-1], only_numbers=True))
    if text.startswith("_:"):
        return blank(text[2:])
    if text[:1] in ("'", '"'):
        return _quoted(text)
    if text in ("true", "false"):
        return literal(text, datatype=BOOLEAN)
    for pattern, datatype in ((_INTEGER, INTEGER), (_DECIMAL, DECIMAL), (_DOUBLE, DOUBLE)):
        if pattern.fullmatch(text) and not (datatype == DECIMAL and text.endswith(".")):
            return literal(text, datatype=datatype)
    if _IRI.fullmatch(text):
        raise MalformedTermError("an IRI stands between `<` and `>`")
    raise MalformedTermError("an RDF term is `<iri>`, `_:label` or a literal in quotes")


def iri(text: str) -> str:
    if not _IRI.fullmatch(text):
        scheme = re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", text)
        raise MalformedTermError(
            "an IRI is absolute, such as `<http://example.org/x>`"
            if scheme is None
            else 'an IRI contains no blanks, no `%` without two hexadecimal digits, and none of `<>"{}|^`\\`'
        )
    return f"<{text}>"


def blank(label: str) -> str:
    if not _BLANK.fullmatch(f"_:{label}"):
        raise MalformedTermError("the label of a blank node is a word, which may contain `-` and `.`")
    return f"_:{label}"


def literal(text: str, *, language: str | None = None, datatype: str = STRING) -> str:
    """A literal, with its text in canonical form if that fits its datatype."""
    if language is not None:
        if not _TAG.fullmatch(language):
            raise MalformedTermError("a language tag is words between `-`, such as `en` or `de-at`")
        return f'"{text.translate(_WRITTEN)}"@{language.lower()}'
    if datatype == STRING:
        return f'"{text.translate(_WRITTEN)}"'
    if datatype == LANG_STRING:
        raise MalformedTermError("a literal of type rdf:langString has a language tag")
    return f'"{_lexical(text, datatype).translate(_WRITTEN)}"^^{iri(datatype)}'


@lru_cache(maxsize=MAX_READ)
def read(text: str) -> Term:
    """The parts of a term in canonical form."""
    if not text.startswith('"'):
        return Term(text if text.startswith("_:") else text[1:-1])
    found = _CANONICAL_LITERAL.fullmatch(text)
    assert found is not None, text
    body = found[1] if "\\" not in found[1] else _unescaped(found[1])
    if found[2] is not None:
        return Term(body, LANG_STRING, found[2])
    return Term(body, found[3] or STRING)


def _quoted(text: str) -> str:
    found = _QUOTED.match(text)
    if found is None:
        raise MalformedTermError("a literal ends with the quote that begins it")
    body = next(part for part in found.groups() if part is not None)
    body, rest = _unescaped(body), text[found.end() :]
    if not rest:
        return literal(body)
    if rest.startswith("@"):
        return literal(body, language=rest[1:])
    if rest.startswith("^^<") and rest.endswith(">"):
        return literal(body, datatype=_unescaped(rest[3:-1], only_numbers=True))
    raise MalformedTermError("a literal is followed by `@language`, `^^<datatype>` or nothing")


def _unescaped(text: str, *, only_numbers: bool = False) -> str:
    if "\\" not in text:
        return text

    def character(found: re.Match[str]) -> str:
        number = found[1] or found[2]
        if number is not None:
            code = int(number, 16)
            if code > 0x10FFFF or 0xD800 <= code < 0xE000:
                raise MalformedTermError(f"`{found[0]}` is not a character")
            return chr(code)
        if only_numbers or found[3] not in _CHARACTERS:
            raise MalformedTermError(f"unknown escape `{found[0]}`")
        return _CHARACTERS[found[3]]

    return _ESCAPED.sub(character, text)


def _lexical(text: str, datatype: str) -> str:
    """One spelling per value for numbers, Booleans and dateTimes; other texts as they are."""
    trimmed = text.strip(" \t\r\n")
    if datatype in INTEGERS:
        return str(int(trimmed)) if _INTEGER.fullmatch(trimmed) else text
    if datatype == DECIMAL:
        number = decimal_of(trimmed)
        return text if number is None else decimal_text(number)
    if datatype in (DOUBLE, FLOAT):
        value = double_of(trimmed)
        return text if value is None else double_text(value)
    if datatype == BOOLEAN:
        return {"1": "true", "0": "false", "true": "true", "false": "false"}.get(trimmed, text)
    if datatype == DATE_TIME and (found := _DATE_TIME.fullmatch(trimmed)):
        fraction = (found[2] or "").rstrip("0")
        zone = "Z" if found[3] in ("+00:00", "-00:00") else found[3] or ""
        return found[1] + (f".{fraction}" if fraction else "") + zone
    return text


_DIGITS = Context(prec=400)


def decimal_of(text: str) -> Decimal | None:
    """The value of a decimal number, with at most 18 digits after the point."""
    if not _DECIMAL.fullmatch(text) or len(text) > 300:
        return None
    number = Decimal(text)
    exponent = number.as_tuple().exponent
    if isinstance(exponent, int) and exponent < -18:
        try:
            number = number.quantize(Decimal(1).scaleb(-18), rounding=ROUND_DOWN, context=_DIGITS)
        except InvalidOperation:
            return None
    return number


def decimal_text(number: Decimal) -> str:
    """
    >>> decimal_text(Decimal("-0.500")), decimal_text(Decimal("3.0")), decimal_text(Decimal("-0"))
    ('-0.5', '3', '0')
    """
    plain = f"{number:f}"
    if "." in plain:
        plain = plain.rstrip("0").rstrip(".")
    return "0" if plain in ("-0", "") else plain


def double_of(text: str) -> float | None:
    special = {"INF": float("inf"), "+INF": float("inf"), "-INF": float("-inf"), "NaN": float("nan")}.get(text)
    if special is not None:
        return special
    return float(text) if _DOUBLE.fullmatch(text) else None


def double_text(value: float) -> str:
    """
    >>> double_text(1.0), double_text(0.001), double_text(float("-inf"))
    ('1.0E0', '1.0E-3', '-INF')
    """
    if value != value:
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "INF" if value > 0 else "-INF"
    sign, digits, exponent = Decimal(repr(value)).as_tuple()
    assert isinstance(exponent, int)
    text = "".join(map(str, digits)).lstrip("0")
    if not text:
        return "-0.0E0" if sign else "0.0E0"
    power = exponent + len(text) - 1
    text = text.rstrip("0")
    return f"{'-' if sign else ''}{text[0]}.{text[1:] or '0'}E{power}"
