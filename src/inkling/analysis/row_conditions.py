"""Which pairs of conditions on one row are mutually exclusive: `x < 1` and `x > 2` never hold together.

Automata use this, and the sets of `inkling.analysis.joint_conditions`, to leave out symbols that no row can have.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from math import inf
from typing import TypeAlias

from inkling.logical import expr as e

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
