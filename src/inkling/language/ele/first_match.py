"""Clauses with `!`: each applies only where no earlier clause of its predicate does.

A cut keeps the first solution of the goals before it. That is defined where these goals only test, or look up facts
that stand in the file; solutions of other goals are in no order.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from inkling.errors import Diagnostic, ProgramError
from inkling.language.ele import terms as t
from inkling.language.ele.predicates import Key, key_of, unused
from inkling.language.ele.terms import bound_by_goals, flat_goals, names_of, negated, variables
from inkling.language.kit.cursor import Number, Text
from inkling.source import SourceText

MAX_FACTS = 64
"""The facts that a clause with a cut may be written out for."""

Values = Mapping[str, t.Term]
AnyTerm = TypeVar("AnyTerm", bound=t.Term)


def without_cuts(statements: Sequence[t.Statement], source: SourceText) -> tuple[list[t.Statement], list[Diagnostic]]:
    """The same statements, in which earlier clauses are excluded by their conditions."""
    clauses = [one for one in statements if isinstance(one, t.Clause)]
    cut = {key_of(one.head) for one in clauses if any(isinstance(goal, t.Cut) for goal in flat_goals(one.goals))}
    if not cut:
        return list(statements), []
    problems: list[Diagnostic] = []
    made: list[t.Statement] = []
    resolver = _Resolver(source, clauses, _outputs(statements))
    for statement in statements:
        if isinstance(statement, t.Clause) and key_of(statement.head) in cut:
            try:
                made += [replace(one, comments=statement.comments) for one in resolver.resolved(statement)]
            except ProgramError as error:
                problems.extend(error.diagnostics)
        else:
            made.append(statement)
    return made, problems


def _outputs(statements: Sequence[t.Statement]) -> dict[Key, set[int]]:
    """The arguments of predicates that some use of them gives a value: variables that nothing else binds."""
    found: dict[Key, set[int]] = {}
    for statement in statements:
        match statement:
            case t.Rule(pattern=pattern):
                known = names_of(v for atom in t.atoms(pattern) for v in variables(atom))
                goals = tuple(t.every_goal(pattern))
            case t.Clause(head=head, goals=goals):
                known = names_of(variables(head))
            case _:
                continue
        for atom in t.static_atoms(goals):
            for place, arg in enumerate(atom.args):
                if isinstance(arg, t.Variable) and arg.name not in known:
                    found.setdefault(key_of(atom), set()).add(place)
    return found


@dataclass(frozen=True, slots=True)
class _Guarded:
    """A clause as its head, the goals before its cut and those after it; `is_cut` says whether there is one."""

    clause: t.Clause
    guard: tuple[t.Term, ...]
    rest: tuple[t.Term, ...]
    is_cut: bool


@dataclass(frozen=True, slots=True)
class _Resolver:
    source: SourceText
    clauses: Sequence[t.Clause]
    outputs: Mapping[Key, set[int]]
    earlier: dict[Key, list[_Guarded]] = field(default_factory=dict)

    def resolved(self, clause: t.Clause) -> Iterator[t.Clause]:
        before = self.earlier.setdefault(key_of(clause.head), [])
        for one in self._unfolded(self._guarded(clause)):
            excluded = [self._excluded(other, one) for other in before]
            before += [one] if one.is_cut else []
            if all(goals != () for goals in excluded):
                goals = (*one.guard, *(negated(goals) for goals in excluded if goals is not None), *one.rest)
                yield self._given_back(replace(one.clause, goals=goals))

    def _given_back(self, clause: t.Clause) -> t.Clause:
        """The clause with an equation for each argument that gives a caller one of its values back."""
        out, inputs = self.outputs.get(key_of(clause.head), set()), self._inputs(clause)
        args, goals = list(clause.head.args), list(clause.goals)
        taken = names_of(v for term in (*args, *goals) for v in variables(term))
        for place, arg in enumerate(args):
            if place in out and isinstance(arg, t.Variable) and arg.name in inputs:
                args[place] = t.Variable(unused(f"{arg.name}{place + 1}", taken), span=arg.span)
                goals.append(t.Comparison("=", args[place], arg, span=arg.span))
        return replace(clause, head=replace(clause.head, args=tuple(args)), goals=tuple(goals))

    def _guarded(self, clause: t.Clause) -> _Guarded:
        taken = names_of(v for term in (clause.head, *clause.goals) for v in variables(term))
        args = (
            t.Variable(unused(f"Any{place}", taken), span=arg.span)
            if isinstance(arg, t.Variable) and arg.is_anything
            else arg
            for place, arg in enumerate(clause.head.args, 1)
        )
        clause = replace(clause, head=replace(clause.head, args=tuple(args)))
        goals = tuple(flat_goals(clause.goals))
        cuts = [place for place, goal in enumerate(goals) if isinstance(goal, t.Cut)]
        if not cuts:
            return _Guarded(clause, (), goals, False)
        without = tuple(goal for goal in goals[: cuts[-1]] if not isinstance(goal, t.Cut))
        return _Guarded(clause, without, goals[cuts[-1] + 1 :], True)

    def _unfolded(self, one: _Guarded) -> Iterator[_Guarded]:
        """The clause once for each fact that its guard looks up, in the order of the facts."""
        given = self._inputs(one.clause)
        binding = next((goal for goal in one.guard if isinstance(goal, t.Atom) and self._binds(goal, one, given)), None)
        if not one.is_cut or binding is None:
            yield one
            return
        facts = [fact for fact in self.clauses if key_of(fact.head) == key_of(binding)]
        if not facts or len(facts) > MAX_FACTS or any(fact.goals for fact in facts):
            raise ProgramError.of(
                "INK0136",
                "`!` keeps the first of several solutions, which are in no order",
                span=binding.span,
                source=self.source,
                notes=(f"the order is known for at most {MAX_FACTS} facts in the file",),
                helps=("leave out `!`: every solution counts",),
            )
        for fact in facts:
            values = _unified(binding.args, fact.head.args)
            if values is not None:
                goals = tuple(substituted(goal, values) for goal in one.guard if goal is not binding)
                clause = replace(one.clause, head=substituted(one.clause.head, values))
                rest = tuple(substituted(goal, values) for goal in one.rest)
                yield from self._unfolded(_Guarded(clause, goals, rest, True))

    def _inputs(self, clause: t.Clause) -> set[str]:
        """The variables of a head that its callers give values."""
        out = self.outputs.get(key_of(clause.head), set())
        return names_of(v for place, arg in enumerate(clause.head.args) if place not in out for v in variables(arg))

    def _binds(self, goal: t.Atom, one: _Guarded, given: set[str]) -> bool:
        """Whether the solutions of a goal differ in what the rest of the clause reads."""
        new = bound_by_goals((goal,)) - given
        others = [other for other in (*one.guard, *one.rest) if other is not goal]
        return bool(new & names_of(v for part in (one.clause.head, *others) for v in variables(part)))

    def _excluded(self, earlier: _Guarded, later: _Guarded) -> tuple[t.Term, ...] | None:
        """The goals under which an earlier clause applies to the arguments of a later one; None if it never does."""
        out = self.outputs.get(key_of(earlier.clause.head), set())
        own = {v.name: f"{v.name}_" for v in variables(earlier.clause.head)}
        own |= {v.name: f"{v.name}_" for goal in earlier.guard for v in variables(goal)}
        values: dict[str, t.Term] = {}
        equations: list[t.Term] = []
        pairs = zip(earlier.clause.head.args, later.clause.head.args, strict=True)
        for place, (first, second) in enumerate(pairs):
            if place in out:
                continue
            if isinstance(first, t.Variable) and first.name not in values:
                values[first.name] = second
            else:
                first = values[first.name] if isinstance(first, t.Variable) else first
                if _differ(first, second):
                    return None
                if first != second:
                    equations.append(t.Comparison("=", second, first, span=second.span))
        renamed = {name: t.Variable(new) for name, new in own.items() if name not in values}
        goals = tuple(substituted(goal, {**renamed, **values}) for goal in earlier.guard)
        constant = [_constant_truth(goal) for goal in goals]
        if False in constant:
            return None
        return (*equations, *(goal for goal, truth in zip(goals, constant, strict=True) if truth is None))


def _constant_truth(goal: t.Term) -> bool | None:
    """Whether an equation of constants holds; None for other goals."""
    match goal:
        case t.Comparison(op=op, left=left, right=right) if op in t.ASSIGNMENTS and _is_constant(left, right):
            return not _differ(left, right)
        case _:
            return None


def _is_constant(*some: t.Term) -> bool:
    return all(isinstance(one, Number | Text) or (isinstance(one, t.Atom) and not one.args) for one in some)


def _differ(left: t.Term, right: t.Term) -> bool:
    """Whether two terms are different constants."""
    return _is_constant(left, right) and _value(left) != _value(right)


def _value(constant: t.Term) -> object:
    match constant:
        case Number(size=size):
            return size
        case Text(value=text):
            return text
        case t.Atom(name=name):
            return name.text
        case _:
            raise AssertionError(constant)


def _unified(args: Sequence[t.Term], fact: Sequence[t.Term]) -> dict[str, t.Term] | None:
    """The values of variables for which arguments are those of a fact."""
    values: dict[str, t.Term] = {}
    for arg, constant in zip(args, fact, strict=True):
        if isinstance(arg, t.Variable) and not arg.is_anything:
            if _differ(values.setdefault(arg.name, constant), constant):
                return None
        elif _differ(arg, constant):
            return None
    return values


def substituted(term: AnyTerm, values: Values) -> AnyTerm:
    """A term with other terms in place of its variables."""
    return _substituted(term, values)  # type: ignore[return-value]


def _substituted(term: t.Term, values: Values) -> t.Term:
    def inner(part: t.Term) -> t.Term:
        return _substituted(part, values)

    match term:
        case t.Variable(name=name):
            return values.get(name, term)
        case t.Atom(args=args):
            return replace(term, args=tuple(map(inner, args)))
        case t.Minus(operand=operand):
            return replace(term, operand=inner(operand))
        case t.Arithmetic(left=left, right=right) | t.Comparison(left=left, right=right):
            return replace(term, left=inner(left), right=inner(right))
        case t.Negated(goal=goal):
            return replace(term, goal=inner(goal))
        case t.Goals(goals=goals):
            return replace(term, goals=tuple(map(inner, goals)))
        case t.Listed(items=items):
            return replace(term, items=tuple(map(inner, items)))
        case t.Choice(branches=branches):
            return replace(
                term,
                branches=tuple(
                    replace(
                        branch,
                        goals=tuple(map(inner, branch.goals)),
                        condition=None if branch.condition is None else tuple(map(inner, branch.condition)),
                    )
                    for branch in branches
                ),
            )
        case _:
            return term
