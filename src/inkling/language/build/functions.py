"""Functions of the language as Python functions that build expressions."""

from collections.abc import Callable

from inkling.language.build.values import PartValue, Value, node_of
from inkling.language.syntax import (
    Aggregate,
    AggregateName,
    AllOf,
    AnyOf,
    Attribute,
    Call,
    Ident,
    IdOf,
    InList,
    IsNull,
    Negation,
    Previous,
    SinceChange,
    TimeOf,
    Variable,
)


def call(name: str, *args: object) -> Value:
    """A function or a knowledge atom: `call("slow", v("a").road, 30)`."""
    return Value(Call(Ident(name), tuple(node_of(arg) for arg in args)))


def all_of(*conditions: object) -> Value:
    """Conditions joined by AND; unlike `&` it keeps a conjunction among them in parentheses."""
    return Value(AllOf(tuple(node_of(condition) for condition in conditions)))


def any_of(*conditions: object) -> Value:
    """Conditions joined by OR; unlike `|` it keeps a disjunction among them in parentheses."""
    return Value(AnyOf(tuple(node_of(condition) for condition in conditions)))


def not_(condition: object) -> Value:
    return Value(Negation(node_of(condition)))


def is_in(item: object, *options: object) -> Value:
    return Value(InList(node_of(item), tuple(node_of(option) for option in options)))


def is_not_in(item: object, *options: object) -> Value:
    return Value(InList(node_of(item), tuple(node_of(option) for option in options), negated=True))


def is_null(item: object) -> Value:
    return Value(IsNull(node_of(item)))


def is_not_null(item: object) -> Value:
    return Value(IsNull(node_of(item), negated=True))


def prev(column: str) -> Value:
    return Value(Previous(Ident(column)))


def since_change(column: str) -> Value:
    return Value(SinceChange(Ident(column)))


def start_of(var: str) -> Value:
    return Value(TimeOf("START", Ident(var)))


def end_of(var: str) -> Value:
    return Value(TimeOf("END", Ident(var)))


def id_of(var: str) -> Value:
    return Value(IdOf(Ident(var)))


def first(var: str) -> PartValue:
    """The first event of a repetition: `first("b").x`."""
    return PartValue("FIRST", var)


def last(var: str) -> PartValue:
    """The last event of a repetition, or the previous one inside its own conditions."""
    return PartValue("LAST", var)


def _aggregate(function: AggregateName) -> Callable[[Value], Value]:
    def aggregate(over: Value) -> Value:
        match node_of(over):
            case Variable(var):
                return Value(Aggregate(function, var))
            case Attribute(var, column):
                return Value(Aggregate(function, var, column))
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
