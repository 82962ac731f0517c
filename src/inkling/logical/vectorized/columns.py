"""The values of an expression in every row of some columns, equal to what `logical.evaluate` gives for each row.

`INTEGER` is 64 bits wide here: a result that does not fit is null. An integer beside a double is read as a double, and
`/` divides doubles. A look-up tests whether a background table has a row that agrees with each row of the columns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.logical import expr as e
from inkling.logical.evaluate import ExpressionContext, Row
from inkling.logical.vectorized import datum as d
from inkling.logical.vectorized.functions import call
from inkling.model.batch import in_one_array
from inkling.model.event import Value
from inkling.model.schema import Facts
from inkling.model.types import Type

Kinds: TypeAlias = tuple[tuple[int, pa.DataType], ...]
FEW_ROWS = 16
"""So many rows are looked up in a set, which is built once per table; more rows by Arrow, which builds it each time."""


class LookUp:
    """The facts of a table that have some constants, for look-ups by the values of other columns."""

    __slots__ = ("_columns", "_held", "n_facts")

    def __init__(self, columns: list[pa.Array], n_facts: int) -> None:
        self._columns, self.n_facts = columns, n_facts
        self._held: frozenset[tuple[Value, ...]] | None = None

    @staticmethod
    def of(facts: Sequence[Row], constants: tuple[tuple[int, pa.Scalar], ...], asked: Kinds) -> LookUp:
        """`asked`: the positions of columns that are looked up, with the types of the values."""
        if not isinstance(facts, Facts):
            return LookUp._made(facts, constants, asked)
        form = (LookUp, tuple((place, value.type, value.as_py()) for place, value in constants), asked)
        found = facts.forms.get(form)
        if not isinstance(found, LookUp):
            facts.forms[form] = found = LookUp._made(facts, constants, asked)
        return found

    @staticmethod
    def _made(facts: Sequence[Row], constants: tuple[tuple[int, pa.Scalar], ...], asked: Kinds) -> LookUp:
        chosen = np.ones(len(facts), bool)
        for position, value in constants:
            known, constant = alike(_column(facts, position), d.broadcast(value, 1, value.type))
            chosen &= pc.is_in(known, constant.drop_null()).to_numpy(zero_copy_only=False)
        left = pa.array(chosen)
        columns = [alike(_column(facts, place).filter(left), pa.nulls(0, kind))[0] for place, kind in asked]
        return LookUp(columns, int(np.count_nonzero(chosen)))

    def holds(self, asked: list[d.Datum], n_rows: int) -> d.Datum:
        """Whether some fact has the value in each column, per row; null agrees with nothing.

        Many rows are numbered column by column: two facts, or a fact and a row, get the same number just when they
        agree so far.
        """
        if not asked:
            return pa.scalar(self.n_facts > 0)
        asked = [alike(known, values)[1] for known, values in zip(self._columns, asked, strict=True)]
        if n_rows <= FEW_ROWS:
            rows = zip(*(values.to_pylist() for values in asked), strict=True)
            return pa.array([row in self._set for row in rows], pa.bool_())
        if len(asked) == 1:
            return pc.is_in(asked[0], self._columns[0].drop_null())
        fact_numbers: pa.Array | None = None
        row_numbers: pa.Array | None = None
        for known, values in zip(self._columns, asked, strict=True):
            choices = known.drop_null().unique()
            one_fact, one_row = pc.index_in(known, choices), pc.index_in(values, choices)
            if fact_numbers is None:
                fact_numbers, row_numbers = one_fact, one_row
                continue
            fact_pairs = _pair_numbers(fact_numbers, one_fact, len(choices))
            pairs = fact_pairs.drop_null().unique()
            fact_numbers = pc.index_in(fact_pairs, pairs)
            row_numbers = pc.index_in(_pair_numbers(row_numbers, one_row, len(choices)), pairs)
        assert fact_numbers is not None
        return pc.is_in(row_numbers, fact_numbers.drop_null())

    @property
    def _set(self) -> frozenset[tuple[Value, ...]]:
        if self._held is None:
            rows = zip(*(known.to_pylist() for known in self._columns), strict=True)
            self._held = frozenset(row for row in rows if None not in row)
        return self._held


def in_table(facts: Sequence[Row], wanted: Sequence[d.Datum | None], n_rows: int) -> d.Datum:
    """Whether some fact has `wanted[i]` in each column i, per row; null agrees with nothing, `None` asks nothing."""
    constants = tuple((place, one) for place, one in enumerate(wanted) if isinstance(one, pa.Scalar))
    asked = [(place, one) for place, one in enumerate(wanted) if isinstance(one, pa.Array)]
    look_up = LookUp.of(facts, constants, tuple((place, one.type) for place, one in asked))
    return look_up.holds([one for _, one in asked], n_rows)


def agreeing(facts: Sequence[Row], wanted: Sequence[pa.Array | None], n_rows: int) -> tuple[pa.Array, pa.Array]:
    """Every pair of a row and a fact that agree, by their places."""
    keys, known = [], []
    for position, column in enumerate(wanted):
        if column is not None:
            own, asked = alike(_column(facts, position), column)
            keys.append(asked)
            known.append(own)
    if not keys:
        rows = np.repeat(np.arange(n_rows), len(facts))
        return pa.array(rows), pa.array(np.tile(np.arange(len(facts)), n_rows))
    names = [f"k{place}" for place in range(len(keys))]
    left = pa.table([pa.array(np.arange(n_rows)), *keys], ["row", *names]).drop_null()
    right = pa.table([pa.array(np.arange(len(facts))), *known], ["fact", *names]).drop_null()
    pairs = left.join(right, names, join_type="inner", use_threads=False)
    return pairs["row"].combine_chunks(), pairs["fact"].combine_chunks()


def column_of(facts: Sequence[Row], name: str, kind: pa.DataType) -> pa.Array:
    if isinstance(facts, Facts):
        return facts.columns[name].combine_chunks().cast(kind)
    return pa.array([fact[name] for fact in facts], kind)


def _column(facts: Sequence[Row], position: int) -> pa.Array:
    if isinstance(facts, Facts):
        return facts.columns.column(position).combine_chunks()
    return pa.array([list(fact.values())[position] for fact in facts])


def _pair_numbers(first: pa.Array, second: pa.Array, n_second: int) -> pa.Array:
    return pc.add(pc.multiply(pc.cast(first, pa.int64()), max(n_second, 1)), pc.cast(second, pa.int64()))


def alike(known: pa.Array, asked: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Both with one type, and with one zero where they are doubles."""
    if pa.types.is_null(known.type):
        return pa.nulls(len(known), asked.type), asked
    if pa.types.is_null(asked.type):
        return known, pa.nulls(len(asked), known.type)
    if d.is_double(known) or d.is_double(asked):
        zero = pa.scalar(0.0)
        return pc.add(d.as_double(known), zero), pc.add(d.as_double(asked), zero)
    return known, asked


