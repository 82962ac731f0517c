"""Conditions on single rows, compiled once and evaluated for whole batches.

Comparisons of a number column without nulls with a constant run in NumPy; everything else runs in Arrow. Unknown (null)
is not true.
"""

import operator
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.evaluators.stage.rows import format as r
from inkling.logical import expr as e
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.vectorized import evaluate
from inkling.logical.vectorized.columns import Resolve
from inkling.model.batch import in_one_array
from inkling.model.types import Type
from inkling.physical.naming import fact_name


def truth_of(condition: e.Expr, resolve: Resolve, n_rows: int, context: ExpressionContext) -> NDArray[np.bool_]:
    """Per row, whether a condition is true."""
    truth = evaluate(e.AllOf((condition,)), resolve, n_rows, context)
    return np.asarray(truth.to_numpy(zero_copy_only=False), bool)


class Row:
    """Resolves references to columns of the row in a table with logical or physical column names."""

    def __init__(self, source: pa.Table) -> None:
        self._source = source
        self._names = frozenset(source.column_names)

    def __call__(self, expr: e.Expr) -> pa.Array:
        match expr:
            case e.ColumnOf(column=column):
                name = column if column in self._names else column.rsplit("|", 1)[0]
                return in_one_array(self._source[name])
            case e.TimeOf(edge=edge):
                lasts = r.START in self._names
                return in_one_array(self._source[r.START if edge is e.Edge.START and lasts else r.END])
            case e.IdOf():
                return in_one_array(self._source[r.ID])
            case e.FactColumn(atom=atom, column=column, type=kind):
                return in_one_array(self._source[fact_name(atom, column, kind)])
            case _:
                raise AssertionError(f"{type(expr).__name__} does not look at one row")


Truth = NDArray[np.bool_]

COMPARED = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
TURNED = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_WIDEST = 2**63


class RowColumns:
    """The columns of a batch of rows, each converted once."""

    def __init__(self, rows: pa.Table) -> None:
        self.resolve = Row(rows)
        self._names = frozenset(rows.column_names)
        self.n_rows = len(rows)
        self._numbers: dict[str, np.ndarray | None] = {}

    def has(self, name: str) -> bool:
        return name in self._names

    def numbers(self, column: e.ColumnOf) -> np.ndarray | None:
        """A column of numbers as an array; None if it is no such column or has nulls."""
        if column.column not in self._numbers:
            values = self.resolve(column)
            plain = values.type in (pa.int64(), pa.float64()) and not values.null_count
            self._numbers[column.column] = values.to_numpy() if plain else None
        return self._numbers[column.column]


Condition = Callable[[RowColumns], Truth]


def prepared(condition: e.Expr, context: ExpressionContext) -> Condition:
    """A compiled condition."""
    match condition:
        case e.AllOf(items=items) if items:
            parts = [prepared(item, context) for item in items]
            return parts[0] if len(parts) == 1 else lambda rows: reduce(np.logical_and, [part(rows) for part in parts])
        case e.AnyOf(items=items) if items:
            parts = [prepared(item, context) for item in items]
            return parts[0] if len(parts) == 1 else lambda rows: reduce(np.logical_or, [part(rows) for part in parts])
        case e.Not(item=item):
            inner = prepared(item, context)
            return lambda rows: ~inner(rows)
        case e.Compare(operator=symbol, left=e.ColumnOf() as column, right=e.Literal(value=value)) if _is_number(value):
            return _comparison(symbol, column, value, condition, context)
        case e.Compare(operator=symbol, left=e.Literal(value=value), right=e.ColumnOf() as column) if _is_number(value):
            return _comparison(TURNED[symbol], column, value, condition, context)
        case _:
            return _by_arrow(condition, context)


def _is_number(value: object) -> bool:
    return isinstance(value, float) or (isinstance(value, int) and not isinstance(value, bool) and abs(value) < _WIDEST)


def _comparison(
    symbol: str, column: e.ColumnOf, value: Any, condition: e.Expr, context: ExpressionContext
) -> Condition:
    general = _by_arrow(condition, context)
    if column.type not in (Type.INTEGER, Type.DOUBLE):
        return general
    compare = COMPARED[symbol]

    def truth(rows: RowColumns) -> Truth:
        numbers = rows.numbers(column)
        return general(rows) if numbers is None else np.asarray(compare(numbers, value))

    return truth


def _by_arrow(condition: e.Expr, context: ExpressionContext) -> Condition:
    return lambda rows: truth_of(condition, rows.resolve, rows.n_rows, context)
