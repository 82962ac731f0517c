"""Builds names, numbers, lengths of time, values and conditions, and separates built-in functions from other calls."""

from collections.abc import Callable
from fractions import Fraction
from typing import cast

from lark import Token, v_args
from lark.tree import Meta

from inkling.errors import ProgramError, nearest
from inkling.language import syntax as s
from inkling.language.kit.lalr import LARGEST_INTEGER, Children, NodeBuilder, all_parts, node, node_of_all, span_of
from inkling.language.names import AGGREGATES, BUILT_IN_FUNCTIONS
from inkling.source import Span


@v_args(meta=True)
class NameTransformer(NodeBuilder):
    """Names and numbers of a program; errors in them are found while building."""

    def name(self, meta: Meta, children: Children) -> s.Ident:
        span = span_of(meta)
        quoted = self.source.text[span.start] in '"`'
        return s.Ident(str(children[0]), quoted=quoted, span=span)

    def variable(self, meta: Meta, children: Children) -> s.Ident:
        (ident,) = children
        assert isinstance(ident, s.Ident)
        return ident

    def probability(self, token: Token, *, what: str) -> float:
        value = self.real(token)
        if not 0 <= value <= 1:
            raise self.error(
                "INK0116",
                f"{what} lies between 0 and 1, found `{token}`",
                span_of(token),
                helps=(f"write `{value / 100:g}`",) if 1 < value <= 100 else (),
            )
        return value

    def count(self, token: Token, *, what: str) -> int:
        """A whole number of at least one."""
        value = self.integer(token)
        if value < 1:
            raise self.error("INK0116", f"{what} is at least 1, found `{token}`", span_of(token))
        return value


_UNITS: dict[str, s.TimeUnit] = {unit: unit for unit in s.TIME_UNITS}
_UNITS |= {unit.removesuffix("S"): unit for unit in s.TIME_UNITS}
_ABBREVIATIONS: dict[str, s.TimeUnit] = {
    "US": "MICROSECONDS",
    "MS": "MILLISECONDS",
    "S": "SECONDS",
    "SEC": "SECONDS",
    "SECS": "SECONDS",
    "M": "MINUTES",
    "MIN": "MINUTES",
    "MINS": "MINUTES",
    "H": "HOURS",
    "HR": "HOURS",
    "HRS": "HOURS",
    "D": "DAYS",
    "W": "WEEKS",
}
_COUNTS = {"EVENT": "EVENTS", "EVENTS": "EVENTS", "POINT": "POINTS", "POINTS": "POINTS"}


@v_args(meta=True)
class DurationTransformer(NameTransformer):
    def duration(self, meta: Meta, children: Children) -> s.Duration:
        number, unit = children
        return self._duration(number, unit, choices=s.TIME_UNITS)

    def span(self, meta: Meta, children: Children) -> s.Duration:
        number, unit = children
        return self._duration(number, unit, choices=s.TIME_UNITS)

    def time_unit(self, meta: Meta, children: Children) -> Token:
        (word,) = children
        return cast(Token, word)

    def rate(self, meta: Meta, children: Children) -> s.Rate:
        """`12 PER HOUR`, `3 PER 10 MINUTES`"""
        number, per = children
        if isinstance(per, Token):
            one = Token("INTEGER", "1", per.start_pos, end_pos=per.start_pos)
            per = self._duration(one, per, choices=s.TIME_UNITS)
        count = self._amount(number)
        if count == 0 or per.amount == 0:
            raise self.error(
                "INK0116",
                "a rate is a positive number per unit of time",
                span_of(meta),
                helps=("write for example `RATE 12 PER HOUR`",),
            )
        return s.Rate(count, per, span=span_of(meta))

    def window(self, number: Token, unit: Token) -> s.Window:
        """`30 MINUTES`, `5 POINTS` or `4 EVENTS`"""
        match _COUNTS.get(unit.upper()):
            case "EVENTS":
                return self.events(number, unit)
            case "POINTS":
                n = self.count(number, what="a number of time points")
                return s.PointCount(n, span=_both(number, unit))
            case _:
                return self._duration(number, unit, choices=(*s.TIME_UNITS, "EVENTS", "POINTS"))

    def last(self, number: Token, unit: Token) -> s.EventCount | s.Duration:
        """`3 EVENTS` or `10 MINUTES`"""
        if _COUNTS.get(unit.upper()) == "EVENTS":
            return self.events(number, unit)
        return self._duration(number, unit, choices=(*s.TIME_UNITS, "EVENTS"))

    def events(self, number: Token, unit: Token) -> s.EventCount:
        n = self.count(number, what="a number of events")
        return s.EventCount(n, span=_both(number, unit))

    def horizon(self, number: Token, unit: Token) -> s.EventCount:
        """`10 EVENTS` and nothing else"""
        if _COUNTS.get(unit.upper()) != "EVENTS":
            raise self.error(
                "INK0111",
                f"expected a number of events, found `{unit}`",
                span_of(unit),
                helps=(f"write `{number} EVENTS`",),
            )
        return self.events(number, unit)

    def _duration(self, number: Token, unit: Token, *, choices: tuple[str, ...]) -> s.Duration:
        known = _UNITS.get(unit.upper())
        if known is None:
            raise self._unknown_unit(number, unit, choices)
        return s.Duration(self._amount(number), known, span=_both(number, unit))

    def _unknown_unit(self, number: Token, unit: Token, choices: tuple[str, ...]) -> ProgramError:
        near = nearest(unit, choices, n=1)
        meant: str | None = _ABBREVIATIONS.get(unit.upper()) or (near[0] if near else None)
        notes = [f"units are {', '.join(choices)}"]
        if unit.upper().rstrip("S") in ("MONTH", "YEAR"):
            n_days = {"MONTH": 30, "YEAR": 365}[unit.upper().rstrip("S")]
            meant = None
            if number.isdecimal() and "DAYS" in choices:
                return self.error(
                    "INK0111",
                    f"unknown unit `{unit}`",
                    span_of(unit),
                    notes=(*notes, "months and years vary in length"),
                    helps=(f"write `{int(number) * n_days} DAYS`",),
                )
            notes.append("months and years vary in length")
        return self.error(
            "INK0111",
            f"unknown unit `{unit}`",
            span_of(unit),
            notes=tuple(notes),
            helps=(f"write `{number} {meant}`",) if meant else (),
        )

    def _amount(self, number: Token) -> int | Fraction:
        if number.type == "INTEGER":
            return self.integer(number)
        if self.real(number) > LARGEST_INTEGER:
            raise self.error("INK0116", f"the number {number} is too large", span_of(number))
        amount = Fraction(str(number))
        return amount.numerator if amount.denominator == 1 else amount


