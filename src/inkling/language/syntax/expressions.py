"""Syntax nodes of expressions, and walks through them."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal as OneOf
from typing import TypeAlias

from inkling.language.syntax.nodes import Duration, Ident, Node, children

AggregateName: TypeAlias = OneOf["COUNT", "SUM", "AVG", "MIN", "MAX", "STDDEV", "MEDIAN", "FIRST", "LAST"]
ArithmeticOperator: TypeAlias = OneOf["+", "-", "*", "/", "%"]
ComparisonOperator: TypeAlias = OneOf["=", "<>", "<", "<=", ">", ">="]
Scalar: TypeAlias = int | float | str | bool | None


@dataclass(frozen=True, slots=True, eq=False)
class Literal(Node):
    """A constant; a negative number is `Unary("-", …)` around its size."""

    value: Scalar

    def __post_init__(self) -> None:
        if isinstance(self.value, float) and not math.isfinite(self.value):
            raise ValueError(f"a number literal is finite, got {self.value}")
        if isinstance(self.value, int | float) and math.copysign(1, self.value) < 0:
            raise ValueError(f"a number literal has no sign, got {self.value}")
        if isinstance(self.value, int) and self.value >= 2**63:
            raise ValueError(f"a whole number fits 64 bits, got {self.value}")
        if isinstance(self.value, str) and ("\n" in self.value or "\r" in self.value):
            raise ValueError(f"a text literal stays on one line, got {self.value!r}")

    # 1, 1.0 and TRUE are equal in Python but are different literals
    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Literal):
            return NotImplemented
        return type(self.value) is type(other.value) and self.value == other.value

    def __hash__(self) -> int:
        return hash((type(self.value), self.value))


@dataclass(frozen=True, slots=True)
class Variable(Node):
    """A bare name: a variable, or a column of the component whose brackets it is in."""

    name: Ident


@dataclass(frozen=True, slots=True)
class Attribute(Node):
    """`a.speed`"""

    var: Ident
    column: Ident


@dataclass(frozen=True, slots=True)
class FirstOrLast(Node):
    """`FIRST(b).x` or `LAST(b).x`: a column of one end of a repetition."""

    which: OneOf["FIRST", "LAST"]
    var: Ident
    column: Ident


@dataclass(frozen=True, slots=True)
class Aggregate(Node):
    """`COUNT(b)`, `SUM(b.x)`: one value of a whole repetition or window."""

    function: AggregateName
    var: Ident
    column: Ident | None = None


@dataclass(frozen=True, slots=True)
class Previous(Node):
    """`PREV(x)`: the column in the previous event of the same key."""

    column: Ident


@dataclass(frozen=True, slots=True)
class SinceChange(Node):
    """`SINCE_CHANGE(x)`: the time since the column last changed."""

    column: Ident


@dataclass(frozen=True, slots=True)
class TimeOf(Node):
    """`START(a)` or `END(a)`"""

    which: OneOf["START", "END"]
    var: Ident


@dataclass(frozen=True, slots=True)
class IdOf(Node):
    """`ID(a)`"""

    var: Ident


@dataclass(frozen=True, slots=True)
class Call(Node):
    """`f(x, y)`: a function or a knowledge atom; the binder decides which."""

    name: Ident
    args: tuple["Expr", ...] = ()


@dataclass(frozen=True, slots=True)
class Unary(Node):
    op: OneOf["-"]
    operand: "Expr"


@dataclass(frozen=True, slots=True)
class Binary(Node):
    op: ArithmeticOperator
    left: "Expr"
    right: "Expr"


@dataclass(frozen=True, slots=True)
class Compare(Node):
    op: ComparisonOperator
    left: "Expr"
    right: "Expr"


@dataclass(frozen=True, slots=True)
class InList(Node):
    """`x IN (1, 2)`, `x NOT IN (1, 2)`"""

    item: "Expr"
    options: tuple["Expr", ...]
    negated: bool = False

    def __post_init__(self) -> None:
        if not self.options:
            raise ValueError("IN needs at least one option")


@dataclass(frozen=True, slots=True)
class IsNull(Node):
    item: "Expr"
    negated: bool = False


@dataclass(frozen=True, slots=True)
class AllOf(Node):
    """Conditions joined by `AND`."""

    items: tuple["Expr", ...]

    def __post_init__(self) -> None:
        _needs_two(self.items)


@dataclass(frozen=True, slots=True)
class AnyOf(Node):
    """Conditions joined by `OR`."""

    items: tuple["Expr", ...]

    def __post_init__(self) -> None:
        _needs_two(self.items)


@dataclass(frozen=True, slots=True)
class Negation(Node):
    item: "Expr"


def _needs_two(items: tuple["Expr", ...]) -> None:
    if len(items) < 2:
        raise ValueError(f"a connective joins at least two conditions, got {len(items)}")


Expr: TypeAlias = (
    Literal
    | Duration
    | Variable
    | Attribute
    | FirstOrLast
    | Aggregate
    | Previous
    | SinceChange
    | TimeOf
    | IdOf
    | Call
    | Unary
    | Binary
    | Compare
    | InList
    | IsNull
    | AllOf
    | AnyOf
    | Negation
)


def walk(expr: Expr | None) -> Iterator[Expr]:
    """The expression and everything inside it, left to right."""
    if expr is None:
        return
    yield expr
    for child in children(expr):
        if isinstance(child, Expr):
            yield from walk(child)


def conjuncts(expr: Expr | None) -> Iterator[Expr]:
    """The parts of a conjunction, flattened."""
    if isinstance(expr, AllOf):
        for item in expr.items:
            yield from conjuncts(item)
    elif expr is not None:
        yield expr
