"""Whole numbers of more than 53 bits, which doubles do not tell apart: compared by an upper and a lower half.

A comparison of sums of whole numbers asks for the sign of one sum. Its upper and lower halves add up exactly, and a
rounded sum of the two still has the right sign.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from inkling.logical import expr as e
from inkling.model.time import Span
from inkling.model.types import Type

HIGH, LOW = "@high", "@low"
"""What the columns of the halves are called, after the name of the column."""

LOWER_BITS = 32
UNIT = float(1 << LOWER_BITS)  # of the upper half
EXACT = 1 << 53
WHOLE = (Type.INTEGER, Type.TIME, Type.DURATION)

Reference = e.ColumnOf | e.ListColumn | e.TimeOf | e.IdOf
Term = tuple[int, Reference | int]
"""A sign, and a column or a constant."""


def needs_halves(whole: NDArray[np.int64]) -> bool:
    return bool(len(whole)) and not -EXACT <= int(whole.min()) <= int(whole.max()) <= EXACT


def halves_of(whole: NDArray[np.int64]) -> dict[str, NDArray[np.int64]]:
    return {HIGH: whole >> LOWER_BITS, LOW: whole & ((1 << LOWER_BITS) - 1)}


def half_of(number: int, half: str) -> float:
    return float(number >> LOWER_BITS if half == HIGH else number & ((1 << LOWER_BITS) - 1))


def difference(compared: e.Compare, measure: Callable[[Span], int]) -> tuple[Term, ...] | None:
    """The left side minus the right one, if both are sums of whole numbers."""
    left, right = _terms(compared.left, 1, measure), _terms(compared.right, -1, measure)
    return None if left is None or right is None else left + right


def _terms(expr: e.Expr, sign: int, measure: Callable[[Span], int]) -> tuple[Term, ...] | None:
    match expr:
        case e.Literal(value=int(value), type=Type.INTEGER):
            return ((sign, value),)
        case e.SpanLiteral(span=span):
            return ((sign, measure(span)),)
        case e.ColumnOf() | e.ListColumn() | e.TimeOf() | e.IdOf():
            return ((sign, expr),) if expr.type in WHOLE else None
        case e.Negate(item=item):
            return _terms(item, -sign, measure)
        case e.Arithmetic(operator="+" | "-" as symbol, left=left, right=right):
            one = _terms(left, sign, measure)
            other = _terms(right, sign if symbol == "+" else -sign, measure)
            return None if one is None or other is None else one + other
        case _:
            return None
