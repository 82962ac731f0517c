"""Conditions across events, translated to the kernel's bytecode."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inkling.evaluators.network.layout import Layout, kept_of
from inkling.evaluators.network.store import END, ID, START, Doubles, Store
from inkling.kernels import vm
from inkling.logical import expr as e
from inkling.model.time import Span
from inkling.physical.across import DIVIDED_FUNCTIONS

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
FOLDED_FUNCTIONS = {"pow": vm.POW, "least": vm.LEAST, "greatest": vm.GREATEST, "angle_difference": vm.ANGLE}


@dataclass(frozen=True, slots=True)
class Code:
    """Instructions and constants; no instructions means always true."""

    instructions: NDArray[np.int64]
    constants: Doubles


ALWAYS = Code(np.empty((0, 3), np.int64), np.empty(0))


@dataclass(slots=True)
class _Writer:
    store: Store
    layout: Layout
    slot: int  # of the candidate
    measure: Callable[[Span], int]
    rows: list[tuple[int, int, int]]
    constants: list[float]

    def op(self, operation: int, a: int = 0, b: int = 0) -> None:
        self.rows.append((operation, a, b))

    def constant(self, value: float) -> None:
        self.constants.append(value)
        self.op(vm.CONST, len(self.constants) - 1)

    def write(self, expr: e.Expr) -> None:
        match expr:
            case e.Literal(value=value):
                self.constant(self._literal(value))
            case e.SpanLiteral(span=span):
                self.constant(float(self.measure(span)))
            case e.ColumnOf(slot=slot, column=column):
                self._column(expr, slot, column)
            case e.ListColumn(slot=slot, column=column):
                self.op(vm.REGISTER, self.layout.register(slot, kept_of(expr)), self.store.number_of(column))
            case e.TimeOf(edge=edge, slot=slot):
                if self.layout.is_span(slot):
                    self.op(vm.MOMENT, self.layout.moment(slot, edge))
                else:
                    self._column(expr, slot, START if edge is e.Edge.START else END)
            case e.IdOf(slot=slot):
                self._column(expr, slot, ID)
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
            case _:
                raise AssertionError(f"{type(expr).__name__} cannot look across events")

    def _literal(self, value: object) -> float:
        if value is None:
            return float("nan")
        return self.store.code_of(value) if isinstance(value, str) else float(value)  # type: ignore[arg-type]

    def _column(self, reference: e.Expr, slot: int, column: str) -> None:
        if slot == self.slot:
            self.op(vm.CANDIDATE, self.store.number_of(column))
        else:
            register = self.layout.register(slot, kept_of(reference))
            self.op(vm.REGISTER, register, self.store.number_of(column))

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
            self.op(vm.HAVERSINE)

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
        if isinstance(item, e.ColumnOf):  # a boolean column that may be null
            self.constant(1.0)
            self.op(vm.EQ)


def compile_conditions(
    conditions: tuple[e.Expr, ...], slot: int, store: Store, layout: Layout, measure: Callable[[Span], int]
) -> Code:
    """Bytecode of a conjunction for a candidate in `slot`.

    A condition that looks at the previous repetition is true when there is none.
    """
    if not conditions:
        return ALWAYS
    writer = _Writer(store, layout, slot, measure, [], [])
    for number, condition in enumerate(conditions):
        looks_back = [x for x in e.walk(condition) if isinstance(x, e.ListColumn) and x.own]
        writer.write(condition)
        if looks_back:
            writer.op(vm.HAS, layout.register(looks_back[0].slot, kept_of(looks_back[0])))
            writer.op(vm.NOT)
            writer.op(vm.OR)
        if number:
            writer.op(vm.AND)
    instructions = np.array(writer.rows, dtype=np.int64).reshape(-1, 3)
    return Code(instructions, np.array(writer.constants, dtype=np.float64))
