"""Parts of conditions across events that Python computes, one pair at a time, for the virtual machine.

`contains(a.shape, b.x, b.y) AND b.x > a.x`: the machine compares b.x with a.x; for `contains` it passes the rows of `a`
and `b` to a `Call`, which reads the columns and gives the value by its definition (`logical.evaluate`). A look-up of
more than a pair of columns is a call too; it finds its rows by their hashed values.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from inkling.evaluators.network.store import Reference, Store, array_of, column_of
from inkling.kernels.joins.callbacks import C_FUNCTION
from inkling.logical import expr as e
from inkling.logical.evaluate import Bindings, ExpressionContext, Row, holds, value_of
from inkling.model.schema import Facts
from inkling.model.time import Duration
from inkling.model.types import Type
from inkling.physical.conditions import NUMERIC_FUNCTIONS, is_pair_test

if TYPE_CHECKING:
    from inkling.evaluators.network.partials import RegisterLayout
    from inkling.model.event import Value

Read = Reference | e.Aggregate


def is_called(expr: e.Expr) -> bool:
    """Whether the machine calls Python for an expression: what it lacks, or anything that reads its text."""
    if _lacks(expr):
        return not expr.type.is_text
    return any(_lacks(part) and part.type.is_text for part in e.children(expr))


def calls_anything(condition: e.Expr) -> bool:
    return any(_lacks(part) for part in e.walk(condition))


def _lacks(expr: e.Expr) -> bool:
    """Whether an expression is a function, or a look-up, that no instruction computes."""
    if isinstance(expr, e.InTable):
        return not is_pair_test(expr)
    if isinstance(expr, e.Chosen) and expr.type.is_text:
        return any(map(_lacks, expr.values))
    return isinstance(expr, e.FunctionCall) and expr.name not in NUMERIC_FUNCTIONS


def references_in(expr: e.Expr) -> tuple[Read, ...]:
    """What an expression reads from the match, without duplicates."""
    kinds = e.ColumnOf | e.ListColumn | e.TimeOf | e.IdOf | e.Aggregate
    return tuple(dict.fromkeys(part for part in e.walk(expr) if isinstance(part, kinds)))


class Call:
    """An expression as a C function of what it reads: the row of an event, or a number of the match itself."""

    def __init__(
        self,
        expr: e.Expr,
        references: tuple[Read, ...],
        store: Store,
        layout: RegisterLayout,
        unit: Callable[[Duration], int],
    ) -> None:
        self.failure: BaseException | None = None
        self._expr = _with_names(expr, {one: str(number) for number, one in enumerate(references)})
        self._context = ExpressionContext(store.facts, unit)
        self._given: tuple[tuple[int, e.Expr], ...] = ()
        if isinstance(self._expr, e.InTable):
            self._given = tuple((place, arg) for place, arg in enumerate(self._expr.args) if arg is not None)
            self._rows = _rows_by(tuple(place for place, _ in self._given), store.facts[self._expr.table])
        self._readers = {str(number): _reader(one, store, layout) for number, one in enumerate(references)}
        self._function = C_FUNCTION(self._value)

    @property
    def address(self) -> int:
        """Of the C function, which exists as long as this call."""
        return ctypes.cast(self._function, ctypes.c_void_p).value or 0

    def _value(self, arguments: Any) -> float:
        if self.failure is not None:
            return math.nan
        try:
            key = {name: read(arguments[number]) for number, (name, read) in enumerate(self._readers.items())}
            at = Bindings(key=key)
            value = self._is_there(at) if isinstance(self._expr, e.InTable) else value_of(self._expr, at, self._context)
        except BaseException as failure:  # it cannot pass through compiled code
            self.failure = failure
            return math.nan
        assert not isinstance(value, str)
        return math.nan if value is None else float(value)

    def _is_there(self, at: Bindings) -> bool:
        """Whether a look-up finds a row, which also passes its condition."""
        assert isinstance(self._expr, e.InTable)
        wanted = tuple(value_of(arg, at, self._context) for _, arg in self._given)
        if None in wanted:
            return False
        rows, condition, number = self._rows.get(wanted, ()), self._expr.condition, self._expr.number
        if condition is None:
            return bool(rows)
        return any(holds(condition, at.with_fact(number, row), self._context) for row in rows)


def _rows_by(places: tuple[int, ...], facts: Sequence[Row]) -> Mapping[tuple[Value, ...], Sequence[Row]]:
    """The rows of a table by their values in some columns, without rows that lack one; cached per table."""
    if isinstance(facts, Facts) and (found := facts.forms.get(("rows by", places))) is not None:
        return cast(Mapping[tuple["Value", ...], Sequence[Row]], found)
    by: dict[tuple[Value, ...], list[Row]] = {}
    for row in facts:
        values = tuple(row.values())
        wanted = tuple(values[place] for place in places)
        if None not in wanted:
            by.setdefault(wanted, []).append(row)
    if isinstance(facts, Facts):
        facts.forms["rows by", places] = by
    return by


def _with_names(expr: e.Expr, names: dict[Read, str]) -> e.Expr:
    """The expression with all that it reads under names."""
    if isinstance(expr, Read):
        return e.KeyColumn(names[expr], expr.type)
    return e.rebuilt(expr, lambda part: _with_names(part, names))


def _reader(reference: Read, store: Store, layout: RegisterLayout) -> Callable[[float], Value]:
    if isinstance(reference, e.Aggregate) or (isinstance(reference, e.TimeOf) and layout.is_span(reference.slot)):
        number = float if reference.type is Type.DOUBLE else int
        return lambda value: None if math.isnan(value) else number(value)
    column = array_of(store.batch, column_of(reference))
    return lambda row: None if row < 0 else column[int(row)].as_py()
