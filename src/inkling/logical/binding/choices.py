"""`coalesce(x, y, …)` and `if(c, x, y)`: one of several values of one type, as a plan chooses among them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from inkling.logical import expr as e
from inkling.logical.binding.terms import as_term
from inkling.model.types import Type, common_type


def chosen_type(kinds: Sequence[Type]) -> Type | None:
    """The type of a choice among values of some types; None if they have none in common. Any value can be a term."""
    if Type.TERM in kinds:
        return Type.TERM
    if Type.DURATION in kinds and Type.DOUBLE in kinds:
        return None

    def both(one: Type | None, other: Type) -> Type | None:
        return None if one is None else common_type(one, other)

    found: Type | None = Type.NULL
    return reduce(both, kinds, found)


def first_present(values: Sequence[e.Expr], kind: Type) -> e.Expr:
    """The first value that is not null."""
    given = [_as(value, kind) for value in values if value.type is not Type.NULL]
    if len(given) < 2:
        return given[0] if given else e.Literal(None, kind)
    tests = [e.IsNull(value, negated=True) for value in given[:-1]]
    return e.Chosen((*tests, e.TRUE), tuple(given), kind)


def either(condition: e.Expr, value: e.Expr, otherwise: e.Expr, kind: Type) -> e.Expr:
    """One value where a condition holds, and another elsewhere."""
    return e.Chosen((condition, e.TRUE), (_as(value, kind), _as(otherwise, kind)), kind)


def _as(value: e.Expr, kind: Type) -> e.Expr:
    """A value in the type that is chosen."""
    if kind is Type.TERM:
        return as_term(value)
    if value.type is Type.NULL:
        return e.Literal(None, kind)
    if value.type is not Type.INTEGER or kind is not Type.DOUBLE:
        return value
    if isinstance(value, e.Literal) and isinstance(value.value, int):
        return e.Literal(float(value.value), kind)
    return e.Arithmetic("+", value, e.Literal(0.0, kind), kind)
