"""COALESCE and IF: values that are chosen by conditions.

In a condition, each choice becomes an alternative, so that evaluators compare plain values:
`coalesce(x, y) > 3` is `x IS NOT NULL AND x > 3 OR x IS NULL AND y > 3`.
"""

from __future__ import annotations

from inkling.logical import expr as e
from inkling.logical.binding.terms import as_term
from inkling.model.types import Type, common_type

NAMES = ("coalesce", "if")


def common_kind(values: tuple[e.Expr, ...]) -> Type | None:
    """The type of a choice between values; terms stand beside any other value."""
    if any(value.type is Type.TERM for value in values):
        return Type.TERM
    kind: Type | None = Type.NULL
    for value in values:
        kind = None if kind is None else common_type(kind, value.type)
    return kind


def first_of(values: tuple[e.Expr, ...], kind: Type) -> e.Expr:
    """The first value that is not null."""
    given = _of_kind(values, kind)
    return e.Chosen(tuple(e.IsNull(value, negated=True) for value in given), given, kind)


def either(condition: e.Expr, values: tuple[e.Expr, ...], kind: Type) -> e.Expr:
    """One value if a condition holds, the other if not."""
    return e.Chosen((condition, e.Not(condition)), _of_kind(values, kind), kind)


def _of_kind(values: tuple[e.Expr, ...], kind: Type) -> tuple[e.Expr, ...]:
    if kind is Type.TERM:
        return tuple(map(as_term, values))
    return tuple(e.Literal(None, kind) if value.type is Type.NULL else value for value in values)


def without_choices(condition: e.Expr) -> e.Expr:
    """An equal condition in which no value is chosen."""
    match condition:
        case e.AllOf() | e.AnyOf() | e.Not():
            return e.rebuilt(condition, without_choices)
        case _:
            choice = next((part for part in e.walk(condition) if isinstance(part, e.Chosen)), None)
            return condition if choice is None else _alternatives(condition, choice)


def _alternatives(condition: e.Expr, choice: e.Chosen) -> e.Expr:
    found: list[e.Expr] = []
    earlier: list[e.Expr] = []
    for test, value in zip(choice.conditions, choice.values, strict=True):
        plain = without_choices(test)
        chosen = value if condition is choice else _with(condition, choice, value)
        found.append(e.AllOf((*earlier, plain, without_choices(chosen))))
        earlier.append(e.Not(plain))
    if isinstance(condition, e.IsNull):  # what depends on a missing value is missing
        missing = e.AnyOf(()) if condition.negated else e.TRUE
        found.append(e.AllOf((*earlier, missing)))
    return e.AnyOf(tuple(found))


def _with(expr: e.Expr, choice: e.Chosen, value: e.Expr) -> e.Expr:
    if expr == choice:
        return value
    return e.rebuilt(expr, lambda part: _with(part, choice, value))
