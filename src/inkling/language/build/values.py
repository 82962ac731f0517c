"""Expressions as Python objects: operators and functions build conditions instead of computing them.

Durations and counts in plain words: `minutes(30)`, `events(4)`.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Literal as OneOf
from typing import TypeAlias

from inkling.language import syntax as s
from inkling.language.printer import format_expression
from inkling.language.syntax import PointCount, TimeUnit

__all__ = [
    "PartValue",
    "Value",
    "VariableValue",
    "all_of",
    "any_of",
    "avg_of",
    "call",
    "col",
    "count_of",
    "days",
    "duration",
    "end_of",
    "events",
    "first",
    "first_of",
    "hours",
    "id_of",
    "is_in",
    "is_not_in",
    "is_not_null",
    "is_null",
    "last",
    "last_of",
    "lit",
    "max_of",
    "median_of",
    "microseconds",
    "milliseconds",
    "min_of",
    "minutes",
    "not_",
    "points",
    "prev",
    "rate",
    "seconds",
    "since_change",
    "start_of",
    "stddev_of",
    "sum_of",
    "ticks",
    "v",
    "weeks",
]


Operator: TypeAlias = Callable[["Value", object], "Value"]


def _compares(op: s.ComparisonOperator) -> Operator:
    return lambda left, right: Value(s.Compare(op, node_of(left), node_of(right)))


def _computes(op: s.ArithmeticOperator) -> tuple[Operator, Operator]:
    """The operator of a value on the left, and of one on the right of a constant."""

    def compute(left: object, right: object) -> "Value":
        return Value(s.Binary(op, node_of(left), node_of(right)))

    return compute, lambda right, left: compute(left, right)


class Value:
    """An expression; only operators, so that every other attribute can be a column.

    >>> from inkling.language.build import is_null
    >>> (v("a").speed + 1 > 30) & ~is_null(v("a").road)
    Value(a.speed + 1 > 30 AND NOT a.road IS NULL)
    """

    __slots__ = ("_node",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, node: s.Expr) -> None:
        self._node = node

    def __repr__(self) -> str:
        return f"Value({format_expression(self._node)})"

    def __bool__(self) -> bool:
        raise TypeError("a condition has no truth value yet; join conditions with & and |, negate with ~")

    __eq__ = _compares("=")  # type: ignore[assignment]
    __ne__ = _compares("<>")  # type: ignore[assignment]
    __lt__ = _compares("<")
    __le__ = _compares("<=")
    __gt__ = _compares(">")
    __ge__ = _compares(">=")
    __add__, __radd__ = _computes("+")
    __sub__, __rsub__ = _computes("-")
    __mul__, __rmul__ = _computes("*")
    __truediv__, __rtruediv__ = _computes("/")
    __mod__, __rmod__ = _computes("%")

    def __neg__(self) -> "Value":
        return Value(s.Unary("-", self._node))

    def __and__(self, other: object) -> "Value":
        right = node_of(other)
        match self._node:
            case s.AllOf(items):
                return Value(s.AllOf((*items, right)))
            case left:
                return Value(s.AllOf((left, right)))

    def __or__(self, other: object) -> "Value":
        right = node_of(other)
        match self._node:
            case s.AnyOf(items):
                return Value(s.AnyOf((*items, right)))
            case left:
                return Value(s.AnyOf((left, right)))

    def __invert__(self) -> "Value":
        return Value(s.Negation(self._node))


class VariableValue(Value):
    """A variable; its attributes are its columns, `v("a")["two words"]` for odd names."""

    __slots__ = ("_variable",)

    def __init__(self, name: str) -> None:
        self._variable = s.Ident(name)
        super().__init__(s.Variable(self._variable))

    def __getattr__(self, column: str) -> Value:
        if column.startswith("__"):
            raise AttributeError(column)
        return self[column]

    def __getitem__(self, column: str) -> Value:
        return Value(s.Attribute(self._variable, s.Ident(column)))


class PartValue:
    """One end of a repetition; its attributes are its columns."""

    __slots__ = ("_var", "_which")

    def __init__(self, which: OneOf["FIRST", "LAST"], var: str) -> None:
        self._which = which
        self._var = var

    def __getattr__(self, column: str) -> Value:
        if column.startswith("__"):
            raise AttributeError(column)
        return self[column]

    def __getitem__(self, column: str) -> Value:
        return Value(s.FirstOrLast(self._which, s.Ident(self._var), s.Ident(column)))


def v(name: str) -> VariableValue:
    """A variable: `v("a").road`."""
    return VariableValue(name)


def col(name: str) -> Value:
    """A bare name, such as a column of the component at hand."""
    return Value(s.Variable(s.Ident(name)))


def lit(value: int | float | str | bool | None) -> Value:
    """A constant; Python values beside a `Value` become constants by themselves."""
    return Value(node_of(value))


def node_of(value: object) -> s.Expr:
    """The syntax node of a `Value`, a node or a Python constant."""
    match value:
        case Value():
            return value._node
        case None | bool() | str():
            return s.Literal(value)
        case int() | float() if value < 0:
            return s.Unary("-", s.Literal(-value))
        case int() | float():
            return s.Literal(abs(value))
        case _ if isinstance(value, s.Expr):
            return value
        case _:
            raise TypeError(f"expected a value or a Python constant, got {value!r}")


def call(name: str, *args: object) -> Value:
    """A function or a knowledge atom: `call("slow", v("a").road, 30)`."""
    return Value(s.Call(s.Ident(name), tuple(node_of(arg) for arg in args)))


def all_of(*conditions: object) -> Value:
    """Conditions joined by AND; unlike `&` it keeps a conjunction among them in parentheses."""
    return Value(s.AllOf(tuple(node_of(condition) for condition in conditions)))


def any_of(*conditions: object) -> Value:
    """Conditions joined by OR; unlike `|` it keeps a disjunction among them in parentheses."""
    return Value(s.AnyOf(tuple(node_of(condition) for condition in conditions)))


def not_(condition: object) -> Value:
    return Value(s.Negation(node_of(condition)))


def is_in(item: object, *options: object) -> Value:
    return Value(s.InList(node_of(item), tuple(node_of(option) for option in options)))


def is_not_in(item: object, *options: object) -> Value:
    return Value(s.InList(node_of(item), tuple(node_of(option) for option in options), negated=True))


def is_null(item: object) -> Value:
    return Value(s.IsNull(node_of(item)))


def is_not_null(item: object) -> Value:
    return Value(s.IsNull(node_of(item), negated=True))


def prev(column: str) -> Value:
    return Value(s.Previous(s.Ident(column)))


def since_change(column: str) -> Value:
    return Value(s.SinceChange(s.Ident(column)))


def start_of(var: str) -> Value:
    return Value(s.TimeOf("START", s.Ident(var)))


def end_of(var: str) -> Value:
    return Value(s.TimeOf("END", s.Ident(var)))


def id_of(var: str) -> Value:
    return Value(s.IdOf(s.Ident(var)))


def first(var: str) -> PartValue:
    """The first event of a repetition: `first("b").x`."""
    return PartValue("FIRST", var)


def last(var: str) -> PartValue:
    """The last event of a repetition, or the previous one inside its own conditions."""
    return PartValue("LAST", var)


def _aggregate(function: s.AggregateName) -> Callable[[Value], Value]:
    def aggregate(over: Value) -> Value:
        match node_of(over):
            case s.Variable(var):
                return Value(s.Aggregate(function, var))
            case s.Attribute(var, column):
                return Value(s.Aggregate(function, var, column))
            case node:
                raise TypeError(f"{function} takes a variable or one column of it, got {node}")

    aggregate.__name__ = f"{function.lower()}_of"
    aggregate.__doc__ = f"`{function}` over a repetition or a window, or over one column of it."
    return aggregate


count_of = _aggregate("COUNT")
sum_of = _aggregate("SUM")
avg_of = _aggregate("AVG")
min_of = _aggregate("MIN")
max_of = _aggregate("MAX")
stddev_of = _aggregate("STDDEV")
median_of = _aggregate("MEDIAN")
first_of = _aggregate("FIRST")
last_of = _aggregate("LAST")


def duration(amount: int | float | str | Fraction, unit: TimeUnit) -> s.Duration:
    """A length of time; a float counts as the decimal number Python shows for it.

    >>> duration(0.1, "SECONDS").amount
    Fraction(1, 10)
    """
    return s.Duration(_exact(amount), unit)


def rate(count: int | float | str | Fraction, per: s.Duration) -> s.Rate:
    """So many in a length of time, on average: `rate(12, hours(1))`."""
    return s.Rate(_exact(count), per)


def ticks(amount: int) -> s.Duration:
    return duration(amount, "TICKS")


def microseconds(amount: int | float) -> s.Duration:
    return duration(amount, "MICROSECONDS")


def milliseconds(amount: int | float) -> s.Duration:
    return duration(amount, "MILLISECONDS")


def seconds(amount: int | float) -> s.Duration:
    return duration(amount, "SECONDS")


def minutes(amount: int | float) -> s.Duration:
    return duration(amount, "MINUTES")


def hours(amount: int | float) -> s.Duration:
    return duration(amount, "HOURS")


def days(amount: int | float) -> s.Duration:
    return duration(amount, "DAYS")


def weeks(amount: int | float) -> s.Duration:
    return duration(amount, "WEEKS")


def events(n: int) -> s.EventCount:
    return s.EventCount(n)


def points(n: int) -> PointCount:
    return PointCount(n)


def _exact(amount: int | float | str | Fraction) -> int | Fraction:
    exact = Fraction(str(amount))
    return exact.numerator if exact.denominator == 1 else exact
