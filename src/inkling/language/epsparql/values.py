"""Conditions and values of FILTER and SELECT as expressions of `.ink`.

SPARQL has three truth values, the third for errors. A condition is translated twice, into when it is certainly true
and when it is certainly false; in `.ink` a comparison with an error or with a missing value is neither.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Literal as OneOf
from typing import NoReturn, TypeAlias, cast

from inkling.errors import ProgramError
from inkling.language import syntax as s
from inkling.language.epsparql import terms as t
from inkling.language.epsparql.durations import duration_of
from inkling.language.epsparql.tokens import escaped
from inkling.language.kit.cursor import Number
from inkling.language.syntax.expressions import ArithmeticOperator, ComparisonOperator
from inkling.model.time import MICROSECONDS
from inkling.source import SourceText, Span

XSD = "http://www.w3.org/2001/XMLSchema#"
RDF_LANGUAGE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"
_DURATIONS = (XSD + "duration", XSD + "dayTimeDuration")
_NUMBERS = tuple(XSD + name for name in ("integer", "decimal", "double", "float"))
_CASTS = (*_NUMBERS, *(XSD + name for name in ("boolean", "string", "dateTime")))

Kind: TypeAlias = OneOf["TERM", "NUMBER", "TEXT", "BOOLEAN", "TIME", "DURATION"]
_OPPOSITE: Mapping[str, ComparisonOperator] = MappingProxyType(
    {"=": "<>", "<>": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}
)
_TESTS = ("ISIRI", "ISURI", "ISBLANK", "ISLITERAL", "ISNUMERIC", "LANGMATCHES", "REGEX")
_COMPUTED: Mapping[str, str] = MappingProxyType(
    {"+": "term_plus", "-": "term_minus", "*": "term_times", "/": "term_divided"}
)


@dataclass(frozen=True, slots=True)
class KindedValue:
    """An expression with the kind of its values; anything but a term is a value of `.ink` itself."""

    expr: s.Expr
    kind: Kind


@dataclass(frozen=True, slots=True)
class Times:
    """When a row starts and ends; None where a group has no time of its own."""

    start: s.Expr
    end: s.Expr


def call(name: str, *args: s.Expr, span: Span) -> s.Call:
    return s.Call(s.Ident(name, span=span), args, span=span)


def same_term(left: s.Expr, right: s.Expr, span: Span) -> s.Expr:
    return call("sameterm", left, right, span=span)


def constant(node: t.Constant | t.Blank, source: SourceText) -> s.Expr:
    """An IRI or a literal as a term."""
    span = node.span
    match node:
        case t.Iri(value=value):
            return call("iri", s.Literal(value, span=span), span=span)
        case t.Truth(value=value):
            return _typed("true" if value else "false", "boolean", span)
        case Number(written=written):
            kind = "double" if "e" in written.lower() else "decimal" if "." in written else "integer"
            return _typed(written, kind, span)
        case t.Text(value=value, language=language, datatype=datatype) if "\n" in value or "\r" in value:
            suffix = f"@{language}" if language else f"^^<{datatype.value}>" if datatype else ""
            return call("parsed_term", s.Literal(escaped(value) + suffix, span=span), span=span)
        case t.Text(value=value, language=language) if language:
            return call("literal", s.Literal(value, span=span), s.Literal(language, span=span), span=span)
        case t.Text(value=value, datatype=datatype) if datatype:
            return call("typed", s.Literal(value, span=span), s.Literal(datatype.value, span=span), span=span)
        case t.Text(value=value):
            return call("literal", s.Literal(value, span=span), span=span)
        case _:
            raise TypeError(f"not a constant: {node}")


def _typed(written: str, kind: str, span: Span) -> s.Expr:
    return call("typed", s.Literal(written, span=span), s.Literal(XSD + kind, span=span), span=span)


def all_of(tests: Sequence[s.Expr]) -> s.Expr | None:
    """The conjunction of conditions; None if there are none."""
    flat = [part for test in tests for part in s.conjuncts(test)]
    if not flat:
        return None
    return flat[0] if len(flat) == 1 else s.AllOf(tuple(flat), span=flat[0].span.to(flat[-1].span))


def any_of(tests: Sequence[s.Expr]) -> s.Expr:
    flat = [part for test in tests for part in (test.items if isinstance(test, s.AnyOf) else (test,))]
    return flat[0] if len(flat) == 1 else s.AnyOf(tuple(flat), span=flat[0].span.to(flat[-1].span))


@dataclass(frozen=True, slots=True)
class Expressions:
    """Translates the expressions of a group, whose variables have these values, and whose rows these times."""

    source: SourceText
    variables: Mapping[str, s.Expr]
    times: Callable[[], Times]
    missing: Callable[[t.Variable], NoReturn]  # reports a variable that the group does not bind

    def true(self, node: t.Expr) -> s.Expr:
        """When a condition is certainly true."""
        return self._test(node, wanted=True)

    def false(self, node: t.Expr) -> s.Expr:
        """When a condition is certainly false."""
        return self._test(node, wanted=False)

    def _test(self, node: t.Expr, *, wanted: bool) -> s.Expr:
        span = node.span
        match node:
            case t.Not(item=item):
                return self._test(item, wanted=not wanted)
            case t.Joined(op=op, items=items):
                parts = [self._test(item, wanted=wanted) for item in items]
                if (op == "&&") == wanted:
                    return cast("s.Expr", all_of(parts))
                return any_of(parts)
            case t.Comparison():
                return self._compared(node, wanted=wanted)
            case t.Called(name="BOUND", args=(t.Variable() as variable,)):
                return s.IsNull(self._variable(variable), negated=wanted, span=span)
            case t.Called(name="SAMETERM", args=(left, right)):
                pair = [self.term(left), self.term(right)]
                same = same_term(pair[0], pair[1], span)
                if wanted:
                    return same
                bound = [s.IsNull(one, negated=True, span=span) for one in pair]
                return cast("s.Expr", all_of([*bound, s.Negation(same, span=span)]))
            case t.Called(name="IF", args=(condition, first, second)):
                return any_of(
                    [
                        cast("s.Expr", all_of([self.true(condition), self._test(first, wanted=wanted)])),
                        cast("s.Expr", all_of([self.false(condition), self._test(second, wanted=wanted)])),
                    ]
                )
            case t.Called(name=name) if name in _TESTS:
                guards, found = self._called_test(node)
                result = found if wanted else s.Compare("=", found, s.Literal(False, span=span), span=span)
                return cast("s.Expr", all_of([*guards, result]))
            case t.Truth(value=value):
                one = s.Literal(1, span=span)
                return s.Compare("=" if value == wanted else "<>", one, one, span=span)
            case _:
                ebv = call("ebv", self.term(node), span=span)
                return ebv if wanted else s.Compare("=", ebv, s.Literal(False, span=span), span=span)

    def _called_test(self, node: t.Called) -> tuple[list[s.Expr], s.Expr]:
        """A function that is true or false, and what must hold so that it is no error."""
        span = node.span
        guards: list[s.Expr] = []
        if node.name not in ("LANGMATCHES", "REGEX"):
            return [], call(node.name.replace("ISURI", "ISIRI").lower(), self.term(node.args[0]), span=span)
        args: list[s.Expr] = []
        for arg in node.args:
            value = self.value(arg)
            if value.kind == "TERM":
                text = call("datatype", value.expr, span=arg.span)
                kinds = [s.Literal(XSD + "string", span=arg.span), s.Literal(RDF_LANGUAGE, span=arg.span)]
                guards.append(any_of([same_term(text, call("iri", one, span=arg.span), arg.span) for one in kinds]))
                args.append(call("str", value.expr, span=arg.span))
            else:
                args.append(value.expr)
        return guards, call(node.name.lower(), *args, span=span)

    def _compared(self, node: t.Comparison, *, wanted: bool) -> s.Expr:
        op: ComparisonOperator = "<>" if node.op == "!=" else node.op
        left, right = self._sides(node)
        span = node.span
        if wanted:
            return _comparison(op, left.expr, right.expr, span)
        opposite = _comparison(_OPPOSITE[op], left.expr, right.expr, span)
        if op in ("=", "<>") or "TERM" not in (left.kind, right.kind):
            return opposite
        # not-a-number is neither less nor at least, so such a comparison is certainly false
        missing = [call("isnan", one.expr, span=span) for one in (left, right) if one.kind == "TERM"]
        numeric = [call("isnumeric", one.expr, span=span) for one in (left, right) if one.kind == "TERM"]
        return any_of([opposite, cast("s.Expr", all_of([any_of(missing), *numeric]))])

    def _sides(self, node: t.Comparison) -> tuple[KindedValue, KindedValue]:
        """Both sides: numbers if one is computed, lengths of time and times where one is."""
        left, right = self.value(node.left), self.value(node.right)
        kinds = {left.kind, right.kind}
        if "DURATION" in kinds or "TIME" in kinds:
            kind: Kind = "DURATION" if "DURATION" in kinds else "TIME"
            if "TERM" in kinds and not any(isinstance(side, t.Text) for side in (node.left, node.right)):
                return KindedValue(self.term(node.left), "TERM"), KindedValue(self.term(node.right), "TERM")
            return self._as_time(left, node.left, kind), self._as_time(right, node.right, kind)
        if any(isinstance(side, t.Arithmetic | t.Minus) for side in (node.left, node.right)):
            if node.op in ("=", "!="):  # a number differs from all that is no number
                terms = self.term(node.left), self.term(node.right)
                return KindedValue(terms[0], "TERM"), KindedValue(terms[1], "TERM")
            return self._as_number(left, node.left), self._as_number(right, node.right)
        if "TERM" not in kinds and (len(kinds) > 1 or isinstance(node.left, t.Constant)):
            return KindedValue(self.term(node.left), "TERM"), right
        return left, right

    def _as_time(self, value: KindedValue, node: t.Expr, kind: Kind) -> KindedValue:
        if value.kind == kind:
            return value
        if kind == "DURATION" and isinstance(node, t.Text) and node.datatype and node.datatype.value in _DURATIONS:
            found = duration_of(node.value)
            if found is None:
                raise ProgramError.of(
                    "INK0173",
                    f"`{node.value}` is not a length of time",
                    span=node.span,
                    source=self.source,
                    notes=("months and years have no fixed length",) if "M" in node.value or "Y" in node.value else (),
                    helps=('write for example `"PT1H30M"^^xsd:duration` or `"P30D"^^xsd:duration`',),
                )
            return KindedValue(s.Duration(found[0], found[1], span=node.span), "DURATION")
        if value.kind == "NUMBER" and isinstance(node, Number) and "." not in node.written:
            return value  # of ticks: an error of the program if times are dates
        if value.kind != "TERM":
            what = "a length of time" if kind == "DURATION" else "a time"
            help = '`"PT1H"^^xsd:duration`' if kind == "DURATION" else '`"2011-05-01T12:00:00Z"^^xsd:dateTime`'
            raise ProgramError.of(
                "INK0173",
                f"{what} is compared with something else",
                span=node.span,
                source=self.source,
                helps=(f"write {what}: {help}",),
            )
        return KindedValue(call("span" if kind == "DURATION" else "moment", value.expr, span=node.span), kind)

    def _as_number(self, value: KindedValue, node: t.Expr) -> KindedValue:
        if value.kind == "NUMBER":
            return value
        return KindedValue(self.number(node), "NUMBER")

    def number(self, node: t.Expr) -> s.Expr:
        """A value as a number of 64 bits."""
        match node:
            case t.Arithmetic(op=op, left=left, right=right):
                operator: ArithmeticOperator = op
                return s.Binary(operator, self.number(left), self.number(right), span=node.span)
            case t.Minus(item=item):
                return s.Unary("-", self.number(item), span=node.span)
            case Number():
                return s.Literal(node.size, span=node.span)
            case t.Text(value=value, datatype=datatype) if datatype and datatype.value in _NUMBERS and _is_plain(value):
                return s.Literal(Number(value).size, span=node.span)
            case _:
                return call("number", self.term(node), span=node.span)

    def value(self, node: t.Expr) -> KindedValue:
        """A value of its own kind."""
        span = node.span
        match node:
            case t.Variable():
                return KindedValue(self._variable(node), "TERM")
            case Number():
                return KindedValue(s.Literal(node.size, span=span), "NUMBER")
            case t.Arithmetic() | t.Minus():
                return KindedValue(self.number(node), "NUMBER")
            case t.Called(name="GETDURATION"):
                times = self.times()
                return KindedValue(s.Binary("-", times.end, times.start, span=span), "DURATION")
            case t.Called(name="GETSTARTTIME"):
                return KindedValue(replace(self.times().start, span=span), "TIME")
            case t.Called(name="GETENDTIME"):
                return KindedValue(replace(self.times().end, span=span), "TIME")
            case t.Called(name="STR", args=(arg,)):
                return KindedValue(call("str", self.term(arg), span=span), "TEXT")
            case t.Called(name="LANG", args=(arg,)):
                return KindedValue(call("lang", self.term(arg), span=span), "TEXT")
            case t.Text(value=value, language=None, datatype=None) if "\n" not in value and "\r" not in value:
                return KindedValue(s.Literal(value, span=span), "TEXT")
            case _:
                return KindedValue(self.term(node), "TERM")

    def term(self, node: t.Expr) -> s.Expr:
        """A value as a term."""
        span = node.span
        match node:
            case t.Variable():
                return self._variable(node)
            case t.Iri() | t.Text() | Number() | t.Truth():
                return constant(node, self.source)
            case t.Arithmetic(op=op, left=left, right=right):
                return call(_COMPUTED[op], self.term(left), self.term(right), span=span)
            case t.Minus(item=item):
                return call("term_negated", self.term(item), span=span)
            case t.Cast(datatype=datatype, arg=arg):
                return self._cast(datatype, arg, span)
            case t.Called(name="COALESCE", args=args):
                return call("coalesce", *(self.term(arg) for arg in args), span=span)
            case t.Called(name="IF", args=(condition, first, second)):
                otherwise = call("if", self.false(condition), self.term(second), s.Literal(None, span=span), span=span)
                return call("if", self.true(condition), self.term(first), otherwise, span=span)
            case t.Called(name="DATATYPE", args=(arg,)):
                return call("datatype", self.term(arg), span=span)
            case t.Called(name="STR" | "LANG" | "GETDURATION" | "GETSTARTTIME" | "GETENDTIME"):
                return call("term", self.value(node).expr, span=span)
            case _:
                no = call(
                    "if", self.false(node), _typed("false", "boolean", span), s.Literal(None, span=span), span=span
                )
                return call("if", self.true(node), _typed("true", "boolean", span), no, span=span)

    def _cast(self, datatype: t.Iri, arg: t.Expr, span: Span) -> s.Expr:
        if datatype.value not in _CASTS:
            names = ", ".join(f"`xsd:{one.removeprefix(XSD)}`" for one in _CASTS)
            raise ProgramError.of(
                "INK0173",
                f"unknown function `{datatype.written}`",
                span=datatype.span,
                source=self.source,
                notes=(f"the types that values are converted into are {names}",),
            )
        return call("term_cast", self.term(arg), s.Literal(datatype.value, span=datatype.span), span=span)

    def _variable(self, node: t.Variable) -> s.Expr:
        found = self.variables.get(node.name)
        if found is None:
            self.missing(node)
        return _placed(found, node.span)


def _comparison(op: ComparisonOperator, left: s.Expr, right: s.Expr, span: Span) -> s.Expr:
    """A comparison; one with a variable of background triples names no value: 1 and 1.0 are equal, but not the same."""
    compared = s.Compare(op, left, right, span=span)
    if op == "=" and (isinstance(left, s.Variable) or isinstance(right, s.Variable)):
        return s.Compare("=", compared, s.Literal(True, span=span), span=span)
    return compared


def limit_of(node: t.Expr) -> s.Duration | None:
    """The length of time below which a conjunct of a condition keeps rows; None if it is no such limit."""
    if not isinstance(node, t.Comparison):
        return None
    left, right, op = node.left, node.right, node.op
    if op in (">", ">="):
        left, right = right, left
    if op in ("!=",) or not (isinstance(left, t.Called) and left.name == "GETDURATION"):
        return None
    if not (isinstance(right, t.Text) and right.datatype and right.datatype.value in _DURATIONS):
        return None
    found = duration_of(right.value)
    return None if found is None else s.Duration(found[0], found[1], span=right.span)


def _is_plain(number: str) -> bool:
    return re.fullmatch(r"[0-9]{1,15}(\.[0-9]{1,15})?", number) is not None


def _placed(expr: s.Expr, span: Span) -> s.Expr:
    """The expression, at another place of the text."""
    match expr:
        case s.Attribute(var=var, column=column):
            return s.Attribute(var, column, span=span)
        case s.Variable(name=name):
            return s.Variable(name, span=span)
        case _:
            return expr


def length(duration: s.Duration) -> Fraction:
    """A length of time in microseconds."""
    return Fraction(duration.amount) * MICROSECONDS[duration.unit]
