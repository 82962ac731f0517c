"""Tests of single rows given as Python values: a row that fails one certainly fails the condition.

A condition that needs Arrow, table facts or derived columns may hold on every row. So these tests only show which rows
need no evaluator; the evaluators test all others themselves.
"""

from collections.abc import Callable, Collection
from typing import Any, TypeAlias

from inkling.evaluators.stage.rows.conditions import COMPARED, TURNED
from inkling.logical import expr as e
from inkling.model.types import Type

Row: TypeAlias = tuple[Any, ...]
RowTest: TypeAlias = Callable[[Row], bool]
PlaceOf: TypeAlias = Callable[[str], int | None]

_EXACT = 2**53


def may_hold(condition: e.Expr, place_of: PlaceOf) -> RowTest | None:
    """Whether a condition may hold on a row; None if it may hold on every row."""
    match condition:
        case e.AllOf(items=items):
            return all_may([may_hold(item, place_of) for item in items])
        case e.AnyOf(items=items):
            return any_may([may_hold(item, place_of) for item in items])
        case e.Compare(operator=symbol, left=e.ColumnOf() as column, right=e.Literal() as literal):
            return _comparison(symbol, column, literal, place_of)
        case e.Compare(operator=symbol, left=e.Literal() as literal, right=e.ColumnOf() as column):
            return _comparison(TURNED[symbol], column, literal, place_of)
        case e.InList(item=e.ColumnOf() as column, choices=choices):
            return any_may([_comparison("=", column, choice, place_of) for choice in choices])
        case _:
            return None


def all_may(tests: Collection[RowTest | None]) -> RowTest | None:
    """Whether all of some conditions may hold."""
    known = tuple(test for test in tests if test is not None)
    if len(known) < 2:
        return known[0] if known else None
    return lambda row: all(test(row) for test in known)


def any_may(tests: Collection[RowTest | None]) -> RowTest | None:
    """Whether one of some conditions may hold."""
    known = tuple(test for test in tests if test is not None)
    if len(known) < len(tests):
        return None
    return known[0] if len(known) == 1 else lambda row: any(test(row) for test in known)


def _comparison(symbol: str, column: e.ColumnOf, literal: e.Literal, place_of: PlaceOf) -> RowTest | None:
    value: Any = literal.value
    place = place_of(column.column)
    if place is None:
        place = place_of(column.column.rsplit("|", 1)[0])
    if place is None or not _is_exact(symbol, column.type, value):
        return None
    position, compare = place, COMPARED[symbol]

    def test(row: Row) -> bool:
        have = row[position]
        return have is not None and compare(have, value)

    return test


def _is_exact(symbol: str, kind: Type, value: object) -> bool:
    """Whether Python and the evaluators agree on a comparison of a column with a constant."""
    match kind:
        case Type.INTEGER:
            return type(value) is int
        case Type.DOUBLE:
            return type(value) is float or (type(value) is int and abs(value) < _EXACT)
        case Type.STRING:
            return type(value) is str and symbol in ("=", "<>")
        case _:
            return False
