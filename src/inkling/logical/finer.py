"""Expressions on a clock that divides ticks further: where plain numbers meet times, they count finer units as well."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from inkling.logical import expr as e
from inkling.model.types import Type

FINER = 2**16
"""How many times finer than ticks the clock of worlds is where events were lost: room between any two ticks."""

_TIMES = (Type.TIME, Type.DURATION)


def on_finer_clock(expr: e.Expr, counts_ticks: Callable[[e.Expr], bool]) -> e.Expr:
    """The expression with all times and lengths of time in finer units.

    `counts_ticks` tells columns that hold times as they were read.
    """

    def finer(part: e.Expr) -> e.Expr:
        if counts_ticks(part):
            return _multiplied(part)
        part = e.rebuilt(part, finer)
        match part:
            case e.Compare(left=left, right=right):
                return replace(part, left=_beside(left, right), right=_beside(right, left))
            case e.Arithmetic(operator="+" | "-", left=left, right=right):
                return replace(part, left=_beside(left, right), right=_beside(right, left))
            case e.InList(item=item, choices=choices) if item.type in _TIMES:
                return replace(part, choices=tuple(_larger(one) for one in choices))
            case _:
                return part

    return finer(expr)


def _beside(number: e.Expr, other: e.Expr) -> e.Expr:
    """A plain number that is compared with a time, or added to it, counts ticks."""
    is_plain = number.type in (Type.INTEGER, Type.DOUBLE)
    return _multiplied(number) if is_plain and other.type in _TIMES else number


def _multiplied(number: e.Expr) -> e.Expr:
    if isinstance(number, e.Literal):
        return _larger(number)
    return e.Arithmetic("*", number, e.Literal(FINER, Type.INTEGER), number.type)


def _larger(number: e.Literal) -> e.Literal:
    return replace(number, value=number.value * FINER) if isinstance(number.value, int | float) else number
