"""Builds values and conditions, and tells built-in functions from other calls."""

from collections.abc import Callable
from typing import cast

from lark import Token, v_args
from lark.tree import Meta

from inkling.errors import ProgramError
from inkling.language.parser.durations import DurationBuilder
from inkling.language.parser.tree import Children, span_of
from inkling.language.reserved import AGGREGATES, BUILT_IN_FUNCTIONS
from inkling.language.syntax import (
    Aggregate,
    AggregateName,
    AllOf,
    AnyOf,
    ArithmeticOperator,
    Attribute,
    Binary,
    Call,
    Compare,
    ComparisonOperator,
    Expr,
    Ident,
    IdOf,
    InList,
    IsNull,
    Literal,
    Negation,
    Part,
    Previous,
    Scalar,
    SinceChange,
    TimeOf,
    Unary,
    Variable,
)
from inkling.source import Span

_BUILT_IN: dict[str, Callable[[Ident, Span], Expr]] = {
    "PREV": lambda name, span: Previous(name, span=span),
    "SINCE_CHANGE": lambda name, span: SinceChange(name, span=span),
    "START": lambda name, span: TimeOf("START", name, span=span),
    "END": lambda name, span: TimeOf("END", name, span=span),
    "ID": lambda name, span: IdOf(name, span=span),
}


@v_args(meta=True)
class ExpressionBuilder(DurationBuilder):
    def any_of(self, meta: Meta, children: Children) -> AnyOf:
        return AnyOf(tuple(children), span=span_of(meta))

    def all_of(self, meta: Meta, children: Children) -> AllOf:
        return AllOf(tuple(children), span=span_of(meta))

    def negation(self, meta: Meta, children: Children) -> Negation:
        return Negation(children[0], span=span_of(meta))

    def compare(self, meta: Meta, children: Children) -> Compare:
        left, operator, right = children
        op = "<>" if operator == "!=" else str(operator)
        return Compare(cast(ComparisonOperator, op), left, right, span=span_of(meta))

    def in_list(self, meta: Meta, children: Children) -> InList:
        item, *options = children
        negated = isinstance(options[0], Token)
        return InList(item, tuple(options[negated:]), negated, span=span_of(meta))

    def is_null(self, meta: Meta, children: Children) -> IsNull:
        return IsNull(children[0], len(children) > 1, span=span_of(meta))

    def binary(self, meta: Meta, children: Children) -> Binary:
        left, operator, right = children
        op = cast(ArithmeticOperator, str(operator))
        return Binary(op, left, right, span=span_of(meta))

    def minus(self, meta: Meta, children: Children) -> Unary:
        return Unary("-", children[0], span=span_of(meta))

    def constant(self, meta: Meta, children: Children) -> Literal:
        (token,) = children
        return Literal(self._scalar(token), span=span_of(meta))

    def reference(self, meta: Meta, children: Children) -> Variable:
        return Variable(children[0], span=span_of(meta))

    def attribute(self, meta: Meta, children: Children) -> Attribute:
        return Attribute(*children, span=span_of(meta))

    def anything(self, meta: Meta, children: Children) -> Variable:
        return Variable(Ident("_", span=span_of(meta)), span=span_of(meta))

    def arguments(self, meta: Meta, children: Children) -> tuple[Expr, ...]:
        return tuple(children)

    def atom(self, meta: Meta, children: Children) -> Call:
        name, arguments = children
        return Call(name, arguments, span=span_of(meta))

    def call(self, meta: Meta, children: Children) -> Expr:
        name, arguments = children
        function = "" if name.quoted else name.text.upper()
        if function not in BUILT_IN_FUNCTIONS:
            return Call(name, arguments, span=span_of(meta))
        span = span_of(meta)
        match arguments:
            case [Variable(ident)] if function in _BUILT_IN:
                return _BUILT_IN[function](ident, span)
            case [Variable(ident)]:
                return Aggregate(cast(AggregateName, function), ident, span=span)
            case [Attribute(var, column)] if function in AGGREGATES:
                return Aggregate(cast(AggregateName, function), var, column, span=span)
            case _:
                raise self._wrong_arguments(name, function, span)

    def part(self, meta: Meta, children: Children) -> Part:
        name, arguments, column = children
        which = "" if name.quoted else name.text.upper()
        match which, arguments:
            case "FIRST" | "LAST", [Variable(ident)]:
                return Part(which, ident, column, span=span_of(meta))
            case _:
                raise self.mistake(
                    "INK0117",
                    f"`{name}(…)` has no columns",
                    span_of(meta),
                    notes=("only `FIRST(v)` and `LAST(v)` of a variable have columns",),
                )

    def _scalar(self, token: Token) -> Scalar:
        match token.type:
            case "INTEGER":
                return self.integer(token)
            case "DECIMAL":
                return self.real(token)
            case "STRING":
                return str(token)
            case "TRUE" | "FALSE":
                return token.type == "TRUE"
            case _:
                return None

    def _wrong_arguments(self, name: Ident, function: str, span: Span) -> ProgramError:
        if function in AGGREGATES:
            takes, example = "a variable or one of its columns", f"{function}(b.x)"
        elif function in ("PREV", "SINCE_CHANGE"):
            takes, example = "one column name", f"{function}(speed)"
        else:
            takes, example = "one variable", f"{function}(a)"
        return self.mistake(
            "INK0117",
            f"`{name}` takes {takes}",
            span,
            label=f"expected for example `{example}`",
            helps=(f'write `"{name}"(…)` in quotes for a function or relation of this name',),
        )
