"""The solutions of a group as a pattern: which events make them up, and what its variables are there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from inkling.language import syntax as s
from inkling.language.epsparql import terms as t
from inkling.language.epsparql.background import Conjunction
from inkling.language.epsparql.triple_patterns import BLANK
from inkling.language.epsparql.values import Times, all_of, length, same_term
from inkling.source import Span


@dataclass(frozen=True, slots=True)
class Solutions:
    """A pattern, of which `values` are the variables; without a pattern, disjuncts to look background triples up.

    `maybe` are the variables without a value in some rows. Conditions of an outer join are in `tests`, those on its
    rows in `having`.
    """

    span: Span
    pattern: s.Pattern | None = None
    values: Mapping[str, s.Expr] = field(default_factory=dict)
    maybe: frozenset[str] = frozenset()
    tests: tuple[s.Expr, ...] = ()
    having: tuple[s.Expr, ...] = ()
    within: s.Duration | None = None
    first: tuple[s.Ident, ...] = ()  # the events that may start first
    last: tuple[s.Ident, ...] = ()  # the events that may end last
    disjuncts: tuple[Conjunction, ...] = ()
    is_outer: bool = False
    is_timed: bool = True  # whether `first` and `last` have the times of the rows, those of an outer join too

    @property
    def is_leaf(self) -> bool:
        """Whether it is one event, tested in its brackets alone."""
        return isinstance(self.pattern, s.Leaf) and not self.tests and self.within is None

    @property
    def shown(self) -> dict[str, s.Expr]:
        """The variables that results can show."""
        return {name: value for name, value in self.values.items() if not name.startswith(BLANK)}

    @property
    def times(self) -> Times:
        (first,), (last,) = self.first, self.last
        return Times(s.TimeOf("START", first, span=self.span), s.TimeOf("END", last, span=self.span))

    def body(self) -> s.Body:
        assert self.pattern is not None
        return s.Body(self.pattern, all_of(self.tests), self.within, all_of(self.having), span=self.span)

    def limited(self, limit: s.Duration) -> Solutions:
        """The rows that last at most so long."""
        if self.within is not None and length(self.within) <= length(limit):
            return self
        return replace(self, within=limit)

    def as_operand(self) -> Solutions:
        """The same rows, to be a part of a larger pattern: with parentheses around a pattern with a time limit."""
        if self.within is None:
            return self
        assert self.pattern is not None
        nested = s.Nested(s.Body(self.pattern, within=self.within, span=self.span), span=self.span)
        return replace(self, pattern=nested, within=None)

    def named(self, name: s.Ident) -> Solutions:
        """The same rows with a name for the whole pattern, which has their times."""
        if len(self.first) == len(self.last) == 1:
            return self
        assert self.pattern is not None
        nested = s.Nested(s.Body(self.pattern, within=self.within, span=self.span), name, span=self.span)
        return replace(self, pattern=nested, within=None, first=(name,), last=(name,))


def compatible(left: Solutions, right: Solutions, span: Span) -> tuple[s.Expr, ...]:
    """Conditions that shared variables agree; a variable without a value agrees with any."""
    found: list[s.Expr] = []
    for name, one in left.values.items():
        other = right.values.get(name)
        if other is None:
            continue
        same = same_term(one, other, span)
        missing = [s.IsNull(value, span=span) for value, row in ((one, left), (other, right)) if name in row.maybe]
        found.append(s.AnyOf((*missing, same), span=span) if missing else same)
    return tuple(found)


def combined(
    left: Solutions, right: Solutions, span: Span, *, is_outer: bool = False
) -> tuple[dict[str, s.Expr], frozenset[str]]:
    """The variables of two compatible rows together; in an outer join the right one can be missing."""
    values: dict[str, s.Expr] = dict(left.values)
    for name, value in right.values.items():
        one = left.values.get(name)
        if one is None or (name in left.maybe and name not in right.maybe and not is_outer):
            values[name] = value
        elif name in left.maybe:
            values[name] = s.Call(s.Ident("coalesce", span=span), (one, value), span=span)
    unbound = {
        name
        for name in values
        if (name not in left.values or name in left.maybe)
        and (is_outer or name not in right.values or name in right.maybe)
    }
    return values, frozenset(unbound)


def joined(left: Solutions, right: Solutions, op: t.Connective, span: Span) -> Solutions:
    """All compatible pairs of rows, one after the other for SEQ, at the same times for EQUALS."""
    left, right = left.as_operand(), right.as_operand()
    assert left.pattern is not None
    assert right.pattern is not None
    values, maybe = combined(left, right, span)
    first, last = (*left.first, *right.first), (*left.last, *right.last)
    match op:
        case "SEQ":
            parts = (*_parts(left.pattern), *_parts(right.pattern))
            pattern: s.Pattern = s.Seq("ANY", parts, span=span)
            first, last = left.first, right.last
        case "EQUALS":
            pattern = s.Allen(left.pattern, ("EQUALS",), right.pattern, span=span)
            first, last = left.first, left.last
        case _:
            items = [one.items if isinstance(one, s.And) else (one,) for one in (left.pattern, right.pattern)]
            pattern = s.And((*items[0], *items[1]), span=span)
    return Solutions(
        span,
        pattern,
        values,
        maybe,
        (*left.tests, *right.tests, *compatible(left, right, span)),
        first=first,
        last=last,
    )


def _parts(pattern: s.Pattern) -> tuple[s.Component, ...]:
    return pattern.components if isinstance(pattern, s.Seq) else (pattern,)
