"""Conditions across events as bytecode for the virtual machine in `kernels.joins.vm`.

`b.x > a.x` for a candidate `b` becomes: CANDIDATE x; REGISTER a, x; GT. Look-ups of pairs in a table (`PairForm`)
become searches in sorted constants. What no instruction computes is a call of Python (`calls`), after all other
conditions.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from inkling.evaluators.network.calls import Call, calls_anything, is_called, references_in
from inkling.evaluators.network.partials import RegisterLayout, SlotRegister, kept_of
from inkling.evaluators.network.store import (
    HIGH,
    LOW,
    UNIT,
    WHOLE,
    Doubles,
    Reference,
    Store,
    Term,
    column_of,
    difference,
    half_of,
    halves_of,
)
from inkling.kernels.joins import vm
from inkling.logical import expr as e
from inkling.logical.evaluate import Bindings, ExpressionContext, Row, holds
from inkling.logical.vectorized import ARROW_TYPES
from inkling.logical.vectorized.columns import alike
from inkling.model.schema import Facts
from inkling.model.time import Duration
from inkling.model.types import Type
from inkling.physical.conditions import DIVIDED_FUNCTIONS, compared_args, is_pair_test


@dataclass(frozen=True, slots=True)
class PairForm:
    """The pairs of a table as sorted pairs of numbers of the distinct values of both columns."""

    values: tuple[pa.Array, pa.Array]
    firsts: NDArray[np.float64]
    seconds: NDArray[np.float64]


def pair_form(test: e.InTable, facts: Sequence[Row], kinds: tuple[Type, Type]) -> PairForm:
    """The pairs for which a look-up by two events holds; cached per table."""
    facts = facts if isinstance(facts, Facts) else Facts(pa.Table.from_pylist([dict(row) for row in facts]))
    fixed = tuple((place, arg) for place, arg in enumerate(test.args) if isinstance(arg, e.Literal))
    key = (tuple(place for place, _ in compared_args(test)), fixed, kinds)
    found = facts.forms.get(key)
    if not isinstance(found, PairForm):
        found = facts.forms[key] = _made(facts.columns, key[0], fixed, kinds)
    return found


def _made(
    columns: pa.Table, places: tuple[int, ...], fixed: tuple[tuple[int, e.Literal], ...], kinds: tuple[Type, Type]
) -> PairForm:
    if not columns.num_columns:  # rows of no table say nothing about its columns
        return PairForm((pa.array([], pa.string()), pa.array([], pa.string())), np.empty(0), np.empty(0))
    for place, literal in fixed:
        if not len(columns):
            break
        have, want = alike(columns.column(place).combine_chunks(), pa.array([literal.value]))
        columns = columns.filter(pc.equal(have, want[0]))
    pairs = [_as(kind, columns.column(place).combine_chunks()) for place, kind in zip(places, kinds, strict=True)]
    rows = pa.table(pairs, ["first", "second"]).drop_null()
    values = tuple(_sorted(rows[name].unique()) for name in ("first", "second"))
    firsts, seconds = (
        pc.index_in(rows[name], value_set=known).to_numpy().astype(np.float64)
        for name, known in zip(("first", "second"), values, strict=True)
    )
    order = np.lexsort((seconds, firsts))
    return PairForm((values[0], values[1]), firsts[order], seconds[order])


def _as(kind: Type, column: pa.Array) -> pa.Array:
    """Facts to compare with a column of this type: as doubles if either side has doubles."""
    if kind.is_text or pa.types.is_null(column.type):
        return column.cast(pa.string())
    if kind is Type.DOUBLE or pa.types.is_floating(column.type):
        return pc.add(column.cast(pa.float64(), safe=False), pa.scalar(0.0))
    return column.cast(ARROW_TYPES[kind]).cast(pa.int64())


def _sorted(values: pa.Array) -> pa.Array:
    return values.take(pc.array_sort_indices(values))


BINARY = {
    "+": vm.ADD,
    "-": vm.SUB,
    "*": vm.MUL,
    "/": vm.DIV,
    "%": vm.MOD,
    "=": vm.EQ,
    "<>": vm.NE,
    "<": vm.LT,
    "<=": vm.LE,
    ">": vm.GT,
    ">=": vm.GE,
}
UNARY_FUNCTIONS = {
    "abs": vm.ABS,
    "sqrt": vm.SQRT,
    "exp": vm.EXP,
    "ln": vm.LN,
    "sin": vm.SIN,
    "cos": vm.COS,
    "floor": vm.FLOOR,
    "ceil": vm.CEIL,
}
LOOKING_UP = (vm.TRANSLATE, vm.SEARCH, vm.PAIR, vm.HOLDS)
SPARSE = 8
"""Integers are looked up by offset if their range is at most so many times their number."""
FOLDED_FUNCTIONS = {"pow": vm.POW, "least": vm.LEAST, "greatest": vm.GREATEST, "angle_difference": vm.ANGLE}


@dataclass(frozen=True, slots=True)
class Code:
    """Instructions and constants; no instructions means always true.

    `so_far` are aggregates over earlier rounds; their values stand behind the moments, as the bits of doubles.
    """

    instructions: NDArray[np.int64]
    constants: Doubles
    so_far: tuple[e.Aggregate, ...] = ()


ALWAYS = Code(np.empty((0, 3), np.int64), np.empty(0))


@dataclass(slots=True)
class _Writer:
    store: Store
    layout: RegisterLayout
    slot: int  # of the candidate
    unit: Callable[[Duration], int]
    rows: list[tuple[int, int, int]]
    constants: list[float]
    so_far: tuple[e.Aggregate, ...]
    tables: list[Doubles] = field(default_factory=list)  # stand after all constants

    def op(self, operation: int, a: int = 0, b: int = 0) -> None:
        self.rows.append((operation, a, b))

    def constant(self, value: float) -> None:
        self.constants.append(value)
        self.op(vm.CONST, len(self.constants) - 1)

    def table(self, operation: int, values: Doubles, count: int = 0) -> None:
        """An instruction that reads many constants."""
        self.op(operation, sum(map(len, self.tables)), count)
        self.tables.append(values)

    def finished(self) -> Code:
        instructions = np.array(self.rows, dtype=np.int64).reshape(-1, 3)
        instructions[np.isin(instructions[:, 0], LOOKING_UP), 1] += len(self.constants)
        constants = np.concatenate([np.array(self.constants, dtype=np.float64), *self.tables])
        return Code(instructions, constants, self.so_far)

    def write(self, expr: e.Expr) -> None:
        if is_called(expr):
            self._call(expr)
            return
        if self._written_by_choice(expr) or (self.store.has_halves and self._written_by_halves(expr)):
            return
        match expr:
            case e.Literal(value=value):
                self.constant(self._literal(value))
            case e.SpanLiteral(span=span):
                self.constant(float(self.unit(span)))
            case e.TimeOf(edge=edge, slot=slot) if self.layout.is_span(slot):
                self.op(vm.MOMENT, self.layout.moment(slot, edge))
            case e.ColumnOf() | e.ListColumn() | e.TimeOf() | e.IdOf():
                self._reference(expr)
            case e.Aggregate():
                self.op(vm.NUMBER, len(self.layout.moments) + self.so_far.index(expr))
            case e.Negate(item=item):
                self.write(item)
                self.op(vm.NEG)
            case (
                e.Arithmetic(operator=symbol, left=left, right=right)
                | e.Compare(operator=symbol, left=left, right=right)
            ):
                self.write(left)
                self.write(right)
                self.op(BINARY[symbol])
            case e.FunctionCall(name=name, args=args):
                self._function(name, args)
            case e.Chosen(conditions=conditions, values=values):
                self._choice(conditions, values)
            case e.InList(item=item, choices=choices):
                self.write(item)
                first = len(self.constants)
                self.constants.extend(self._literal(choice.value) for choice in choices)
                self.op(vm.IN, first, len(self.constants))
            case e.IsNull(item=item, negated=negated):
                self.write(item)
                self.op(vm.IS_NULL)
                if negated:
                    self.op(vm.NOT)
            case e.AllOf(items=items):
                self._fold(items, vm.AND, 1.0)
            case e.AnyOf(items=items):
                self._fold(items, vm.OR, 0.0)
            case e.Not(item=item):
                self.write(item)
                self.op(vm.NOT)
            case e.InTable() if is_pair_test(expr):
                self._pair(expr)
            case _:
                raise AssertionError(f"{type(expr).__name__} cannot look across events")

    def _call(self, expr: e.Expr) -> None:
        """A value that Python computes from the rows of the events that it reads."""
        references = references_in(expr)
        for reference in references:
            if isinstance(reference, e.Aggregate) or (
                isinstance(reference, e.TimeOf) and self.layout.is_span(reference.slot)
            ):
                self.write(reference)
            elif self._is_candidate(reference):
                self.op(vm.CANDIDATE_ROW)
            else:
                self.op(vm.ROW, self.layout.register(reference.slot, kept_of(reference)))
        call = Call(expr, references, self.store, self.layout, self.unit)
        self.store.calls.append(call)
        self.op(vm.CALL, len(references), call.address)

    def _pair(self, test: e.InTable) -> None:
        """Whether a table holds a pair of values, by the numbers of both among its distinct values."""
        (_, first), (_, second) = compared_args(test)
        form = pair_form(test, self.store.facts[test.table], (first.type, second.type))
        for arg, values in zip((first, second), form.values, strict=True):
            self._place_among(arg, values)
        n_firsts = len(form.values[0])
        bounds = np.searchsorted(form.firsts, np.arange(n_firsts + 1)).astype(np.float64)
        self.table(vm.HOLDS, np.concatenate([bounds, form.seconds]), n_firsts)

    def _place_among(self, arg: Reference, values: pa.Array) -> None:
        if arg.type.is_text:
            self._reference(arg)
            places = pc.index_in(self.store.words, value_set=values).cast(pa.float64())
            self._translate(0, pc.fill_null(places, float("nan")).to_numpy(zero_copy_only=False))
        elif self.store.has_halves and arg.type in WHOLE and pa.types.is_integer(values.type):
            self._reference(arg, HIGH)
            self._reference(arg, LOW)
            halves = halves_of(values.to_numpy(zero_copy_only=False))
            self.table(vm.PAIR, np.concatenate([halves[HIGH], halves[LOW]]).astype(np.float64), len(values))
        else:
            self._reference(arg)
            is_whole = pa.types.is_integer(values.type) and arg.type in WHOLE
            if is_whole and len(values) and values[-1].as_py() - values[0].as_py() < SPARSE * len(values):
                self._place_by_offset(values.to_numpy(zero_copy_only=False))
                return
            self.table(vm.SEARCH, values.to_numpy(zero_copy_only=False).astype(np.float64), len(values))

    def _place_by_offset(self, values: NDArray[np.int64]) -> None:
        """Looks up integers by their offset from the least one."""
        places = np.full(values[-1] - values[0] + 1, np.nan)
        places[values - values[0]] = np.arange(len(values))
        self._translate(values[0], places)

    def _translate(self, first: int, places: Doubles) -> None:
        self.table(vm.TRANSLATE, np.concatenate([[float(first)], places]), len(places))

    def _literal(self, value: object) -> float:
        if value is None:
            return float("nan")
        return self.store.code_of(value) if isinstance(value, str) else float(value)  # type: ignore[arg-type]

    def _reference(self, reference: Reference, half: str = "") -> None:
        number = self.store.number_of(column_of(reference) + half)
        if self._is_candidate(reference):
            self.op(vm.CANDIDATE, number)
        else:
            self.op(vm.REGISTER, self.layout.register(reference.slot, kept_of(reference)), number)

    def _is_candidate(self, reference: Reference) -> bool:
        return reference.slot == self.slot and not isinstance(reference, e.ListColumn)

    def _written_by_choice(self, expr: e.Expr) -> bool:
        """Writes a choice between comparisons, where the value that is compared is a choice; False elsewhere.

        Each side of a comparison is then exact, and is one that the data may have a word for.
        """
        match expr:
            case e.Compare(left=e.Literal(type=kind), right=e.Literal()) | e.InList(item=e.Literal(type=kind)) if (
                kind.is_text
            ):
                self.constant(float(holds(expr, Bindings(), ExpressionContext({}, self.unit))))
            case e.Compare(left=e.Chosen() as choice):
                self._choice(choice.conditions, tuple(replace(expr, left=value) for value in choice.values), 0.0)
            case e.Compare(right=e.Chosen() as choice):
                self._choice(choice.conditions, tuple(replace(expr, right=value) for value in choice.values), 0.0)
            case e.InList(item=e.Chosen() as choice):
                self._choice(choice.conditions, tuple(replace(expr, item=value) for value in choice.values), 0.0)
            case _:
                return False
        return True

    def _written_by_halves(self, expr: e.Expr) -> bool:
        """Writes an exact comparison of integers; False if it is no such comparison."""
        match expr:
            case e.InList(item=item, choices=choices) if item.type in WHOLE:
                self.write(e.AnyOf(tuple(e.Compare("=", item, choice) for choice in choices)))
                return True
            case e.Compare(operator=symbol):
                terms = difference(expr, self.unit)
                if terms is None or any(self._is_moment(term) for _, term in terms):
                    return False
                self._sum_of_halves(terms, HIGH)
                self.constant(UNIT)
                self.op(vm.MUL)
                self._sum_of_halves(terms, LOW)
                self.op(vm.ADD)
                self.constant(0.0)
                self.op(BINARY[symbol])
                return True
            case _:
                return False

    def _is_moment(self, term: Reference | int) -> bool:
        return isinstance(term, e.TimeOf) and self.layout.is_span(term.slot)

    def _sum_of_halves(self, terms: tuple[Term, ...], half: str) -> None:
        self.constant(0.0)
        for sign, term in terms:
            if isinstance(term, int):
                self.constant(half_of(term, half))
            else:
                self._reference(term, half)
            self.op(vm.ADD if sign > 0 else vm.SUB)

    def _function(self, name: str, args: tuple[e.Expr, ...]) -> None:
        for arg in args:
            self.write(arg)
        if name in UNARY_FUNCTIONS:
            self.op(UNARY_FUNCTIONS[name])
        elif name in FOLDED_FUNCTIONS:
            for _ in args[1:]:
                self.op(FOLDED_FUNCTIONS[name])
        elif name in DIVIDED_FUNCTIONS:
            self.constant(DIVIDED_FUNCTIONS[name])
            self.op(vm.DIV)
        else:
            if name == "haversine":
                self.constant(vm.EARTH_RADIUS_M)
            self.op(vm.PASSING if name == "passing_distance" else vm.GREAT_CIRCLE)

    def _choice(self, conditions: tuple[e.Expr, ...], values: tuple[e.Expr, ...], none: float = math.nan) -> None:
        if not conditions:
            self.constant(none)
            return
        if conditions[0] == e.TRUE:
            self.write(values[0])
            return
        self.write(conditions[0])
        self.write(values[0])
        self._choice(conditions[1:], values[1:], none)
        self.op(vm.CHOOSE)

    def _fold(self, items: tuple[e.Expr, ...], operation: int, empty: float) -> None:
        if not items:
            self.constant(empty)
            return
        self.write(items[0])
        self._as_truth(items[0])
        for item in items[1:]:
            self.write(item)
            self.op(operation)

    def _as_truth(self, item: e.Expr) -> None:
        if isinstance(item, e.ColumnOf | e.Chosen):  # a truth value that may be null
            self.constant(1.0)
            self.op(vm.EQ)


def aggregates_so_far(conditions: Iterable[e.Expr]) -> tuple[e.Aggregate, ...]:
    """The aggregates over earlier rounds that conditions of a repeated slot read, without duplicates."""
    found = (part for condition in conditions for part in e.walk(condition) if isinstance(part, e.Aggregate))
    return tuple(dict.fromkeys(found))


def compile_conditions(
    conditions: tuple[e.Expr, ...], slot: int, store: Store, layout: RegisterLayout, unit: Callable[[Duration], int]
) -> Code:
    """Bytecode of a conjunction for a candidate in `slot`.

    A condition that looks at the previous repetition is true when there is none.
    """
    if not conditions:
        return ALWAYS
    writer = _Writer(store, layout, slot, unit, [], [], aggregates_so_far(conditions))
    for number, condition in enumerate(sorted(conditions, key=calls_anything)):
        if number and calls_anything(condition):
            writer.op(vm.UNLESS)
        writer.write(condition)
        if e.is_dropped_at_first(condition):
            back = next(x for x in e.walk(condition) if isinstance(x, e.ListColumn | e.Aggregate) and x.own)
            kept = kept_of(back) if isinstance(back, e.ListColumn) else SlotRegister.LAST
            writer.op(vm.HAS, layout.register(back.slot, kept))
            writer.op(vm.NOT)
            writer.op(vm.OR)
        if number:
            writer.op(vm.AND)
    return writer.finished()
