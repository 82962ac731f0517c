"""Expressions and patterns of a plan in the syntax of the language, short enough for one line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from inkling.language.printer.patterns import repetition_text
from inkling.logical import expr as e
from inkling.logical import knowledge as k
from inkling.logical import plan as p
from inkling.logical.terms import written_value
from inkling.model.time import Duration
from inkling.model.types import Type

_PRECEDENCE = {"OR": 1, "AND": 2, "NOT": 3, "compare": 4, "+": 5, "-": 5, "*": 6, "/": 6, "%": 6, "unary": 7}
_ATOM = 9


@dataclass(frozen=True, slots=True)
class Wording:
    """The names of the slots and look-ups of one event."""

    slots: Mapping[int, str | None] = field(default_factory=dict)
    lookups: Mapping[int, str] = field(default_factory=dict)

    @classmethod
    def of(cls, event: p.EventPlan) -> Wording:
        """The names of the program; a look-up has the name of its table, numbered from the second one on."""
        lookups: dict[int, str] = {}
        used: dict[str, int] = {}
        for leaf in p.leaves(event.pattern):
            for atom in leaf.atoms:
                used[atom.table] = used.get(atom.table, 0) + 1
                suffix = f"#{used[atom.table]}" if used[atom.table] > 1 else ""
                lookups[atom.number] = atom.table + suffix
        return cls({slot.number: slot.name for slot in event.slots}, lookups)

    def column(self, slot: int, column: str) -> str:
        name = self.slots.get(slot)
        return f"{name}.{column}" if name else column

    def slot(self, slot: int) -> str:
        return self.slots.get(slot) or f"#{slot}"


ROWS = Wording()
"""Names inside a stream declaration, where columns have no variable."""


def expr_text(expr: e.Expr, names: Wording = ROWS) -> str:
    """An expression as it could be written."""
    return _text(expr, names)[0]


def span_text(span: Duration) -> str:
    """A length of time; amounts that have no short decimal form stay fractions.

    >>> from fractions import Fraction
    >>> span_text(Duration(Fraction(3, 2), "HOURS"))
    '1.5 HOURS'
    """
    amount = span.amount
    shown = str(amount) if amount.denominator == 1 else repr(float(amount))
    return f"{shown} {span.unit}"


def moment_text(since_zero: Duration) -> str:
    """A moment of the clock: a tick, or a date and time.

    >>> from fractions import Fraction
    >>> moment_text(Duration(Fraction(7), "TICKS")), moment_text(Duration(Fraction(60_000_000), "MICROSECONDS"))
    ('7', "'1970-01-01 00:01:00'")
    """
    if since_zero.unit == "TICKS":
        return str(since_zero.amount)
    moment = datetime(1970, 1, 1) + timedelta(microseconds=int(since_zero.amount))
    return f"'{moment}'"


def _limit_text(within: p.Window | None) -> str:
    return "" if within is None else f" WITHIN {window_text(within)}"


def window_text(window: p.Window) -> str:
    match window:
        case Duration():
            return span_text(window)
        case p.Points(count=count):
            return f"{count} POINTS"
        case p.EventCount(count=count):
            return f"{count} EVENTS"


def _are_present(tests: Sequence[e.Expr], values: Sequence[e.Expr]) -> bool:
    """Whether each test is that a value is not null."""
    return list(tests) == [e.IsNull(value, negated=True) for value in values]


def left_join_text(join: p.LeftJoin) -> str:
    """The words between the two sides of a left join."""
    match join.kind:
        case p.JoinKind.OUTER:
            return " ".join(["OPTIONAL", *([_relations_text(join.relations)] if join.relations else [])])
        case p.JoinKind.FACT:
            return "WHERE"
        case p.JoinKind.NO_FACT:
            return "WHERE NOT"


def _relations_text(relations: tuple[str, ...]) -> str:
    return relations[0] if len(relations) == 1 else f"{{{', '.join(relations)}}}"


def quantity_text(operand: p.Operand) -> str:
    """How many segments of a key must qualify."""
    if operand.least is None:
        return "ALL"
    if operand.most is not None:
        return f"AT LEAST {operand.least} TO {operand.most}"
    return "SOME" if operand.least == 1 else f"AT LEAST {operand.least}"


def pairing_text(pairing: p.Pairing) -> str:
    """Which events open segments and which close them."""
    if pairing.role is not None:
        return f"opened and closed by {pairing.role.name}"
    return "of every two events" if pairing.number is None else f"opened by odd {pairing.number.name}"


def lookup_text(atom: p.TableAtom, names: Wording) -> str:
    """A look-up with `?` where the row supplies the value."""
    args = ", ".join("?" if arg is None else expr_text(arg, names) for arg in atom.args)
    return f"{names.lookups[atom.number]}({args})"


def clause_text(clause: k.RuleClause) -> str:
    """One clause of a rule, with the values of its head first."""
    atoms = [expr_text(e.InTable(atom.table, atom.args)) for atom in clause.atoms]
    named = [f"{variable.column} = {expr_text(value)}" for variable, value in clause.named]
    body = " AND ".join([*atoms, *named, *map(expr_text, clause.conditions)])
    head = f"({', '.join(map(expr_text, clause.head))})"
    return f"{head} IF {body}" if body else head


def _text(expr: e.Expr, names: Wording) -> tuple[str, int]:
    """The text of an expression and how tightly its outermost operator binds."""

    def inner(item: e.Expr, level: int) -> str:
        text, own = _text(item, names)
        return text if own >= level else f"({text})"

    def joined(items: tuple[e.Expr, ...], word: str, empty: str) -> tuple[str, int]:
        level = _PRECEDENCE[word]
        if not items:
            return empty, _ATOM
        return f" {word} ".join(inner(item, level + 1) for item in items), level

    match expr:
        case e.Literal(value=str(term), type=Type.TERM):
            return term, _ATOM
        case e.Literal(value=value):
            return _literal(value), _ATOM
        case e.SpanLiteral(span=span):
            return span_text(span), _ATOM
        case e.ColumnOf(slot=slot, column=column):
            return names.column(slot, column), _ATOM
        case e.ListColumn(which=which, slot=slot, column=column):
            return f"{which.value}({names.slot(slot)}).{column}", _ATOM
        case e.Aggregate(function=function, slot=slot, column=None):
            return f"{function}({names.slot(slot)})", _ATOM
        case e.Aggregate(function=function, slot=slot, column=column):
            return f"{function}({names.slot(slot)}.{column})", _ATOM
        case e.TimeOf(edge=edge, slot=slot):
            return f"{edge.value}({names.slot(slot)})", _ATOM
        case e.IdOf(slot=slot):
            return f"ID({names.slot(slot)})", _ATOM
        case e.KeyColumn(column=column):
            return column, _ATOM
        case e.Quantity(name=name):
            return name, _ATOM
        case e.FactColumn(atom=k.VARIABLES, column=column):
            return column, _ATOM
        case e.FactColumn(atom=atom, column=column):
            return f"{names.lookups.get(atom, f'#{atom}')}.{column}", _ATOM
        case e.PreviousColumn(column=column):
            return f"PREV({column})", _ATOM
        case e.SinceChange(column=column):
            return f"SINCE_CHANGE({column})", _ATOM
        case e.Negate(item=item):
            return f"-{inner(item, _PRECEDENCE['unary'])}", _PRECEDENCE["unary"]
        case e.Arithmetic(operator=operator, left=left, right=right):
            level = _PRECEDENCE[operator]
            return f"{inner(left, level)} {operator} {inner(right, level + 1)}", level
        case e.FunctionCall(name=name, args=args):
            return f"{name}({', '.join(inner(arg, 0) for arg in args)})", _ATOM
        case e.Chosen(conditions=(*tests, e.TRUE), values=(*values, last)) if _are_present(tests, values):
            return f"coalesce({', '.join(inner(value, 0) for value in (*values, last))})", _ATOM
        case e.Chosen(conditions=(condition, e.TRUE), values=(value, otherwise)):
            return f"if({', '.join(inner(part, 0) for part in (condition, value, otherwise))})", _ATOM
        case e.Chosen(conditions=conditions, values=values):
            pairs = zip(conditions, values, strict=True)
            cases = [f"WHEN {inner(condition, 0)} THEN {inner(value, 0)}" for condition, value in pairs]
            return f"CASE {' '.join(cases)} END", _ATOM
        case e.Compare(
            operator=operator, left=e.FunctionCall(name="term_value") as call, right=e.Literal(value=str(key))
        ):
            level = _PRECEDENCE["compare"]
            return f"{inner(call, level + 1)} {operator} {written_value(key)}", level
        case e.Compare(
            operator=operator, left=e.Literal(value=str(key)), right=e.FunctionCall(name="term_value") as call
        ):
            level = _PRECEDENCE["compare"]
            return f"{written_value(key)} {operator} {inner(call, level + 1)}", level
        case e.Compare(operator=operator, left=left, right=right):
            level = _PRECEDENCE["compare"]
            return f"{inner(left, level + 1)} {operator} {inner(right, level + 1)}", level
        case e.InList(item=item, choices=choices):
            level = _PRECEDENCE["compare"]
            listed = ", ".join(_literal(choice.value) for choice in choices)
            return f"{inner(item, level + 1)} IN ({listed})", level
        case e.IsNull(item=item, negated=negated):
            level = _PRECEDENCE["compare"]
            return f"{inner(item, level + 1)} IS {'NOT ' if negated else ''}NULL", level
        case e.AllOf(items=items):
            return joined(items, "AND", "TRUE")
        case e.AnyOf(items=items):
            return joined(items, "OR", "FALSE")
        case e.Not(item=item):
            return f"NOT {inner(item, _PRECEDENCE['NOT'])}", _PRECEDENCE["NOT"]
        case e.InTable(table=table, args=given, condition=condition, number=number):
            listed = ", ".join("_" if arg is None else inner(arg, 0) for arg in given)
            if condition is None:
                return f"{table}({listed})", _ATOM
            known = Wording(names.slots, {**names.lookups, number: table})
            return f"{table}({listed} WHERE {expr_text(condition, known)})", _ATOM


def _literal(value: int | float | str | bool | None) -> str:
    match value:
        case None:
            return "NULL"
        case bool():
            return "TRUE" if value else "FALSE"
        case str():
            return "'" + value.replace("'", "''") + "'"
        case _:
            return repr(value)


def forecast_text(forecast: p.Forecast) -> str:
    """The kind of a forecast, in words."""
    match forecast.kind:
        case p.ForecastKind.WITHIN:
            return f"within {span_text(forecast.within) if forecast.within is not None else f'{forecast.count} events'}"
        case p.ForecastKind.AROUND:
            return f"around the next one, {forecast.count} events wide"
        case p.ForecastKind.POINT:
            return f"the likeliest of the next {forecast.horizon} events"
        case p.ForecastKind.FIXED:
            return f"the likeliest interval of {forecast.count} in the next {forecast.horizon} events"
        case p.ForecastKind.SHORTEST | p.ForecastKind.ARGMAX:
            limit = "" if forecast.spread is None else f", at most {forecast.spread} wide"
            kind = "shortest" if forecast.kind is p.ForecastKind.SHORTEST else "centered"
            return f"the {kind} interval in the next {forecast.horizon} events{limit}"


@dataclass(frozen=True, slots=True)
class PartTexts:
    """The text of parts of one event's pattern."""

    event: p.EventPlan
    names: Wording

    @classmethod
    def of(cls, event: p.EventPlan) -> PartTexts:
        return cls(event, Wording.of(event))

    def condition(self, condition: e.Expr) -> str:
        return expr_text(condition, self.names)

    def part(self, part: p.Part) -> str:
        match part:
            case p.Leaf():
                return self._leaf(part)
            case p.Sequence(policy=policy, parts=parts):
                word = "SEQ" if policy is p.Policy.ANY else f"SEQ {policy.value}"
                return f"{word}({self._all(parts, ', ')})"
            case p.Conjunction(items=items):
                return self._all(items, " AND ")
            case p.Disjunction(items=items):
                return f"({self._all(items, ' OR ')})"
            case p.Parallel(items=items):
                return self._all(items, " PAR ")
            case p.Related(left=left, relations=relations, right=right):
                return f"{self.part(left)} {_relations_text(relations)} {self.part(right)}"
            case p.Except(other=other, in_order=True):
                return f"COMPLEMENT({self.part(other)})"
            case p.Except(pattern=pattern, other=other):
                return f"{self.part(pattern)} EXCEPT {self.part(other)}"
            case p.LeftJoin(left=left, right=right):
                return f"{self.part(left)} {left_join_text(part)} {self.part(right)}"
            case p.TimePoint(since_zero=since_zero):
                return f"AT {moment_text(since_zero)}"
            case p.Quantified(left=x, relations=relations, right=y, within=within):
                sides = [f"{quantity_text(side)} {self._leaf(side.leaf)}" for side in (x, y)]
                return f" {', '.join(relations)} ".join(sides) + _limit_text(within)
            case p.Sliding(leaf=leaf, last=last, since=since):
                opened = "" if since is None else f" SINCE {self._leaf(since)}"
                return f"WINDOW {self._leaf(leaf)} LAST {window_text(last)}{opened}"
            case p.Repetition(pattern=inner, low=low, high=high, eager=eager, maximal=maximal):
                checks = inner.checks if isinstance(inner, p.Leaf) else ()
                mode = " EAGER" if eager else " MAXIMAL" if maximal else ""
                check = f" CHECK ({' AND '.join(self.condition(one) for one in checks)})" if checks else ""
                return self.part(inner) + repetition_text(low, high) + mode + check
            case p.Narrowed(pattern=inner, within=within, slot=slot):
                limit = _limit_text(within)
                name = None if slot is None else self.names.slots.get(slot)
                return f"({self.part(inner)}{limit})" + (f" {name}" if name else "")
            case p.OtherRun(pattern=inner):
                return f"COMPLEMENT({self.part(inner)})"
            case p.Absent(pattern=inner):
                return f"NOT {self.part(inner)}"
            case p.Deadline(after=after):
                return f"AFTER {span_text(after)}"
            case p.StreamStart():
                return "AT START"

    def short(self, part: p.Part) -> str:
        """A part without its conditions, where it is a single event."""
        inner = part
        while isinstance(inner, p.Repetition):
            inner = inner.pattern
        return self._called(inner) if isinstance(inner, p.Leaf) else self.part(part)

    def _all(self, parts: tuple[p.Part, ...], between: str) -> str:
        return between.join(self.part(part) for part in parts)

    def _leaf(self, leaf: p.Leaf) -> str:
        conditions = [lookup_text(atom, self.names) for atom in leaf.atoms]
        conditions += [self.condition(condition) for condition in leaf.conditions]
        return self._called(leaf) + (f"[{' AND '.join(conditions)}]" if conditions else "")

    def _called(self, leaf: p.Leaf) -> str:
        name = self.event.slots[leaf.slot].name
        return (" | ".join(leaf.sources) or "_") + (f" {name}" if name else "")
