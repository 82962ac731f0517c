"""Which sets of conditions on one row can hold together: Wayeb's minterms, without those that no row satisfies.

Conditions compare subjects, which are columns or expressions such as a distance, with constants and with each other.
`haversine(lat, lon, 48.4, -4.5) < 1` implies `< 2`, whatever the distance is computed from.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from math import floor, isfinite, prod
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from inkling.automata.guards import Joint
from inkling.logical import expr as e
from inkling.logical.evaluate import COMPARISONS
from inkling.model.event import Value
from inkling.model.types import Type

Tried: TypeAlias = Value | Fraction
NUMBERS = (Type.INTEGER, Type.DOUBLE)

EXACT = 1 << 53
"""Whole numbers below it are the same as integers and as doubles."""

MOST_TRIED = 1 << 12
"""The most combinations of values that are tried for conditions that share subjects."""


def joint_conditions(conditions: Mapping[int, e.Expr]) -> tuple[Joint, ...]:
    """Groups of numbered conditions that share subjects, and which of them can hold on one row.

    A value of each kind that the constants distinguish is tried for each subject, and null, on which comparisons are
    false and their negations true. So nothing that can be is left out. Values are no NaN: it is read as null. If there
    are too many combinations, conditions on several subjects are left out of the groups.
    """
    simple = {number: one for number, condition in conditions.items() if (one := _simple(condition)) is not None}
    joints = []
    for group in _sharing(simple):
        tried = _tried(group.values())
        if prod(map(len, tried.values())) <= MOST_TRIED:
            joints.append(_joint(group, tried))
            continue
        alone = {number: one for number, one in group.items() if len(one.subjects) == 1}
        joints += [_joint(part, _tried(part.values())) for part in _sharing(alone)]
    return tuple(one for one in joints if one.mask.bit_count() > 1)


@dataclass(frozen=True, slots=True)
class _Condition:
    """A condition built of comparisons of subjects whose results are certain."""

    expr: e.Expr
    compared: frozenset[tuple[e.Expr, e.Expr]]  # pairs of subjects
    constants: frozenset[tuple[e.Expr, Value]]  # constants that a subject is compared with
    subjects: tuple[e.Expr, ...]


def _simple(condition: e.Expr) -> _Condition | None:
    compared: dict[tuple[e.Expr, e.Expr], None] = {}
    constants: dict[tuple[e.Expr, Value], None] = {}
    subjects: dict[e.Expr, None] = {}

    def read(part: e.Expr) -> bool:
        match part:
            case e.AllOf(items=items) | e.AnyOf(items=items):
                return all(read(item) for item in items)
            case e.Not(item=item):
                return read(item)
            case e.IsNull(item=item):
                subjects[item] = None
                return not isinstance(item, e.Literal)
            case e.InList(item=item, choices=choices):
                return all(compare("=", item, choice) for choice in choices)
            case e.Compare(operator=operator, left=left, right=right):
                return compare(operator, left, right)
            case e.ColumnOf(type=Type.BOOLEAN) | e.FunctionCall(type=Type.BOOLEAN):
                subjects[part] = None
                return True
            case _:
                return False

    def compare(operator: str, left: e.Expr, right: e.Expr) -> bool:
        match left, right:
            case e.Literal(), e.Literal():
                return False
            case (e.Literal(value=value), subject) | (subject, e.Literal(value=value)):
                subjects[subject] = None
                constants[subject, value] = None
                return _is_comparable(subject.type, operator, value)
            case _:
                subjects.update(dict.fromkeys((left, right)))
                compared[left, right] = None
                return (left.type in NUMBERS and right.type in NUMBERS) or (
                    left.type is right.type and left.type.is_text and operator in ("=", "<>")
                )

    if not read(condition) or not subjects:
        return None
    return _Condition(condition, frozenset(compared), frozenset(constants), tuple(subjects))


def _is_comparable(kind: Type, operator: str, value: Value) -> bool:
    match kind, value:
        case _, None:
            return True
        case Type.BOOLEAN, bool():
            return True
        case ((Type.STRING | Type.TERM), str()):
            return operator in ("=", "<>")
        case ((Type.INTEGER | Type.DOUBLE), int() | float()) if not isinstance(value, bool):
            return isfinite(value) and abs(value) < EXACT
        case _:
            return False


def _sharing(conditions: Mapping[int, _Condition]) -> list[dict[int, _Condition]]:
    """The conditions in groups that share no subject."""
    groups: list[tuple[set[e.Expr], dict[int, _Condition]]] = []
    for number, one in conditions.items():
        mine, members, others = set(one.subjects), {number: one}, []
        for group in groups:
            if group[0].isdisjoint(mine):
                others.append(group)
            else:
                mine, members = mine | group[0], {**group[1], **members}
        groups = [*others, (mine, members)]
    return [members for _, members in groups]


def _tried(conditions: Iterable[_Condition]) -> dict[e.Expr, list[Tried]]:
    """For each subject, null and at least one value of each kind that the conditions distinguish."""
    together: dict[e.Expr, list[e.Expr]] = {}
    constants: dict[e.Expr, set[Value]] = defaultdict(set)
    for one in conditions:
        for subject in one.subjects:
            together.setdefault(subject, [subject])
        for subject, value in one.constants:
            constants[subject].add(value)
        for left, right in one.compared:
            if together[left] is not together[right]:
                joined = [*together[left], *together[right]]
                together.update(dict.fromkeys(joined, joined))
    return {
        subject: [None, *_kinds(subject, set().union(*(constants[one] for one in others)) - {None}, len(others))]
        for subject, others in together.items()
    }


def _kinds(subject: e.Expr, constants: set[Value], n_compared: int) -> Iterator[Tried]:
    """Values on all sides of the constants; `n_compared` subjects that are compared with each other may all differ."""
    match subject.type:
        case Type.BOOLEAN:
            yield from (False, True)
        case Type.STRING | Type.TERM:
            yield from sorted(map(str, constants))
            longer = "".join(sorted(map(str, constants))) + "-"
            yield from (longer + "-" * number for number in range(n_compared))
        case Type.INTEGER if isinstance(subject, e.ColumnOf) and n_compared == 1:
            near = {floor(Fraction(one)) + step for one in constants for step in (-1, 0, 1)}  # type: ignore[arg-type]
            yield from sorted(near) or [0]
        case Type.INTEGER | Type.DOUBLE:
            points = sorted({Fraction(one) for one in constants}) or [Fraction(0)]  # type: ignore[arg-type]
            ends = [points[0] - n_compared - 1, *points, points[-1] + n_compared + 1]
            for low, high in pairwise(ends):
                step = (high - low) / (n_compared + 1)
                yield from (low + number * step for number in range(n_compared + 1))
            yield ends[-1]
        case _:
            yield False  # no condition asks for more than whether there is a value


def _joint(group: Mapping[int, _Condition], tried: Mapping[e.Expr, list[Tried]]) -> Joint:
    axes = {subject: axis for axis, subject in enumerate(tried)}
    held = np.zeros([len(values) for values in tried.values()], object)
    for number, one in group.items():
        held = held + _truth(one, tried, axes).astype(object) * (1 << number)
    return Joint(sum(1 << number for number in group), frozenset(held.ravel().tolist()))


def _truth(condition: _Condition, tried: Mapping[e.Expr, list[Tried]], axes: Mapping[e.Expr, int]) -> NDArray[np.bool_]:
    """Where a condition holds, with one axis per subject; subjects that it does not read have one place."""
    own = sorted(condition.subjects, key=lambda subject: axes[subject])
    found = [
        _holds(condition.expr, dict(zip(own, values, strict=True)))
        for values in product(*(tried[subject] for subject in own))
    ]
    shape = [len(values) if subject in own else 1 for subject, values in tried.items()]
    return np.array(found, bool).reshape(shape)


def _holds(condition: e.Expr, values: Mapping[e.Expr, Tried]) -> bool:
    """Whether a condition is true for some values of its subjects; see `inkling.logical.evaluate.value_of`."""

    def value(expr: e.Expr) -> Tried:
        return expr.value if isinstance(expr, e.Literal) else values[expr]

    match condition:
        case e.AllOf(items=items):
            return all(_holds(item, values) for item in items)
        case e.AnyOf(items=items):
            return any(_holds(item, values) for item in items)
        case e.Not(item=item):
            return not _holds(item, values)
        case e.IsNull(item=item, negated=negated):
            return (value(item) is None) != negated
        case e.InList(item=item, choices=choices):
            found = value(item)
            return found is not None and any(found == choice.value for choice in choices)
        case e.Compare(operator=operator, left=left, right=right):
            one, other = value(left), value(right)
            return one is not None and other is not None and COMPARISONS[operator](one, other)
        case subject:
            return values[subject] is True