Reference: TypeAlias = (
    e.ColumnOf
    | e.ListColumn
    | e.Aggregate
    | e.TimeOf
    | e.IdOf
    | e.KeyColumn
    | e.Quantity
    | e.FactColumn
    | e.PreviousColumn
    | e.SinceChange
)
"""What an expression takes from outside; whoever evaluates it supplies the column."""

Resolve: TypeAlias = Callable[[Reference], pa.Array | pa.ChunkedArray]

ARROW_TYPES = {
    Type.BOOLEAN: pa.bool_(),
    Type.INTEGER: pa.int64(),
    Type.DOUBLE: pa.float64(),
    Type.STRING: pa.string(),
    Type.TERM: pa.string(),
    Type.TIME: pa.int64(),
    Type.DURATION: pa.int64(),
    Type.NULL: pa.null(),
    Type.WEIGHTS: pa.list_(pa.float64()),
}

_COMPARISONS = {
    "=": pc.equal,
    "<>": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}

MAX_PAIRS = 4_000_000
"""Rows and facts that are compared at a time."""

_TRUE = pa.scalar(True)
_FALSE = pa.scalar(False)


def evaluate(expr: e.Expr, resolve: Resolve, n_rows: int, context: ExpressionContext) -> pa.Array:
    """Value of an expression per row; that of a condition is never null.

    Columns have the types of `ARROW_TYPES` and hold no NaN, infinity or negative zero. A duration that was multiplied
    or divided may come out as doubles.
    """
    value = _Rows(resolve, n_rows, context).value(expr)
    return d.broadcast(value, n_rows, ARROW_TYPES[expr.type])


