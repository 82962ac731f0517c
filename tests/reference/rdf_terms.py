"""RDF terms, and what SPARQL computes with them: comparisons, truth values, arithmetic, and errors as exceptions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

XSD = "http://www.w3.org/2001/XMLSchema#"
STRING, INTEGER, DECIMAL, DOUBLE, BOOLEAN = (XSD + one for one in ("string", "integer", "decimal", "double", "boolean"))
_RANKS = {INTEGER: 0, DECIMAL: 1, DOUBLE: 2}


class ExpressionError(Exception):
    """What SPARQL calls a type error: neither true nor false."""


@dataclass(frozen=True, order=True)
class Iri:
    value: str

    def __str__(self) -> str:
        return f"<{self.value}>"


@dataclass(frozen=True, order=True)
class Blank:
    label: str

    def __str__(self) -> str:
        return f"_:{self.label}"


@dataclass(frozen=True, order=True)
class Literal:
    """A literal in canonical form."""

    text: str
    datatype: str = STRING
    language: str = ""

    def __str__(self) -> str:
        quoted = '"' + self.text.replace("\\", "\\\\").replace('"', '\\"') + '"'
        if self.language:
            return f"{quoted}@{self.language}"
        return quoted if self.datatype == STRING else f"{quoted}^^<{self.datatype}>"


Term = Iri | Blank | Literal


def integer(value: int) -> Literal:
    return Literal(str(value), INTEGER)


def number(term: object) -> Fraction | float:
    """The value of a numeric literal."""
    if isinstance(term, Literal) and term.datatype in _RANKS:
        return float(term.text) if term.datatype == DOUBLE else Fraction(term.text)
    raise ExpressionError(f"{term} is no number")


def truth(term: object) -> bool:
    """The effective boolean value."""
    if isinstance(term, bool):
        return term
    if isinstance(term, Literal):
        if term.datatype == BOOLEAN:
            return term.text == "true"
        if term.datatype == STRING and not term.language:
            return term.text != ""
        if term.datatype in _RANKS:
            value = number(term)
            return value == value and value != 0
    raise ExpressionError(f"{term} has no truth value")


def equal(left: Term, right: Term) -> bool:
    if left == right and not (isinstance(left, Literal) and left.text == "NaN"):
        return True
    if not (isinstance(left, Literal) and isinstance(right, Literal)):
        return False
    if left.datatype in _RANKS and right.datatype in _RANKS:
        return number(left) == number(right)
    if all(one.language or one.datatype in (*_RANKS, STRING, BOOLEAN) for one in (left, right)):
        return False  # both values are known, and they differ
    raise ExpressionError(f"{left} and {right} cannot be compared")


def less(left: Term, right: Term) -> bool:
    if isinstance(left, Literal) and isinstance(right, Literal):
        if left.datatype in _RANKS and right.datatype in _RANKS:
            return number(left) < number(right)
        if left.datatype == right.datatype == STRING and not left.language and not right.language:
            return left.text < right.text
        if left.datatype == right.datatype == BOOLEAN:
            return left.text < right.text
    raise ExpressionError(f"{left} and {right} have no order")


def computed(op: str, left: Term, right: Term) -> Literal:
    """Arithmetic on integers and decimals; a quotient is a decimal."""
    one, other = number(left), number(right)
    assert isinstance(left, Literal)
    assert isinstance(right, Literal)
    kind = max(left.datatype, right.datatype, key=lambda name: _RANKS[name])
    if op == "/":
        if other == 0:
            raise ExpressionError("division by zero")
        value, kind = one / other, DECIMAL if kind == INTEGER else kind
    else:
        value = one + other if op == "+" else one - other if op == "-" else one * other
    if kind == DOUBLE:
        raise NotImplementedError("arithmetic on doubles has no text here")
    return integer(int(value)) if kind == INTEGER else Literal(_decimal(Fraction(value)), DECIMAL)


def _decimal(value: Fraction) -> str:
    """The canonical text of a decimal of at most 18 places."""
    scaled = int(value * 10**18)
    digits = f"{abs(scaled):019d}"
    fraction = digits[-18:].rstrip("0")
    whole = digits[:-18]
    return ("-" if scaled < 0 else "") + (f"{whole}.{fraction}" if fraction else whole)


def matches(text: object, pattern: str) -> bool:
    if not isinstance(text, Literal) or text.datatype != STRING:
        raise ExpressionError(f"{text} is no string")
    return re.search(pattern, text.text) is not None
