"""Conditions on one column, and the sets of them that a value of it can fulfill."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import pairwise
from math import floor, isfinite

from inkling.automata.minterms import Joint
from inkling.logical import expr as e
from inkling.logical.evaluate import Bindings, Surroundings, holds
from inkling.model.event import Value
from inkling.model.time import Span
from inkling.model.types import Type

EXACT = 1 << 53
"""Whole numbers below it are the same as integers and as doubles."""


def joint_conditions(conditions: Mapping[int, e.Expr]) -> tuple[Joint, ...]:
    """Groups of numbered conditions that compare one column with constants, and which of them can hold on one row.

    A value of each kind that the constants tell apart is tried, and null, on which comparisons are false and their
    negations true. So nothing that can be is left out. Columns hold no NaN: it is read as null.
    """
    groups: dict[e.ColumnOf, dict[int, e.Expr]] = defaultdict(dict)
    for number, condition in conditions.items():
        columns = {part for part in e.walk(condition) if isinstance(part, e.ColumnOf)}
        if len(columns) == 1 and _is_simple(condition):
            groups[columns.pop()][number] = condition
    return tuple(_joint(column, group) for column, group in groups.items() if len(group) > 1)


def _joint(column: e.ColumnOf, group: Mapping[int, e.Expr]) -> Joint:
    constants = {
        part.value for condition in group.values() for part in e.walk(condition) if isinstance(part, e.Literal)
    }
    sets = frozenset(
        sum(1 << number for number, condition in group.items() if _holds(condition, column, value))
        for value in _values(column.type, constants - {None})
    )
    return Joint(sum(1 << number for number in group), sets)


def _is_simple(condition: e.Expr) -> bool:
    """Whether a condition is built of comparisons of a column with constants whose order is beyond doubt."""
    match condition:
        case e.AllOf(items=items) | e.AnyOf(items=items):
            return all(_is_simple(item) for item in items)
        case e.Not(item=item):
            return _is_simple(item)
        case e.ColumnOf(type=Type.BOOLEAN) | e.IsNull(item=e.ColumnOf()):
            return True
        case e.InList(item=e.ColumnOf() as column, choices=choices):
            return all(_is_comparable(column.type, "=", choice.value) for choice in choices)
        case e.Compare(operator=operator, left=e.ColumnOf() as column, right=e.Literal(value=value)):
            return _is_comparable(column.type, operator, value)
        case e.Compare(operator=operator, left=e.Literal(value=value), right=e.ColumnOf() as column):
            return _is_comparable(column.type, operator, value)
        case _:
            return False


def _is_comparable(kind: Type, operator: str, value: Value) -> bool:
    match kind, value:
        case _, None:
            return True
        case Type.BOOLEAN, bool():
            return True
        case Type.STRING, str():
            return operator in ("=", "<>")
        case ((Type.INTEGER | Type.DOUBLE), int() | float()) if not isinstance(value, bool):
            return isfinite(value) and abs(value) < EXACT
        case _:
            return False


def _values(kind: Type, constants: set[Value]) -> Iterator[Value | Fraction]:
    """Null, and at least one value of each kind that the constants tell apart."""
    yield None
    match kind:
        case Type.BOOLEAN:
            yield from (False, True)
        case Type.STRING:
            yield from constants
            yield "".join(str(constant) for constant in constants) + "-"
        case Type.INTEGER:
            near = {floor(Fraction(constant)) + step for constant in constants for step in (-1, 0, 1)}  # type: ignore[arg-type]
            yield from near or {0}
        case Type.DOUBLE:
            points = sorted(Fraction(constant) for constant in constants)  # type: ignore[arg-type]
            yield from points or [Fraction(0)]
            yield from ((low + high) / 2 for low, high in pairwise(points))
            if points:
                yield from (points[0] - 1, points[-1] + 1)
        case _:
            yield from ()


def _holds(condition: e.Expr, column: e.ColumnOf, value: Value | Fraction) -> bool:
    def filled(expr: e.Expr) -> e.Expr:
        return e.Literal(value, column.type) if expr == column else e.rebuilt(expr, filled)  # type: ignore[arg-type]

    return holds(filled(condition), Bindings(), Surroundings({}, _no_length))


def _no_length(span: Span) -> int:
    raise AssertionError(f"{span} is no part of a simple condition")