@dataclass(frozen=True, slots=True)
class _Rows:
    resolve: Resolve
    n_rows: int
    context: ExpressionContext

    def value(self, expr: e.Expr) -> d.Datum:
        match expr:
            case e.Literal(value=literal, type=kind):
                return pa.scalar(literal, ARROW_TYPES[kind])
            case e.SpanLiteral(span=span):
                return pa.scalar(self.context.unit(span), pa.int64())
            case (
                e.ColumnOf()
                | e.ListColumn()
                | e.Aggregate()
                | e.TimeOf()
                | e.IdOf()
                | e.KeyColumn()
                | e.Quantity()
                | e.FactColumn()
                | e.PreviousColumn()
                | e.SinceChange()
            ):
                return self._column(expr)
            case e.Negate(item=item):
                number = self.value(item)
                return number if d.is_nothing(number) else d.negate(number)
            case e.Arithmetic(operator=symbol, left=left, right=right, type=kind):
                one, other = self.value(left), self.value(right)
                return _nothing(kind) if d.is_nothing(one) or d.is_nothing(other) else d.combine(symbol, one, other)
            case e.FunctionCall(name=name, args=args, type=kind):
                given = [self.value(arg) for arg in args]
                return _nothing(kind) if any(d.is_nothing(arg) for arg in given) else call(name, given)
            case e.Chosen(conditions=conditions, values=choices, type=kind):
                chosen: d.Datum = _nothing(kind)
                for condition, choice in reversed(list(zip(conditions, choices, strict=True))):
                    chosen = _either(self._truth(condition), self.value(choice), chosen)
                return chosen
            case e.Compare(operator=symbol, left=left, right=right):
                return _compare(symbol, self.value(left), self.value(right))
            case e.InList(item=item, choices=choices):
                return _among(self.value(item), choices)
            case e.IsNull(item=item, negated=negated):
                found = self.value(item)
                return pc.is_valid(found) if negated else pc.is_null(found)
            case e.AllOf(items=items):
                return reduce(pc.and_, map(self._truth, items), _TRUE)
            case e.AnyOf(items=items):
                return reduce(pc.or_, map(self._truth, items), _FALSE)
            case e.Not(item=item):
                return pc.invert(self._truth(item))
            case e.InTable(table=table, args=args, condition=None):
                return self._in_table(table, args)
            case e.InTable(args=args, condition=condition) if condition is not None:
                return self._among_facts(expr, condition)

    def _truth(self, condition: e.Expr) -> d.Datum:
        value = self.value(condition)
        return _FALSE if d.is_nothing(value) else d.two_valued(value)

    def _column(self, reference: Reference) -> pa.Array:
        column = self.resolve(reference)
        if isinstance(column, pa.ChunkedArray):
            column = in_one_array(column)
        fitting = column.type == ARROW_TYPES[reference.type] or d.is_double(column)
        return column if fitting else column.cast(ARROW_TYPES[reference.type])

    def _in_table(self, table: str, args: tuple[e.Expr | None, ...]) -> d.Datum:
        facts = self.context.tables[table]
        if not facts:
            return _FALSE
        return in_table(facts, [None if arg is None else self.value(arg) for arg in args], self.n_rows)

    def _among_facts(self, test: e.InTable, condition: e.Expr) -> d.Datum:
        """Whether any fact that agrees also passes a condition on it and the row."""
        facts = self.context.tables[test.table]
        if not facts:
            return _FALSE
        truth = np.zeros(self.n_rows, bool)
        step = max(1, MAX_PAIRS // len(facts))
        for first in range(0, self.n_rows, step):
            part = _Rows(_sliced(self.resolve, first, step), min(step, self.n_rows - first), self.context)
            rows, places = part._pairs(test, facts)
            pairs = _Rows(_paired(part.resolve, rows, places, test.number, facts), len(rows), self.context)
            passed = d.broadcast(pairs._truth(condition), len(rows), pa.bool_()).to_numpy(zero_copy_only=False)
            truth[first + rows.to_numpy()[passed]] = True
        return pa.array(truth)

    def _pairs(self, test: e.InTable, facts: Sequence[Row]) -> tuple[pa.Array, pa.Array]:
        wanted = [
            None if arg is None else d.broadcast(self.value(arg), self.n_rows, ARROW_TYPES[arg.type])
            for arg in test.args
        ]
        return agreeing(facts, wanted, self.n_rows)


def _sliced(resolve: Resolve, first: int, length: int) -> Resolve:
    return lambda reference: resolve(reference).slice(first, length)


def _paired(resolve: Resolve, rows: pa.Array, places: pa.Array, number: int, facts: Sequence[Row]) -> Resolve:
    """Columns of the rows and of the facts, one value per pair."""

    def column(reference: Reference) -> pa.Array:
        if isinstance(reference, e.FactColumn) and reference.atom == number:
            return column_of(facts, reference.column, ARROW_TYPES[reference.type]).take(places)
        found = resolve(reference)
        return (in_one_array(found) if isinstance(found, pa.ChunkedArray) else found).take(rows)

    return column


def _nothing(kind: Type) -> pa.Scalar:
    return pa.scalar(None, ARROW_TYPES[kind])


def _either(condition: d.Datum, value: d.Datum, otherwise: d.Datum) -> d.Datum:
    """One of two values per row; where one is of doubles, so are both."""
    numbers = [one for one in (value, otherwise) if not d.is_nothing(one)]
    if any(map(d.is_double, numbers)):
        value, otherwise = (one if d.is_nothing(one) else d.as_double(one) for one in (value, otherwise))
    return pc.if_else(condition, value, otherwise)


def _compare(symbol: str, left: d.Datum, right: d.Datum) -> d.Datum:
    if d.is_nothing(left) or d.is_nothing(right):
        return _FALSE
    if d.is_double(left) != d.is_double(right):
        left, right = d.as_double(left), d.as_double(right)
    return d.two_valued(_COMPARISONS[symbol](left, right))


def _among(found: d.Datum, choices: tuple[e.Literal, ...]) -> d.Datum:
    """Any of the choices; a number may be written as an integer or as a double."""
    values = [choice.value for choice in choices if choice.value is not None]
    if d.is_nothing(found) or not values:
        return _FALSE
    if pa.types.is_integer(found.type):
        values = [int(value) for value in values if value == int(value) and d.SMALLEST <= value <= d.LARGEST]
    if d.is_double(found):
        found = pc.add(found, pa.scalar(0.0))  # a set of choices distinguishes a negative zero from zero
        values = [float(value) + 0.0 for value in values]
    return pc.is_in(found, pa.array(values, found.type))
