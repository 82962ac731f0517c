"""Groups of background triples as rules: they have no time, so their solutions are facts.

The solutions of a group are those of its disjuncts. All solutions of a disjunct have values for the same variables;
an optional part without a partner, and each group of a UNION, is a disjunct of its own. So no fact has a missing value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import NoReturn, TypeAlias, cast

from inkling.language import syntax as s
from inkling.language.epsparql import terms as t
from inkling.language.epsparql.triple_patterns import variable_name
from inkling.language.epsparql.values import Expressions, Times, all_of, call, constant
from inkling.source import SourceText, Span


@dataclass(frozen=True, slots=True)
class BackgroundTriple:
    """A triple of the background, or a fact of a rule."""

    table: s.Ident
    terms: tuple[t.Term, ...]
    span: Span

    def call(self, values: Mapping[str, s.Expr], source: SourceText) -> s.Call:
        """The condition that there is such a fact."""
        args = []
        for term in self.terms:
            name = variable_name(term)
            args.append(constant(cast("t.Constant", term), source) if name is None else values[name])
        return s.Call(self.table, tuple(args), span=self.span)


Conjunction: TypeAlias = tuple[BackgroundTriple, ...]
"""What is looked up one after the other."""


def names_of(disjuncts: Iterable[Conjunction]) -> tuple[str, ...]:
    """The variables that are bound in some disjunct, in their order."""
    names = (variable_name(term) for disjunct in disjuncts for one in disjunct for term in one.terms)
    return tuple(dict.fromkeys(name for name in names if name is not None))


def joined_disjuncts(left: Sequence[Conjunction], right: Sequence[Conjunction]) -> tuple[Conjunction, ...]:
    """The disjuncts of two groups together: a variable in both has one value."""
    return tuple((*one, *other) for one, other in product(left, right))


@dataclass(slots=True)
class BackgroundRules:
    """Makes the rules of one query for its groups of background triples."""

    source: SourceText
    name: str
    fresh: Callable[[str], s.Ident]
    variable: Callable[[str, Span], s.Ident]  # a variable of the query as one of a rule
    missing: Callable[[Iterable[str], t.Variable], NoReturn]  # reports a variable that no triple binds
    timeless: Callable[[Span], NoReturn]  # reports a condition on time
    rules: list[s.RuleDecl] = field(default_factory=list)
    _n_facts: int = 0

    def filtered(self, disjuncts: Sequence[Conjunction], conditions: Sequence[t.Expr]) -> tuple[Conjunction, ...]:
        """The solutions for which all conditions are true."""
        if not conditions:
            return tuple(disjuncts)
        scope = names_of(disjuncts)
        return self._facts(
            (disjunct, names_of([disjunct]), self._tests(disjunct, scope, conditions)) for disjunct in disjuncts
        )

    def optional(
        self, kept: Sequence[Conjunction], optional: Sequence[Conjunction], conditions: Sequence[t.Expr]
    ) -> tuple[Conjunction, ...]:
        """Compatible pairs for which all conditions are true, and the solutions of the first group without any."""
        found: list[Conjunction] = []
        scope = names_of((*kept, *optional))
        for disjunct in kept:
            names = names_of([disjunct])
            pairs = joined_disjuncts([disjunct], optional)
            if conditions:
                pairs = self._facts((one, names_of([one]), self._tests(one, scope, conditions)) for one in pairs)
            (partnered,) = self._facts((one, names, ()) for one in pairs)
            (lookup,) = partnered
            alone = s.Negation(lookup.call(self._values(names, lookup.span), self.source), span=lookup.span)
            found += [*pairs, *self._facts([(disjunct, names, (alone,))])]
        return tuple(found)

    def selected(
        self, disjuncts: Sequence[Conjunction], items: Sequence[t.Selected], span: Span
    ) -> tuple[Conjunction, ...]:
        """The solutions of a sub-select: some variables, and computed values, which an error leaves unbound."""
        scope = names_of(disjuncts)
        found: list[_Clause] = []
        for disjunct in disjuncts:
            here = self._expressions(disjunct, scope, span)
            bound = names_of([disjunct])
            heads: list[tuple[dict[str, s.Expr], tuple[s.Expr, ...]]] = [({}, ())]
            for one in items:
                value = here.term(one.value)
                name = one.name.name
                if isinstance(one.value, t.Variable):
                    if one.value.name in bound:
                        heads = [({**head, name: value}, tests) for head, tests in heads]
                    continue
                is_error = s.IsNull(value, span=one.span)
                is_value = s.IsNull(value, negated=True, span=one.span)
                heads = [
                    *(({**head, name: value}, (*tests, is_value)) for head, tests in heads),
                    *((head, (*tests, is_error)) for head, tests in heads),
                ]
            found += [_Clause(disjunct, head, tests) for head, tests in heads]
        return self._of_clauses(found)

    def together(self, disjuncts: Sequence[Conjunction]) -> tuple[Conjunction, ...]:
        """The same solutions, with the disjuncts that bind the same variables as one."""
        names = [frozenset(names_of([disjunct])) for disjunct in disjuncts]
        alike = [disjunct for disjunct, own in zip(disjuncts, names, strict=True) if names.count(own) > 1]
        others = [disjunct for disjunct, own in zip(disjuncts, names, strict=True) if names.count(own) == 1]
        return (*others, *self._facts((disjunct, names_of([disjunct]), ()) for disjunct in alike))

    def partners(
        self,
        disjuncts: Sequence[Conjunction],
        given: Mapping[str, s.Expr],
        scope: Sequence[str],
        conditions: Sequence[t.Expr],
    ) -> tuple[s.Expr, ...]:
        """Whether each disjunct has a solution that agrees with the given values and fulfills the conditions."""
        read = {one.name for condition in conditions for one in t.inside(condition) if isinstance(one, t.Variable)}
        found: list[s.Expr] = []
        for disjunct in disjuncts:
            own = names_of([disjunct])
            passed = [name for name in given if name in own or name in read]
            tests = self._tests(disjunct, scope, conditions, passed)
            values = self._values(passed, disjunct[0].span)
            ((lookup,),) = self._of_clauses([_Clause(disjunct, values, tests)])
            found.append(lookup.call(given, self.source))
        return tuple(found)

    def _tests(
        self, disjunct: Conjunction, scope: Sequence[str], conditions: Sequence[t.Expr], given: Sequence[str] = ()
    ) -> tuple[s.Expr, ...]:
        return tuple(self._expressions(disjunct, scope, one.span, given).true(one) for one in conditions)

    def _expressions(
        self, disjunct: Conjunction, scope: Sequence[str], span: Span, given: Sequence[str] = ()
    ) -> Expressions:
        """The expressions about the solutions of a disjunct, in which other variables of the group have no value."""
        none = call("iri", s.Literal(None, span=span), span=span)
        values = {**dict.fromkeys(scope, none), **self._values((*names_of([disjunct]), *given), span)}

        def times() -> Times:
            self.timeless(span)

        return Expressions(self.source, values, times, lambda variable: self.missing(scope, variable))

    def _values(self, names: Iterable[str], span: Span) -> dict[str, s.Expr]:
        return {name: s.Variable(self.variable(name, span), span=span) for name in names}

    def _facts(
        self, clauses: Iterable[tuple[Conjunction, tuple[str, ...], tuple[s.Expr, ...]]]
    ) -> tuple[Conjunction, ...]:
        """The solutions of disjuncts with these variables, and for which these tests are true."""
        return self._of_clauses(
            [_Clause(disjunct, self._values(names, disjunct[0].span), tests) for disjunct, names, tests in clauses]
        )

    def _of_clauses(self, clauses: Sequence[_Clause]) -> tuple[Conjunction, ...]:
        """A rule for each set of variables."""
        found: dict[frozenset[str], Conjunction] = {}
        for one in clauses:
            names = frozenset(one.head)
            span = one.disjunct[0].span
            if names not in found:
                self._n_facts += 1
                table = self.fresh(f"{self.name}_facts{self._n_facts}")
                # a rule has an argument: solutions without variables are the fact of a constant
                terms = tuple(t.Variable(name, span=span) for name in sorted(names)) or (t.Truth(True, span=span),)
                found[names] = (BackgroundTriple(table, terms, span),)
            (lookup,) = found[names]
            here = self._values(names_of([one.disjunct]), span)
            body = all_of([*(part.call(here, self.source) for part in one.disjunct), *one.tests])
            self.rules.append(s.RuleDecl(lookup.call(one.head, self.source), body, span=span))
        return tuple(found.values())


@dataclass(frozen=True, slots=True)
class _Clause:
    """A rule: the values of its variables, in the solutions of a disjunct for which the tests are true."""

    disjunct: Conjunction
    head: Mapping[str, s.Expr]
    tests: tuple[s.Expr, ...]
