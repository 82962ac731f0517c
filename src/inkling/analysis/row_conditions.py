"""Which conditions on one row can hold together: mutually exclusive pairs, and the satisfiable sets on one column.

Automata use this to leave out symbols that no row can have: `x < 1` and `x > 2` never hold together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise
from math import floor, inf, isfinite
from typing import TypeAlias

from inkling.automata.guards import Joint
from inkling.logical import expr as e
from inkling.logical.evaluate import Bindings, ExpressionContext, holds
from inkling.model.event import Value
from inkling.model.time import Duration
from inkling.model.types import Type

Number: TypeAlias = int | float


@dataclass(frozen=True, slots=True)
class _Between:
    """Numbers between two ends."""

    low: Number = -inf
    high: Number = inf
    low_open: bool = False
    high_open: bool = False

    def holds(self, value: object) -> bool:
        if not isinstance(value, int | float) or isinstance(value, bool):
            return False
        above = value > self.low if self.low_open else value >= self.low
        return above and (value < self.high if self.high_open else value <= self.high)

    def misses(self, other: _Between) -> bool:
        return self._ends_before(other) or other._ends_before(self)

    def _ends_before(self, other: _Between) -> bool:
        if self.high == other.low:
            return self.high_open or other.low_open
        return self.high < other.low


_Values: TypeAlias = frozenset[object] | _Between


def exclusive_pairs(conditions: Mapping[int, e.Expr]) -> tuple[frozenset[int], ...]:
    """Pairs of numbered conditions that contradict each other, so that they never hold on one row."""
    return tuple(
        frozenset({one, other})
        for (one, left), (other, right) in combinations(sorted(conditions.items()), 2)
        if _exclude(left, right)
    )


def _exclude(left: e.Expr, right: e.Expr) -> bool:
    if left == e.Not(right) or right == e.Not(left):
        return True
    match left, right:
        case (e.Compare(operator=one), e.Compare(operator=other)) if {one, other} == {"=", "<>"}:
            return (left.left, left.right) == (right.left, right.right)
        case e.IsNull(item=item, negated=False), _:
            return _asks_for_value(item, right)
        case _, e.IsNull(item=item, negated=False):
            return _asks_for_value(item, left)
    one_of, other_of = _asked(left), _asked(right)
    if one_of is None or other_of is None or one_of[0] != other_of[0]:
        return False
    return _apart(one_of[1], other_of[1])


def _asks_for_value(item: e.Expr, condition: e.Expr) -> bool:
    match condition:
        case e.IsNull(item=other, negated=True):
            return other == item
        case e.Compare(left=one, right=other):
            return item in (one, other)
        case e.InList(item=other):
            return other == item
        case e.AnyOf(items=items):
            return all(_asks_for_value(item, one) for one in items)
        case _:
            return False


def _apart(one: _Values, other: _Values) -> bool:
    match one, other:
        case _Between(), _Between():
            return one.misses(other)
        case _Between(), frozenset():
            return not any(one.holds(value) for value in other)
        case frozenset(), _Between():
            return not any(other.holds(value) for value in one)
        case _:
            return not one & other  # type: ignore[operator]


def _asked(condition: e.Expr) -> tuple[e.Expr, _Values] | None:
    """Of which value a condition asks what, if it asks one value to be among constants or in a range."""
    match condition:
        case e.Compare(operator=operator, left=subject, right=e.Literal(value=value)):
            values = _values(operator, value)
            return None if values is None else (subject, values)
        case e.Compare(operator=operator, left=e.Literal(value=value), right=subject):
            mirrored = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(operator, operator)
            values = _values(mirrored, value)
            return None if values is None else (subject, values)
        case e.InList(item=subject, choices=choices):
            return subject, frozenset(choice.value for choice in choices)
        case e.AnyOf(items=items):
            asked = [_asked(item) for item in items]
            first = asked[0]
            if first is None or any(one is None or one[0] != first[0] for one in asked):
                return None
            sets = [one[1] for one in asked if one is not None]
            listed = [one for one in sets if isinstance(one, frozenset)]
            return (first[0], frozenset[object]().union(*listed)) if len(listed) == len(sets) else None
        case _:
            return None


def _values(operator: str, value: object) -> _Values | None:
    if operator == "=":
        return frozenset({value})
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    match operator:
        case "<" | "<=":
            return _Between(high=value, high_open=operator == "<")
        case ">" | ">=":
            return _Between(low=value, low_open=operator == ">")
        case _:
            return None


EXACT = 1 << 53
"""Whole numbers below it are the same as integers and as doubles."""


def joint_conditions(conditions: Mapping[int, e.Expr]) -> tuple[Joint, ...]:
    """Groups of numbered conditions that compare one column with constants, and which of them can hold on one row.

    A value of each kind that the constants distinguish is tried, and null, on which comparisons are false and their
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
        for value in _constants(column.type, constants - {None})
    )
    return Joint(sum(1 << number for number in group), sets)


def _is_simple(condition: e.Expr) -> bool:
    """Whether a condition is built of comparisons of a column with constants whose order is certain."""
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


def _constants(kind: Type, constants: set[Value]) -> Iterator[Value | Fraction]:
    """Null, and at least one value of each kind that the constants distinguish."""
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

    return holds(filled(condition), Bindings(), ExpressionContext({}, _no_length))


def _no_length(span: Duration) -> int:
    raise AssertionError(f"{span} is no part of a simple condition")
