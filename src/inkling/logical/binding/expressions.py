"""Type inference: binds syntax expressions to typed expressions; a `NameResolver` resolves the names in them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, runtime_checkable

from inkling.language import syntax as s
from inkling.language.parser.foreign_values import constant_time
from inkling.logical import expr as e
from inkling.logical.binding.catalog import Catalog
from inkling.logical.binding.choices import chosen_type, either, first_present
from inkling.logical.binding.clocks import TimeUses
from inkling.logical.binding.diagnostics import Diagnostics, listed
from inkling.logical.binding.terms import (
    MADE_TERM,
    SAME_TERM,
    applied,
    as_term,
    compared_terms,
    folded,
    malformed_reason,
)
from inkling.logical.functions import CHOICES, Function
from inkling.model.time import Clock, Duration
from inkling.model.types import Type, common_type

TIME, DURATION, INTEGER, DOUBLE, NULL = Type.TIME, Type.DURATION, Type.INTEGER, Type.DOUBLE, Type.NULL

TERM_FUNCTIONS = {"+": "term_plus", "-": "term_minus", "*": "term_times", "/": "term_divided"}

_LENGTHS = frozenset(("seconds", "minutes", "hours"))
"""Functions that measure a length of time."""

_TEMPORAL = {
    ("-", TIME, TIME): DURATION,
    ("+", TIME, DURATION): TIME,
    ("-", TIME, DURATION): TIME,
    ("+", DURATION, TIME): TIME,
    ("+", DURATION, DURATION): DURATION,
    ("-", DURATION, DURATION): DURATION,
    ("/", DURATION, DURATION): DOUBLE,
    ("*", DURATION, INTEGER): DURATION,
    ("*", DURATION, DOUBLE): DURATION,
    ("*", INTEGER, DURATION): DURATION,
    ("*", DOUBLE, DURATION): DURATION,
    ("/", DURATION, INTEGER): DURATION,
    ("/", DURATION, DOUBLE): DURATION,
}

_WITH_TICKS = {
    ("+", TIME, INTEGER): TIME,
    ("-", TIME, INTEGER): TIME,
    ("+", INTEGER, TIME): TIME,
    ("-", INTEGER, TIME): DURATION,
    ("+", DURATION, INTEGER): DURATION,
    ("-", DURATION, INTEGER): DURATION,
    ("+", INTEGER, DURATION): DURATION,
    ("-", INTEGER, DURATION): DURATION,
}
"""Sums in which a plain number counts ticks."""


def arithmetic_type(operator: str, left: Type, right: Type) -> Type | None:
    """The type of `left operator right`, or None if the operator does not apply to these types."""
    if left is NULL or right is NULL:
        known = right if left is NULL else left
        return known if known.is_numeric or known.is_temporal or known is NULL else None
    if left.is_numeric and right.is_numeric:
        both_whole = left is INTEGER and right is INTEGER and operator != "/"
        return INTEGER if both_whole else DOUBLE
    combination = (operator, left, right)
    return _TEMPORAL.get(combination) or _WITH_TICKS.get(combination)


def comparable(operator: str, left: Type, right: Type) -> bool:
    """Whether values of these types can be compared; truth values have no order, but terms are always compared."""
    if Type.TERM in (left, right):
        return True
    kind = common_type(left, right)
    if kind is None:
        return False
    return operator in ("=", "<>") or kind is not Type.BOOLEAN


def reads_number_as_ticks(operator: str, left: Type, right: Type) -> bool:
    """Whether one side is a time or a duration and the other a plain number, which then counts ticks."""
    if left.is_numeric == right.is_numeric or left.is_temporal == right.is_temporal:
        return False
    return operator not in ("*", "/")


def fits(given: Type, wanted: Type) -> bool:
    """Whether a value can be passed where another type is wanted."""
    return given is wanted or given is NULL or (wanted is DOUBLE and given is INTEGER)


def aggregate_type(function: str, column: Type) -> Type | None:
    """Type of an aggregate over a column, or None when the function cannot read it."""
    match function:
        case "COUNT":
            return INTEGER
        case "MIN" | "MAX":
            return None if column in (Type.BOOLEAN, Type.TERM) else column
        case "SUM":
            return column if column.is_numeric else None
        case _:
            return DOUBLE if column.is_numeric else None


Reference = s.Attribute | s.FirstOrLast | s.Aggregate | s.Previous | s.SinceChange | s.TimeOf | s.IdOf


class NameResolver(Protocol):
    """Resolves names at one point of a program; every method returns None after reporting an error."""

    def variable(self, node: s.Variable) -> e.Expr | None: ...

    def reference(self, node: Reference) -> e.Expr | None: ...

    def table_test(self, node: s.Call, binder: ExpressionBinder) -> e.Expr | None: ...


@runtime_checkable
class EventResolver(Protocol):
    """Resolves names of events too."""

    def identities(self, one: s.IdOf, other: s.IdOf) -> tuple[e.Expr | None, e.Expr | None]:
        """The ids of two events, as `=` and `<>` compare them."""


@dataclass(frozen=True, slots=True)
class ExpressionBinder:
    """Binds expressions at one point of a program; every method returns None after reporting an error."""

    names: NameResolver
    catalog: Catalog
    diagnostics: Diagnostics
    times: TimeUses

    def condition(self, node: s.Expr) -> e.Expr | None:
        """An expression that is true or false."""
        bound = self.value(node)
        if bound is None or bound.type is Type.BOOLEAN:
            return bound
        words = self.diagnostics.text_of(node)
        self.diagnostics.error(
            "INK0212",
            f"expected a condition, found a value of type {bound.type}",
            node,
            f"`{words}` is not a condition",
            helps=[f"write `ebv({words})` for its effective boolean value, or a comparison"]
            if bound.type is Type.TERM
            else [f"write a comparison, for example `{words} = {_example(bound.type)}`"],
        )
        return None

    def value(self, node: s.Expr) -> e.Expr | None:
        match node:
            case s.Literal(value=value):
                return e.Literal(value, _literal_type(value))
            case s.Duration():
                span = to_span(node)
                self.times.spans.append((span, node.span))
                return e.SpanLiteral(span)
            case s.Variable():
                return self.names.variable(node)
            case (
                s.Attribute() | s.FirstOrLast() | s.Aggregate() | s.Previous() | s.SinceChange() | s.TimeOf() | s.IdOf()
            ):
                return self.names.reference(node)
            case s.Call():
                return self._call(node)
            case s.Unary(operand=operand):
                return self._minus(node, operand)
            case s.Binary():
                return self._arithmetic(node)
            case s.Compare():
                return self._compare(node)
            case s.InList():
                return self._in_list(node)
            case s.IsNull(item=item, negated=negated):
                bound = self.value(item)
                return None if bound is None else e.IsNull(bound, negated)
            case s.AllOf(items=items):
                parts = self._conditions(items)
                return None if parts is None else e.AllOf(parts)
            case s.AnyOf(items=items):
                parts = self._conditions(items)
                return None if parts is None else e.AnyOf(parts)
            case s.Negation(item=item):
                bound = self.condition(item)
                return None if bound is None else e.Not(bound)

    def _conditions(self, items: tuple[s.Expr, ...]) -> tuple[e.Expr, ...] | None:
        bound = [self.condition(item) for item in items]
        return None if None in bound else tuple(part for part in bound if part is not None)

    def _minus(self, node: s.Unary, operand: s.Expr) -> e.Expr | None:
        bound = self.value(operand)
        if bound is None:
            return None
        if isinstance(bound, e.Literal) and isinstance(bound.value, int | float) and bound.type.is_numeric:
            return e.Literal(-bound.value, bound.type)
        if bound.type.is_numeric or bound.type in (Type.DURATION, Type.NULL):
            return e.Negate(bound, bound.type)
        self.diagnostics.error("INK0211", f"`-` needs a number, found {bound.type}", node, self._typed(operand, bound))
        return None

    def _arithmetic(self, node: s.Binary) -> e.Expr | None:
        left, right = self.value(node.left), self.value(node.right)
        if left is None or right is None:
            return None
        kind = arithmetic_type(node.op, left.type, right.type)
        if kind is not None:
            self._note_ticks(node.op, left, right, node)
            return e.Arithmetic(node.op, left, right, kind)
        helps = []
        if node.op == "+" and left.type is right.type is Type.STRING:
            words = f"{self.diagnostics.text_of(node.left)}, {self.diagnostics.text_of(node.right)}"
            helps.append(f"`concat({words})` joins strings")
        elif Type.TERM in (left.type, right.type) and node.op in TERM_FUNCTIONS:
            words = f"{self.diagnostics.text_of(node.left)}, {self.diagnostics.text_of(node.right)}"
            helps.append(f"`{TERM_FUNCTIONS[node.op]}({words})` computes a term, and `number(…)` reads one as DOUBLE")
        self.diagnostics.error(
            "INK0211",
            f"`{node.op}` does not combine {left.type} with {right.type}",
            node,
            self._both_typed(node.left, left, node.right, right),
            helps=helps,
        )
        return None

    def _compare(self, node: s.Compare) -> e.Expr | None:
        one, other = node.left, node.right
        if (
            isinstance(one, s.IdOf)
            and isinstance(other, s.IdOf)
            and isinstance(self.names, EventResolver)
            and node.op in ("=", "<>")
        ):
            left, right = self.names.identities(one, other)
            if isinstance(left, e.IdOf) and left.of_any and left == right:
                return e.TRUE if node.op == "=" else e.Not(e.TRUE)
        else:
            left, right = self.value(one), self.value(other)
        if left is None or right is None:
            return None
        if Type.NULL in (left.type, right.type):
            other = node.right if left.type is Type.NULL else node.left
            test = "IS NOT NULL" if node.op == "<>" else "IS NULL"
            self.diagnostics.error(
                "INK0215",
                "a comparison with NULL is never true",
                node,
                helps=[f"write `{self.diagnostics.text_of(other)} {test}`"],
            )
            return None
        if Type.TERM in (left.type, right.type):
            return compared_terms(node.op, left, right)
        if comparable(node.op, left.type, right.type):
            self._note_ticks(node.op, left, right, node)
            return e.Compare(node.op, left, right)
        self.diagnostics.error(
            "INK0210",
            f"cannot compare {left.type} with {right.type}"
            if left.type is not right.type
            else f"values of type {left.type} have no order",
            node,
            self._both_typed(node.left, left, node.right, right),
            helps=_literal_repair(left, right) or _literal_repair(right, left),
        )
        return None

    def _in_list(self, node: s.InList) -> e.Expr | None:
        item = self.value(node.item)
        options = [self.value(option) for option in node.options]
        if item is None or None in options:
            return None
        choices = [option for option in options if option is not None]
        for written, choice in zip(node.options, choices, strict=True):
            if not comparable("=", item.type, choice.type):
                self.diagnostics.error(
                    "INK0210",
                    f"cannot compare {item.type} with {choice.type}",
                    written,
                    self._both_typed(node.item, item, written, choice),
                    helps=_literal_repair(item, choice),
                )
                return None
            self._note_ticks("=", item, choice, node)
        literals = tuple(choice for choice in choices if isinstance(choice, e.Literal))
        found: e.Expr = e.InList(item, literals)
        if Type.TERM in (item.type, *(choice.type for choice in choices)):
            found = e.AnyOf(tuple(compared_terms("=", item, choice) for choice in choices))
        elif len(literals) < len(choices):
            found = e.AnyOf(tuple(e.Compare("=", item, choice) for choice in choices))
        return e.Not(found) if node.negated else found

    def _call(self, node: s.Call) -> e.Expr | None:
        if self.catalog.chooses(node.name.text):
            return self._choice(node, node.name.text.lower())
        function = self.catalog.function(node.name.text)
        if function is SAME_TERM:
            return self._same_term(node)
        if function is MADE_TERM:
            return self._made_term(node)
        if function is not None:
            return self._function(node, function)
        return self.names.table_test(node, self)

    def _function(self, node: s.Call, function: Function) -> e.Expr | None:
        wanted = function.parameters
        n_given = len(node.args)
        if n_given < len(wanted) - function.n_optional or (n_given > len(wanted) and not function.variadic):
            self.diagnostics.error(
                "INK0209",
                f"`{function.name}` takes {_count(function)}, found {n_given}",
                node,
                notes=[f"the signature is `{_signature(function)}`"],
            )
            return None
        dates = len(self.times.dates_only)
        args = [self.value(arg) for arg in node.args]
        if function.name in _LENGTHS and args and args[0] is not None and args[0].type is DURATION:
            args[0] = self._length(args[0], node)
        if function.name in ("moment", "span") and isinstance(args[0], e.Literal):
            self.times.dates_only.append((self.diagnostics.text_of(node), node.span))
        elif function.name == "blank_of":  # whatever times count, these only distinguish solutions
            del self.times.dates_only[dates:]
        kinds = (wanted + wanted[-1:] * (n_given - len(wanted)))[:n_given]
        for written, arg, kind in zip(node.args, args, kinds, strict=True):
            if arg is not None and not fits(arg.type, kind):
                self.diagnostics.error(
                    "INK0213",
                    f"`{function.name}` expects {kind}, found {arg.type}",
                    written,
                    self._typed(written, arg),
                    notes=[f"the signature is `{_signature(function)}`"],
                    helps=_term_repair(self.diagnostics.text_of(written), arg.type, kind),
                )
                return None
        bound = tuple(arg for arg in args if arg is not None)
        if len(bound) < n_given:
            return None
        reason = malformed_reason(function.name, bound)
        if reason is not None:
            self.diagnostics.error("INK0221", reason, node, f"`{self.diagnostics.text_of(node)}` is no RDF term")
            return None
        if len(bound) == 1:
            return applied(function.name, bound[0])
        return folded(e.FunctionCall(function.name, bound, function.result))

    def _choice(self, node: s.Call, name: str) -> e.Expr | None:
        """`coalesce(x, y, …)`, `if(c, x, y)`: values of one type."""
        n_given = len(node.args)
        if not n_given or (name == "if" and n_given != 3):
            wanted = "3 arguments" if name == "if" else "at least 1 argument"
            self.diagnostics.error(
                "INK0209",
                f"`{name}` takes {wanted}, found {n_given}",
                node,
                notes=[f"the signature is `{CHOICES[name]}`"],
            )
            return None
        condition = self.condition(node.args[0]) if name == "if" else e.TRUE
        written = node.args[1:] if name == "if" else node.args
        values = [value for arg in written if (value := self.value(arg)) is not None]
        if condition is None or len(values) < len(written):
            return None
        kind = chosen_type([value.type for value in values])
        if kind is None:
            other = next(place for place in range(len(values)) if not self._agree(values[: place + 1]))
            self.diagnostics.error(
                "INK0213",
                f"`{name}` needs values of one type, found {values[0].type} and {values[other].type}",
                written[other],
                self._both_typed(written[0], values[0], written[other], values[other]),
                helps=_literal_repair(values[0], values[other])
                or _term_repair(self.diagnostics.text_of(written[other]), values[other].type, values[0].type),
            )
            return None
        for value in values:
            self._note_ticks("=", value, e.Literal(None, kind), node)
        return either(condition, values[0], values[1], kind) if name == "if" else first_present(values, kind)

    @staticmethod
    def _agree(values: list[e.Expr]) -> bool:
        return chosen_type([value.type for value in values]) is not None

    def _same_term(self, node: s.Call) -> e.Expr | None:
        """`sameterm(x, y)`: the texts of two terms are equal."""
        if len(node.args) != 2:
            self.diagnostics.error("INK0209", f"`sameterm` takes 2 arguments, found {len(node.args)}", node)
            return None
        left, right = (self._term(arg) for arg in node.args)
        return None if left is None or right is None else e.Compare("=", left, right)

    def _made_term(self, node: s.Call) -> e.Expr | None:
        """`term(x)`: a value of any type as a term."""
        if len(node.args) != 1:
            self.diagnostics.error("INK0209", f"`term` takes 1 argument, found {len(node.args)}", node)
            return None
        return self._term(node.args[0])

    def _term(self, node: s.Expr) -> e.Expr | None:
        """A value as a term."""
        bound = self.value(node)
        if bound is None or bound.type not in (TIME, DURATION):
            return None if bound is None else as_term(bound)
        if self._may_have_dates(node):
            return as_term(bound)
        tick = self._tick()
        if bound.type is TIME or tick is None:
            return applied("integer_term", bound)
        return as_term(_in_microseconds(bound, tick))

    def _length(self, length: e.Expr, node: s.Call) -> e.Expr | None:
        """A length of time in microseconds, also if times count ticks of a declared length."""
        if self._may_have_dates(node):
            return length
        tick = self._tick()
        if tick is not None:
            return _in_microseconds(length, tick)
        self.diagnostics.error(
            "INK0304",
            f"`{self.diagnostics.text_of(node)}` needs the length of a tick",
            node,
            notes=[f"the times of {listed(self.catalog.timings)} are integers"],
            helps=["declare the length of a tick in every stream: `TICK 1 SECONDS`"],
        )
        return None

    def _may_have_dates(self, node: s.Expr) -> bool:
        """Whether times may be timestamps; they must be, then, where the node is evaluated."""
        timings = self.catalog.timings.values()
        if timings and all(timing.clock is Clock.TICKS for timing in timings):
            return False
        self.times.dates_only.append((self.diagnostics.text_of(node), node.span))
        return True

    def _tick(self) -> Duration | None:
        """The length of a tick, if all streams declare the same one."""
        ticks = {timing.tick for timing in self.catalog.timings.values()}
        return ticks.pop() if len(ticks) == 1 else None

    def _note_ticks(self, operator: str, left: e.Expr, right: e.Expr, node: s.Expr) -> None:
        if reads_number_as_ticks(operator, left.type, right.type):
            self.times.ticks_only.append((self.diagnostics.text_of(node), node.span))

    def _typed(self, node: s.Expr, bound: e.Expr) -> str:
        return f"`{self.diagnostics.text_of(node)}` is {bound.type}"

    def _both_typed(self, left: s.Expr, bound_left: e.Expr, right: s.Expr, bound_right: e.Expr) -> str:
        return f"{self._typed(left, bound_left)}, {self._typed(right, bound_right)}"


def to_span(node: s.Duration) -> Duration:
    return Duration(Fraction(node.amount), node.unit)


def _literal_type(value: s.Scalar) -> Type:
    match value:
        case bool():
            return Type.BOOLEAN
        case int():
            return Type.INTEGER
        case float():
            return Type.DOUBLE
        case str():
            return Type.STRING
        case None:
            return Type.NULL


def _literal_repair(one: e.Expr, other: e.Expr) -> tuple[str, ...]:
    """How to write the literal `other` so that it has the type of `one`."""
    if not isinstance(other, e.Literal):
        return ()
    if one.type is Type.STRING and other.type.is_numeric:
        return (f"a string needs single quotes: `'{other.value}'`",)
    if one.type.is_numeric and isinstance(other.value, str) and _is_number(other.value):
        return (f"a number has no quotes: `{other.value}`",)
    if one.type is Type.TIME and isinstance(other.value, str) and _DATE.match(other.value):
        return (f"write {constant_time(other.value)}",)
    return ()


_DATE = re.compile(r"\d{4}-\d\d-\d\d")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _example(kind: Type) -> str:
    return {Type.STRING: "'…'", Type.DURATION: "5 MINUTES"}.get(kind, "1")


def _term_repair(words: str, given: Type, wanted: Type) -> tuple[str, ...]:
    """What makes a term of a value, or a value of a term."""
    if wanted is Type.TERM:
        return (f"`term({words})` makes a term of a value",)
    reader = {Type.STRING: "str", DOUBLE: "number", Type.BOOLEAN: "ebv", TIME: "moment", DURATION: "span"}.get(wanted)
    return (f"write `{reader}({words})`",) if given is Type.TERM and reader is not None else ()


def _in_microseconds(ticks: e.Expr, tick: Duration) -> e.Expr:
    """A number of ticks as a length of time."""
    return e.Arithmetic("*", ticks, e.Literal(tick.units(Clock.TIMESTAMP), INTEGER), DURATION)


def _count(function: Function) -> str:
    most = len(function.parameters)
    if function.n_optional:
        return f"{most - function.n_optional} or {most} arguments"
    return f"{'at least ' if function.variadic else ''}{most} argument{'' if most == 1 else 's'}"


def _signature(function: Function) -> str:
    n_needed = len(function.parameters) - function.n_optional
    needed = ", ".join(str(kind) for kind in function.parameters[:n_needed])
    optional = "".join(f"[, {kind}]" for kind in function.parameters[n_needed:])
    return f"{function.name}({needed}{optional}{', …' if function.variadic else ''})"
