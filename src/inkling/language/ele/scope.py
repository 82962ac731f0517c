"""The variables of one rule: which expression each is bound to, and terms and goals over them as expressions.

Goals of WHERE become one condition; static atoms and equations bind variables that are free until then.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Unpack

from inkling.errors import ProgramError, Remarks
from inkling.language import syntax as s
from inkling.language.ele import terms as t
from inkling.language.ele.directives import duration
from inkling.language.ele.functions import RENAMED
from inkling.language.ele.predicates import Kinds, Predicates, column_slot, key_of, unused, variable_slot
from inkling.language.ele.terms import ASSIGNMENTS, flat_goals, negated, variables
from inkling.language.kit.cursor import Number, Text
from inkling.source import SourceText, Span

_COMPARISONS: dict[str, s.ComparisonOperator] = {
    "<": "<",
    ">": ">",
    "=<": "<=",
    ">=": ">=",
    "=": "=",
    "==": "=",
    "=:=": "=",
    "is": "=",
    "\\=": "<>",
    "\\==": "<>",
    "=\\=": "<>",
}


TIMES = ("T1", "T2")


@dataclass(frozen=True, slots=True)
class Meaning:
    """What is known of a whole file when its statements are translated."""

    source: SourceText
    predicates: Predicates
    kinds: Kinds


@dataclass(slots=True)
class RuleScope:
    """Values of variables so far; a part that may be missing has a scope of its own."""

    meaning: Meaning
    statement: int
    counts: Counter[str]  # how often each variable stands in the rule
    bindable: frozenset[str]  # variables that every match of the rule gives a value
    columns: frozenset[str] = frozenset()  # of the events in the rule
    values: dict[str, s.Expr] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)
    later: frozenset[str] = frozenset()  # inside NOT: variables that some event outside it binds
    equations: Mapping[str, t.Term] = field(default_factory=dict)  # values that conditions give variables
    promised: dict[str, str] = field(default_factory=dict)  # names inside NOT of values that are bound outside it

    def inner(self, later: frozenset[str] = frozenset()) -> RuleScope:
        """A scope that sees these values and keeps its own to itself."""
        return replace(self, values=dict(self.values), later=self.later | later)

    def fresh(self, name: str) -> str:
        """A name for an event, like this one, that no other event or value of the rule has."""
        name = unused(name, self.taken)
        self.taken.add(name)
        return name

    def fresh_value(self, name: str) -> str:
        """A name for the value of a variable; between brackets a column would come first."""
        if name in self.promised:
            return self.promised[name]
        return self.fresh(unused(name, self.taken | self.columns))

    def bound_later(self, variable: t.Variable) -> s.Expr:
        """The value of a variable of NOT that something outside the NOT binds, under a name that it will have."""
        if variable.name not in self.promised:
            self.promised[variable.name] = self.fresh_value(variable.name)
        return s.Variable(s.Ident(self.promised[variable.name], span=variable.span), span=variable.span)

    def is_used_outside(self, name: str, inside: int) -> bool:
        return self.counts[name] > inside

    def error(
        self, code: str, message: str, span: Span, *, label: str = "", **remarks: Unpack[Remarks]
    ) -> ProgramError:
        return ProgramError.of(code, message, span=span, source=self.meaning.source, label=label, **remarks)

    def is_double(self, name: str) -> bool:
        slot = variable_slot(self.statement, name)
        return self.meaning.kinds.type_of(slot) == "DOUBLE"

    def value(self, term: t.Term, *, double: bool = False) -> s.Expr:
        """A term as an expression; `double` writes whole numbers so that they are no integers."""

        def inner(part: t.Term) -> s.Expr:
            if isinstance(part, t.Atom) and part.name.text == "pi" and not (part.args or part.name.quoted):
                return s.Literal(math.pi, span=part.span)
            return self.value(part, double=double and not any(variables(term)))

        match term:
            case t.Variable(name=name, span=span):
                if name not in self.values:
                    raise self._unsafe(term)
                return _moved(self.values[name], span)
            case Number(size=value, span=span):
                return s.Literal(float(value) if double else value, span=span)
            case Text(value=text, span=span):
                return s.Literal(text, span=span)
            case t.Quantity():
                return duration(term, self.meaning.source)
            case t.Atom(name=name, args=(), span=span):
                return s.Literal(name.text, span=span)
            case t.Atom(name=name, args=args, span=span):
                called = RENAMED.get(name.text, name.text)
                return s.Call(s.Ident(called, span=name.span), tuple(self.value(arg) for arg in args), span=span)
            case t.Minus(operand=operand, span=span):
                return s.Unary("-", inner(operand), span=span)
            case t.Arithmetic(op="**", left=left, right=right, span=span):
                return s.Call(s.Ident("pow", span=span), (inner(left), inner(right)), span=span)
            case t.Arithmetic(op=op, left=left, right=right, span=span):
                written: s.ArithmeticOperator = "%" if op == "mod" else op  # type: ignore[assignment]
                return s.Binary(written, inner(left), inner(right), span=span)
            case t.Goals(goals=(only,)):
                return inner(only)
            case t.Listed(span=span):
                raise self.error("INK0136", "a list is no value here", span)
            case (
                t.Goals(span=span)
                | t.Comparison(span=span)
                | t.Negated(span=span)
                | t.Choice(span=span)
                | t.Cut(span=span)
            ):
                raise self.error("INK0101", "expected a value, found a condition", span)

    def atom(self, atom: t.Atom, variable: Callable[[t.Variable], s.Expr]) -> s.Call:
        """A static atom; `variable` says what an argument without a value stands for."""
        key = key_of(atom)
        args: list[s.Expr] = []
        for number, arg in enumerate(atom.args):
            if isinstance(arg, t.Variable) and arg.name not in self.values:
                args.append(variable(arg))
            else:
                args.append(self.value(arg, double=self.meaning.kinds.type_of(column_slot(key, number)) == "DOUBLE"))
        name = s.Ident(self.meaning.predicates.knowledge_name(key), quoted=atom.name.quoted, span=atom.name.span)
        return s.Call(name, tuple(args), span=atom.span)

    def reads_events(self, goals: Iterable[t.Term]) -> bool:
        """Whether a static atom has the name of an event; it is no part of the match, so a limit on that skips it."""
        return any(key_of(atom) in self.meaning.predicates.facts for atom in t.static_atoms(goals))

    def compare(self, goal: t.Comparison) -> s.Compare:
        return s.Compare(_COMPARISONS[goal.op], self.value(goal.left), self.value(goal.right), span=goal.span)

    def equated(self, variable: t.Variable) -> s.Expr | None:
        """The value that an equation gives a variable, if all variables in it have values."""
        term = self.equations.get(variable.name)
        return None if term is None or self.missing(term) else _moved(self.value(term), variable.span)

    def missing(self, term: t.Term) -> list[t.Variable]:
        return [variable for variable in variables(term) if variable.name not in self.values]

    def _unsafe(self, variable: t.Variable) -> ProgramError:
        if variable.is_anything:
            return self.error("INK0132", "`_` matches anything, so it has no value", variable.span)
        return self.error(
            "INK0132",
            f"`{variable.name}` is not bound",
            variable.span,
            notes=("a variable is bound by an event of the pattern, a static predicate or an equation",),
            helps=("`T1` and `T2`, the times of a match, are known after CHECK",) if variable.name in TIMES else (),
        )


def _moved(expr: s.Expr, span: Span) -> s.Expr:
    """An expression as if it stood at another place."""
    match expr:
        case s.Attribute(var=var, column=column):
            return s.Attribute(replace(var, span=span), replace(column, span=span), span=span)
        case s.Variable(name=name):
            return s.Variable(replace(name, span=span), span=span)
        case _:
            return replace(expr, span=span)


def condition(goals: Sequence[t.Term], scope: RuleScope) -> s.Expr | None:
    """All goals joined; None when nothing is left to be tested."""
    waiting = list(enumerate(flat_goals(goals)))
    done: dict[int, s.Expr | None] = {}
    while waiting:
        ready = next(((place, goal) for place, goal in waiting if _is_ready(goal, scope)), None)
        place, goal = ready or _least_ready(waiting, scope)
        waiting.remove((place, goal))
        done[place] = _goal(goal, scope)
    return joined([done[place] for place in sorted(done)])


def equations(goals: Sequence[t.Term]) -> dict[str, t.Term]:
    """The variables that goals equate with a term."""
    found: dict[str, t.Term] = {}
    for goal in flat_goals(goals):
        if isinstance(goal, t.Comparison) and goal.op in ASSIGNMENTS:
            for side, other in ((goal.left, goal.right), (goal.right, goal.left)):
                if isinstance(side, t.Variable) and not side.is_anything:
                    found.setdefault(side.name, other)
    return found


def joined(conditions: Sequence[s.Expr | None]) -> s.Expr | None:
    some = [one for one in conditions if one is not None]
    flat = [part for one in some for part in (one.items if isinstance(one, s.AllOf) else (one,))]
    if len(flat) < 2:
        return flat[0] if flat else None
    return s.AllOf(tuple(flat), span=flat[0].span.to(flat[-1].span))


def test(goal: t.Term, scope: RuleScope) -> s.Expr:
    """A goal in which every variable has a value, or stands for some value in a static atom."""
    match goal:
        case t.Comparison():
            return scope.compare(goal)
        case t.Negated(goal=inner, span=span):
            return s.Negation(test(inner, scope), span=span)
        case t.Goals(goals=goals):
            tests = joined([test(one, scope) for one in flat_goals(goals)])
            assert tests is not None
            return tests
        case t.Atom():
            return scope.atom(goal, lambda variable: s.Variable(s.Ident(variable.name, span=variable.span)))
        case t.Cut():
            raise scope.error("INK0136", "`!` stands in clauses, `p(X) :- q(X), !.`, not in patterns", goal.span)
        case t.Choice(branches=branches, span=span):
            tried = tuple(_branches(branches, scope))
            return s.AnyOf(tried, span=span) if len(tried) > 1 else tried[0]
        case _:
            raise scope.error("INK0212", "expected a condition, found a value", goal.span)


def _branches(branches: Sequence[t.Branch], scope: RuleScope) -> Iterator[s.Expr]:
    """Each branch with its condition, which no branch before it satisfies."""
    before: list[t.Term] = []
    for branch in branches:
        tests = joined([test(goal, scope) for goal in flat_goals((*before, *(branch.condition or ()), *branch.goals))])
        assert tests is not None
        yield tests
        if branch.condition is not None:
            before.append(negated(branch.condition))


def _is_ready(goal: t.Term, scope: RuleScope) -> bool:
    match goal:
        case t.Atom(args=args):
            return not any(scope.missing(arg) for arg in args if not isinstance(arg, t.Variable))
        case t.Comparison() if (free := _free_side(goal, scope)) is not None:
            return not scope.missing(free[1])
        case t.Negated():
            return False
        case _:
            return not scope.missing(goal)


def _least_ready(waiting: Sequence[tuple[int, t.Term]], scope: RuleScope) -> tuple[int, t.Term]:
    """The next goal when none is ready: an unsafe one, and negations last."""
    return next(((place, goal) for place, goal in waiting if not isinstance(goal, t.Negated)), waiting[0])


def _free_side(goal: t.Comparison, scope: RuleScope) -> tuple[t.Variable, t.Term] | None:
    """The variable that an equation gives a value, and the value."""
    if goal.op not in ASSIGNMENTS:
        return None
    for side, other in ((goal.left, goal.right), (goal.right, goal.left)):
        if isinstance(side, t.Variable) and not side.is_anything and side.name not in scope.values:
            return side, other
    return None


def _goal(goal: t.Term, scope: RuleScope) -> s.Expr | None:
    match goal:
        case t.Comparison() if (free := _free_side(goal, scope)) is not None:
            return _assign(*free, goal, scope)
        case t.Atom():
            return scope.atom(goal, lambda variable: _supplied(variable, scope))
        case _:
            return test(goal, scope)


def _assign(variable: t.Variable, value: t.Term, goal: t.Comparison, scope: RuleScope) -> s.Expr | None:
    bound = scope.value(value, double=scope.is_double(variable.name))
    if not scope.is_used_outside(variable.name, 1):
        return None  # a name for a value that nothing uses
    name = s.Variable(s.Ident(scope.fresh_value(variable.name), span=variable.span), span=variable.span)
    scope.values[variable.name] = name
    return s.Compare("=", name, bound, span=goal.span)


def _supplied(variable: t.Variable, scope: RuleScope) -> s.Expr:
    if variable.is_anything or not scope.is_used_outside(variable.name, 1):
        return s.Variable(s.Ident("_", span=variable.span), span=variable.span)
    name = s.Variable(s.Ident(scope.fresh_value(variable.name), span=variable.span), span=variable.span)
    scope.values[variable.name] = name
    return name