def _both(number: Token, unit: Token) -> Span:
    return span_of(number).to(span_of(unit))


_BUILT_IN: dict[str, Callable[[s.Ident, Span], s.Expr]] = {
    "PREV": lambda name, span: s.Previous(name, span=span),
    "SINCE_CHANGE": lambda name, span: s.SinceChange(name, span=span),
    "START": lambda name, span: s.TimeOf("START", name, span=span),
    "END": lambda name, span: s.TimeOf("END", name, span=span),
    "ID": lambda name, span: s.IdOf(name, span=span),
}


@v_args(meta=True)
class ExpressionTransformer(DurationTransformer):
    any_of = node_of_all(s.AnyOf)
    all_of = node_of_all(s.AllOf)
    negation = node(s.Negation)

    def compare(self, meta: Meta, children: Children) -> s.Compare:
        left, operator, right = children
        op = "<>" if operator == "!=" else str(operator)
        return s.Compare(cast(s.ComparisonOperator, op), left, right, span=span_of(meta))

    def in_list(self, meta: Meta, children: Children) -> s.InList:
        item, *options = children
        negated = isinstance(options[0], Token)
        return s.InList(item, tuple(options[negated:]), negated, span=span_of(meta))

    def is_null(self, meta: Meta, children: Children) -> s.IsNull:
        return s.IsNull(children[0], len(children) > 1, span=span_of(meta))

    def binary(self, meta: Meta, children: Children) -> s.Binary:
        left, operator, right = children
        op = cast(s.ArithmeticOperator, str(operator))
        return s.Binary(op, left, right, span=span_of(meta))

    def minus(self, meta: Meta, children: Children) -> s.Unary:
        return s.Unary("-", children[0], span=span_of(meta))

    def constant(self, meta: Meta, children: Children) -> s.Literal:
        (token,) = children
        return s.Literal(self._scalar(token), span=span_of(meta))

    reference = node(s.Variable)
    attribute = node(s.Attribute)

    def anything(self, meta: Meta, children: Children) -> s.Variable:
        return s.Variable(s.Ident("_", span=span_of(meta)), span=span_of(meta))

    arguments = all_parts
    atom = node(s.Call)

    def call(self, meta: Meta, children: Children) -> s.Expr:
        name, arguments = children
        function = "" if name.quoted else name.text.upper()
        if function not in BUILT_IN_FUNCTIONS:
            return s.Call(name, arguments, span=span_of(meta))
        span = span_of(meta)
        match arguments:
            case [s.Variable(ident)] if function in _BUILT_IN:
                return _BUILT_IN[function](ident, span)
            case [s.Variable(ident)]:
                return s.Aggregate(cast(s.AggregateName, function), ident, span=span)
            case [s.Attribute(var, column)] if function in AGGREGATES:
                return s.Aggregate(cast(s.AggregateName, function), var, column, span=span)
            case _:
                raise self._wrong_arguments(name, function, span)

    def part(self, meta: Meta, children: Children) -> s.FirstOrLast:
        name, arguments, column = children
        which = "" if name.quoted else name.text.upper()
        match which, arguments:
            case "FIRST" | "LAST", [s.Variable(ident)]:
                return s.FirstOrLast(which, ident, column, span=span_of(meta))
            case _:
                raise self.error(
                    "INK0117",
                    f"`{name}(…)` is a value and has no columns",
                    span_of(meta),
                    notes=("only `FIRST(v)` and `LAST(v)` of a variable have columns",),
                )

    def _scalar(self, token: Token) -> s.Scalar:
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

    def _wrong_arguments(self, name: s.Ident, function: str, span: Span) -> ProgramError:
        if function in AGGREGATES:
            takes, example = "a variable or one of its columns", f"{function}(b.x)"
        elif function in ("PREV", "SINCE_CHANGE"):
            takes, example = "one column name", f"{function}(speed)"
        else:
            takes, example = "one variable", f"{function}(a)"
        return self.error(
            "INK0117",
            f"`{name}` takes {takes}",
            span,
            label=f"expected for example `{example}`",
            helps=(f'put the name in double quotes, `"{name}"(…)`, for a function or rule with this name',),
        )
