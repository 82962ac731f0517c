"""Which types meet in an operator, and what comes out."""

from __future__ import annotations

from inkling.model.types import Type, common_type

TIME, DURATION, INTEGER, DOUBLE, NULL = Type.TIME, Type.DURATION, Type.INTEGER, Type.DOUBLE, Type.NULL

_TEMPORAL = {
    ("-", TIME, TIME): DURATION,
    ("+", TIME, DURATION): TIME,
    ("-", TIME, DURATION): TIME,
    ("+", DURATION, TIME): TIME,
    ("+", DURATION, DURATION): DURATION,
    ("-", DURATION, DURATION): DURATION,
    ("/", DURATION, DURATION): DOUBLE,
    ("*", DURATION, INTEGER): DURATION,
    ("*", DURATION, DOUBLE): DURATION,
    ("*", INTEGER, DURATION): DURATION,
    ("*", DOUBLE, DURATION): DURATION,
    ("/", DURATION, INTEGER): DURATION,
    ("/", DURATION, DOUBLE): DURATION,
}

_WITH_TICKS = {
    ("+", TIME, INTEGER): TIME,
    ("-", TIME, INTEGER): TIME,
    ("+", INTEGER, TIME): TIME,
    ("-", INTEGER, TIME): DURATION,
    ("+", DURATION, INTEGER): DURATION,
    ("-", DURATION, INTEGER): DURATION,
    ("+", INTEGER, DURATION): DURATION,
    ("-", INTEGER, DURATION): DURATION,
}
"""Sums that read a plain number as ticks."""


def arithmetic_type(operator: str, left: Type, right: Type) -> Type | None:
    """Type of `left operator right`, or None when the two do not combine."""
    if left is NULL or right is NULL:
        known = right if left is NULL else left
        return known if known.is_numeric or known.is_temporal or known is NULL else None
    if left.is_numeric and right.is_numeric:
        both_whole = left is INTEGER and right is INTEGER and operator != "/"
        return INTEGER if both_whole else DOUBLE
    combination = (operator, left, right)
    return _TEMPORAL.get(combination) or _WITH_TICKS.get(combination)


def comparable(operator: str, left: Type, right: Type) -> bool:
    """Whether `left operator right` makes sense; truth values have no order."""
    kind = common_type(left, right)
    if kind is None:
        return False
    return operator in ("=", "<>") or kind is not Type.BOOLEAN


def reads_number_as_ticks(operator: str, left: Type, right: Type) -> bool:
    """Whether the operator takes a plain number for a time or a length of time."""
    if left.is_numeric == right.is_numeric or left.is_temporal == right.is_temporal:
        return False
    return operator not in ("*", "/")


def fits(given: Type, wanted: Type) -> bool:
    """Whether a value can be passed where another type is wanted."""
    return given is wanted or given is NULL or (wanted is DOUBLE and given is INTEGER)


def aggregate_type(function: str, column: Type) -> Type | None:
    """Type of an aggregate over a column, or None when the function cannot read it."""
    match function:
        case "COUNT":
            return INTEGER
        case "MIN" | "MAX":
            return None if column is Type.BOOLEAN else column
        case "SUM":
            return column if column.is_numeric else None
        case _:
            return DOUBLE if column.is_numeric else None
