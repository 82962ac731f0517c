"""Groups of a query as patterns and events: the algebra of EP-SPARQL in operators of `.ink`.

BGP and Join are AND, SeqJoin is SEQ, EqJoin is EQUALS, Union is an event with several declarations. The outer joins are
`p OPTIONAL q`: OPTIONALSEQ with PRECEDED_BY, where the part before is optional, and EQUALSOPTIONAL with EQUALS.
The algebra is that of Anicic, *Event Processing and Stream Reasoning with ETALIS* (KIT 2011), section 11.4.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from typing import NoReturn, TypeAlias, Unpack, cast

from inkling.errors import ProgramError, Remarks, nearest
from inkling.language import syntax as s
from inkling.language.epsparql import terms as t
from inkling.language.epsparql.background import (
    BackgroundRules,
    BackgroundTriple,
    Conjunction,
    joined_disjuncts,
    names_of,
)
from inkling.language.epsparql.solutions import Solutions, combined, compatible, joined
from inkling.language.epsparql.triple_patterns import BLANK, COLUMNS, TriplePattern, triple_patterns, variable_name
from inkling.language.epsparql.values import Expressions, Times, all_of, call, constant, length, limit_of, same_term
from inkling.language.kit.cursor import Number
from inkling.source import SourceText, Span

_TIMES = ("GETDURATION", "GETSTARTTIME", "GETENDTIME")
_OUTER: Mapping[str, tuple[s.Relation, ...]] = {
    "OPTIONAL": (), "OPTIONALSEQ": ("PRECEDED_BY",), "EQUALSOPTIONAL": ("EQUALS",)
}  # fmt: skip


GRAPH = "g"
"""The column of a stream that has the graphs of its triples."""

Place: TypeAlias = s.Ident | t.Variable | None
"""Where the triples of a group are matched: in a table, in graphs of the stream (the variable), or in all of it."""


@dataclass(slots=True)
class GroupTranslator:
    """Translates the groups of one query; what cannot be a part of its pattern becomes an event of its own."""

    source: SourceText
    name: str
    sources: Callable[[TriplePattern], tuple[s.Ident, ...]]  # the streams and events that may have such a triple
    property: Callable[[t.Iri], s.Expr]  # the test of the predicate of a triple
    graphs: Callable[[t.Variable], tuple[s.Ident, ...]]  # the streams whose triples have a graph
    background: Callable[[t.Iri | None, Span], s.Ident]  # the table of a file
    taken: set[str]
    are_points: Callable[[tuple[s.Ident, ...]], bool]  # whether events of these streams and events are points in time
    is_inline: bool = False  # whether outer joins are parts of one pattern: for queries that read their own triples
    events: list[s.EventDecl] = field(default_factory=list)
    facts: BackgroundRules = field(init=False)
    _n_parts: int = 0
    _n_variables: int = 0
    _limit: s.Duration | None = None  # rows that last longer are in no result: parts need not find them
    _labels: dict[str, Span] = field(default_factory=dict)
    _free_names: dict[str, str] = field(default_factory=dict)  # of variables that tables bind

    def __post_init__(self) -> None:
        self.facts = BackgroundRules(
            self.source, self.name, self.fresh, self._free, self._missing, lambda span: self._no_time(span)
        )

    # groups

    def select(self, form: t.Select) -> tuple[Solutions, tuple[t.Selected, ...]]:
        """The rows of a query or sub-select, and what it shows of them."""
        with self._at_most(self._limit, _seconds(form.within)):
            row = self.group(form.where)
        if row.pattern is None:
            self._no_time(form.where.span)
        row = self._limited(row, form.within)
        items = form.items or tuple(_item(name, form.span) for name in row.shown)
        if any(_reads_times(one.value) for one in items):
            row = self.timed(row)
        return row, items

    def group(self, group: t.Group) -> Solutions:
        row, filters = self._unfiltered(group)
        return self.filtered(row, filters)

    def _limited(self, row: Solutions, within: Number | None) -> Solutions:
        if within is None:
            return row
        duration = _seconds(within)
        assert duration is not None
        if not row.is_outer:
            return row.limited(duration)
        return self.part(row).limited(duration)

    @contextmanager
    def _at_most(self, *limits: s.Duration | None) -> Iterator[None]:
        """Translates what is inside, none of whose rows that last longer than one of the limits is in a result.

        The rows of an operand last no longer than those of the group, with WITHIN or a filter on their duration. Only
        the optional part of an outer join is different: one of its rows that lasts too long still is a partner, so
        the other row is not kept alone. So an optional part is under the limits of its own filters, which say which
        partners count. That of EQUALSOPTIONAL lasts as long as its partner, so it is under all limits.
        """
        outside, self._limit = self._limit, min(filter(None, limits), key=length, default=None)
        yield
        self._limit = outside

    def _unfiltered(self, group: t.Group, place: Place = None) -> tuple[Solutions, list[t.Filter]]:
        """The rows of a group before its filters."""
        filters = [one for one in group.items if isinstance(one, t.Filter)]
        with self._at_most(self._limit, *_limits(filters)):
            return self._before_filters(group, place), filters

    def _before_filters(self, group: t.Group, place: Place) -> Solutions:
        items = [one for one in group.items if not isinstance(one, t.Filter)]
        optional = [idx for idx, one in enumerate(items) if isinstance(one, t.Part) and one.op == "OPTIONALSEQ"]
        limit = self._limit
        row: Solutions | None = None
        own: list[t.Filter] = []  # filters of the only group so far: those of the optional part of OPTIONALSEQ
        idx = 0
        while idx < len(items):
            item = items[idx]
            self._limit = None if optional and idx < optional[-1] else limit  # the rows so far may be an optional part
            idx += 1
            if isinstance(item, t.Block):
                follows = items[idx] if idx < len(items) else None
                if isinstance(follows, t.Part) and follows.op == "UNION":
                    self.fail(
                        "INK0173",
                        "`UNION` after triples",
                        follows.span,
                        notes=("it joins groups",),
                        helps=("put the triples in braces: `{ … } UNION { … }`",),
                    )
                row, own = self._juxtaposed(row, own, self._triples(item, place), item.span), []
                continue
            more = []
            while item.op in ("", "UNION") and idx < len(items):
                following = items[idx]
                if not (isinstance(following, t.Part) and following.op == "UNION"):
                    break
                more.append(following)
                idx += 1
            if row is not None and item.op == "UNION":
                row, own = self._union([self.filtered(row, own), *self._wholes((item, *more), place)], group.span), []
            elif more:
                union = self._union(self._wholes((item, *more), place), item.span)
                row, own = self._juxtaposed(row, own, union, item.span), []
            elif row is None:
                row, own = self._operand(item, place)
            elif item.op in _OUTER:
                row, own = self._optional(row, own, item, place), []
            else:
                row, own = self._connected(row, own, item, place), []
        assert row is not None
        return self.filtered(row, own)

    def _wholes(self, parts: Sequence[t.Part], place: Place) -> list[Solutions]:
        return [self.filtered(*self._operand(part, place)) for part in parts]

    def _operand(self, part: t.Part, place: Place) -> tuple[Solutions, list[t.Filter]]:
        """The rows of a part before its own filters."""
        if part.graph is not None:
            graph = part.graph
            place = graph if isinstance(graph, t.Variable) else self.background(graph, graph.span)
        elif part.op == "AND":
            place = self.background(None, part.span)
        if isinstance(part.inner, t.Group):
            return self._unfiltered(part.inner, place)
        if isinstance(place, t.Variable):
            self.fail("INK0173", "a sub-select in `GRAPH` is not supported yet", part.inner.span)
        if place is not None:
            return self._selected_facts(part.inner, place), []
        return self._sub_select(part.inner), []

    def _selected_facts(self, form: t.Select, place: Place) -> Solutions:
        if form.within is not None:
            self._no_time(form.within.span)
        row = self.filtered(*self._unfiltered(form.where, place))
        shown = [name for name in names_of(row.disjuncts) if not name.startswith(BLANK)]
        items = form.items or tuple(_item(name, form.span) for name in shown)
        return Solutions(form.span, disjuncts=self.facts.selected(row.disjuncts, items, form.span))

    def _sub_select(self, form: t.Select) -> Solutions:
        row, items = self.select(form)
        expressions = self.expressions(row)
        values = {one.name.name: expressions.term(one.value) for one in items}
        computed = {one.name.name for one in items if not isinstance(one.value, t.Variable)}
        hidden = [value for name, value in row.values.items() if name not in values]
        is_looked_up = any(isinstance(value, s.Variable) for value in hidden)
        if (self.is_inline or (not computed and not row.is_outer)) and not is_looked_up:
            return replace(row, values=values, maybe=_renamed(items, row) | computed)
        return self.part(replace(row, values=values, maybe=_renamed(items, row) | computed))

    def _juxtaposed(self, row: Solutions | None, own: list[t.Filter], right: Solutions, span: Span) -> Solutions:
        return right if row is None else self._join(self.filtered(row, own), right, "", span)

    def _connected(self, row: Solutions, own: list[t.Filter], part: t.Part, place: Place) -> Solutions:
        right, filters = self._operand(part, place)
        return self._join(self.filtered(row, own), self.filtered(right, filters), part.op, part.span)

    def _join(self, left: Solutions, right: Solutions, op: t.Connective, span: Span) -> Solutions:
        if left.pattern is None or right.pattern is None:
            if op not in ("", "AND"):
                self._no_time(span, f"`{op}` relates times, which background triples do not have")
            if left.pattern is None and right.pattern is None:
                return replace(left, disjuncts=joined_disjuncts(left.disjuncts, right.disjuncts))
            row, other = (left, right) if right.pattern is None else (right, left)
            return self._looked_up(row, other)
        return joined(self._inner(left), self._inner(right), op, span)

    def _inner(self, row: Solutions) -> Solutions:
        """The rows as a part of a join."""
        return self.part(row) if row.is_outer else row

    def _optional(self, row: Solutions, own: list[t.Filter], part: t.Part, place: Place) -> Solutions:
        """OPTIONAL, OPTIONALSEQ and EQUALSOPTIONAL, whose optional part is the first for OPTIONALSEQ, else the second.

        The filters of the optional part say which of its rows count, so they see the variables of both.
        """
        with self._at_most(None if part.op == "OPTIONAL" else self._limit):
            right, filters = self._operand(part, place)
        if part.op == "OPTIONALSEQ":
            kept, optional, conditions = self.filtered(right, filters), row, own
        else:
            kept, optional, conditions = self.filtered(row, own), right, filters
        if optional.pattern is None and part.op == "OPTIONAL":
            return self._optional_facts(
                kept, optional, [one for filter in conditions for one in _conjuncts(filter.condition)]
            )
        if kept.pattern is None or optional.pattern is None:
            self._no_time(part.span, f"`{part.op}` relates times, which background triples do not have")
        limit = self._shared_limit(kept, [one for filter in conditions for one in _conjuncts(filter.condition)])
        kept = self._single(kept)
        with self._at_most(self._limit if part.op == "EQUALSOPTIONAL" else None, *_limits(conditions)):
            optional = self._single(optional)
        assert kept.pattern is not None
        assert optional.pattern is not None
        if limit is None and part.op == "EQUALSOPTIONAL":
            limit = self._limit  # a row lasts as long as the one that is kept
        span = part.span
        relations = _OUTER[part.op]
        values, maybe = combined(kept, optional, span, is_outer=True)
        order = [*row.values, *(name for name in right.values if name not in row.values)]
        pattern = s.LeftJoin(kept.pattern, relations, optional.pattern, span=span)
        here = Expressions(self.source, values, lambda: _hull(kept, optional, part.op), self._reporter(values))
        of_optional = _an_attribute(optional)
        tests = list(compatible(kept, optional, span))
        for filter in conditions:
            for conjunct in _conjuncts(filter.condition):
                test = here.true(conjunct)
                # a condition on the rows that are kept alone would filter them
                is_about = any(_reads(test, one) for one in _events_of(optional))
                tests.append(test if is_about else s.AnyOf((test, s.IsNull(of_optional, span=span)), span=span))
        shown = {name: values[name] for name in order if name in values}
        return Solutions(
            span,
            pattern,
            shown,
            maybe,
            tuple(tests),
            within=limit,
            first=kept.first,
            last=kept.last,
            is_outer=True,
            is_timed=part.op == "EQUALSOPTIONAL",
        )

    def _shared_limit(self, kept: Solutions, conditions: Sequence[t.Expr]) -> s.Duration | None:
        """The limit of an outer join in its conditions, if no row that is kept lasts longer; None without any."""
        limits = sorted(filter(None, map(limit_of, conditions)), key=length)
        if not limits:
            return None
        is_point = isinstance(kept.pattern, s.Leaf) and self.are_points(kept.pattern.types)
        is_short = kept.within is not None and length(kept.within) <= length(limits[0])
        return limits[0] if is_point or is_short else None

    def _single(self, row: Solutions) -> Solutions:
        """The rows as one event, or in parentheses with a name."""
        if row.is_leaf:
            return row
        if not self.is_inline or row.is_outer:
            return self.part(row)
        name = self.variable("m", row.span)
        nested = s.Nested(row.body(), name, span=row.span)
        return replace(row, pattern=nested, tests=(), within=None, first=(name,), last=(name,))

    def _union(self, rows: Sequence[Solutions], span: Span) -> Solutions:
        """One event with a declaration for each group; a variable that a group does not have is null there."""
        if all(row.pattern is None for row in rows):
            return Solutions(span, disjuncts=tuple(disjunct for row in rows for disjunct in row.disjuncts))
        for row in rows:
            if row.pattern is None:
                self._no_time(row.span)
        names = list(dict.fromkeys(name for row in rows for name in row.shown))
        null = call("iri", s.Literal(None, span=span), span=span)
        parts = [replace(row, values={name: row.values.get(name, null) for name in names}) for row in rows]
        maybe = frozenset(name for name in names for row in rows if name not in row.values or name in row.maybe)
        return replace(self._event(parts, span), maybe=maybe)

    def part(self, row: Solutions) -> Solutions:
        """The same rows as an event of its own."""
        return replace(self._event([row], row.span), maybe=row.maybe)

    def _event(self, rows: Sequence[Solutions], span: Span) -> Solutions:
        self._n_parts += 1
        if self._limit is not None:
            limit = self._limit
            rows = [row if row.is_outer or isinstance(row.pattern, s.Leaf) else row.limited(limit) for row in rows]
        name = self.fresh(f"{self.name}_part{self._n_parts}")
        columns = {one: column_of(one) for one in rows[0].shown}
        for row in rows:
            head = tuple(
                s.Item(row.values[one], s.Ident(columns[one], span=row.span), span=row.span) for one in rows[0].shown
            )
            self.events.append(s.EventDecl(name, head or None, row.body(), per="INTERVAL", hidden=True, span=row.span))
        var = self.variable("t", span)
        values = {one: s.Attribute(var, s.Ident(column, span=span), span=span) for one, column in columns.items()}
        return Solutions(span, s.Leaf((name,), var, span=span), values, first=(var,), last=(var,))

    # triples

    def _triples(self, block: t.Block, place: Place) -> Solutions:
        labels: set[str] = set()
        row: Solutions | None = None
        for one in triple_patterns(block):
            for term in one.terms:
                if isinstance(term, t.Blank):
                    labels.add(term.label)
                    self._once(term, block)
            if isinstance(place, s.Ident):
                leaf = Solutions(one.span, disjuncts=((BackgroundTriple(place, one.terms, one.span),),))
            else:
                leaf = self._leaf(one, place)
            row = leaf if row is None else self._join(row, leaf, "", row.span.to(one.span))
        if row is None:
            self.fail("INK0173", "a group without triples", block.span)
        return row

    def _once(self, term: t.Blank, block: t.Block) -> None:
        seen = self._labels.setdefault(term.label, block.span)
        if seen != block.span:
            self.fail(
                "INK0173",
                f"the blank node `_:{term.label}` is in two groups",
                term.span,
                notes=("a blank node belongs to one group",),
                helps=(f"write a variable: `?{term.label}`",),
            )

    def _leaf(self, one: TriplePattern, graph: t.Variable | None) -> Solutions:
        var = self.variable("t", one.span)
        tests: list[s.Expr] = []
        values: dict[str, s.Expr] = {}
        columns: dict[str, str] = {}
        written: list[tuple[str, t.Term]] = [*zip(COLUMNS, one.terms, strict=True)]
        for column, term in written if graph is None else [*written, (GRAPH, graph)]:
            place = s.Ident(column, span=term.span)
            here = s.Variable(place, span=term.span)
            name = variable_name(term)
            if name is None and column == "p" and isinstance(term, t.Iri) and graph is None:
                tests.append(self.property(term))
            elif name is None:
                tests.append(same_term(here, constant(cast("t.Constant", term), self.source), term.span))
            elif name in columns:
                tests.append(same_term(s.Variable(s.Ident(columns[name], span=term.span)), here, term.span))
            else:
                columns[name] = column
                values[name] = s.Attribute(var, place, span=term.span)
        if graph is not None:  # a triple of the default graph has none
            tests.append(s.IsNull(s.Variable(s.Ident(GRAPH, span=graph.span)), negated=True, span=graph.span))
        types = self.sources(one) if graph is None else self.graphs(graph)
        leaf = s.Leaf(types, var, all_of(tests), span=one.span)
        return Solutions(one.span, leaf, values, first=(var,), last=(var,))

    def _looked_up(self, row: Solutions, background: Solutions) -> Solutions:
        """The rows with the values that background triples bind."""
        disjuncts = self.facts.together(background.disjuncts)
        if len(disjuncts) == 1 and not row.is_outer:
            return self._looked_up_in(row, disjuncts[0])
        row = self._one_event(row)
        return self._union([self._looked_up_in(row, disjunct) for disjunct in disjuncts], background.span)

    def _one_event(self, row: Solutions) -> Solutions:
        return row if row.is_leaf else self.part(row)

    def _optional_facts(self, kept: Solutions, background: Solutions, conditions: Sequence[t.Expr]) -> Solutions:
        """OPTIONAL with background triples: the rows with what they bind, and the rows for which there is nothing.

        Whether a variable without a value in some rows has one decides what it must agree with.
        """
        span = background.span
        if kept.pattern is None:
            return Solutions(span, disjuncts=self.facts.optional(kept.disjuncts, background.disjuncts, conditions))
        kept = self._one_event(kept)
        found = self.filtered(self._looked_up(kept, background), [t.Filter(one, span=one.span) for one in conditions])
        names = names_of(background.disjuncts)
        scope = tuple(dict.fromkeys((*kept.values, *names)))
        read = {one.name for test in conditions for one in t.inside(test) if isinstance(one, t.Variable)}
        unsure = [name for name in kept.values if name in kept.maybe and (name in names or name in read)]
        alone = []
        for are_bound in product((True, False), repeat=len(unsure)):
            missing = [name for name, is_bound in zip(unsure, are_bound, strict=True) if not is_bound]
            given = {name: value for name, value in kept.values.items() if name not in missing}
            tests: list[s.Expr] = [
                s.IsNull(kept.values[name], negated=is_bound, span=span)
                for name, is_bound in zip(unsure, are_bound, strict=True)
            ]
            for partner in self.facts.partners(background.disjuncts, given, scope, conditions):
                tests.append(s.Negation(partner, span=span))
            alone.append(replace(kept, tests=(*kept.tests, *tests)))
        return self._union([found, *alone], span)

    def _looked_up_in(self, row: Solutions, disjunct: Conjunction) -> Solutions:
        values, maybe, tests = dict(row.values), set(row.maybe), [*row.tests]
        for one in disjunct:
            args: list[s.Expr] = []
            for term in one.terms:
                name = variable_name(term)
                if name is None:
                    args.append(constant(cast("t.Constant", term), self.source))
                elif name in values and name not in maybe:
                    args.append(values[name])
                else:
                    found = s.Variable(self._free(name, term.span), span=term.span)
                    if name in maybe:
                        missing = s.IsNull(values[name], span=term.span)
                        tests.append(s.AnyOf((missing, same_term(values[name], found, term.span)), span=term.span))
                        maybe.remove(name)
                    values[name] = found
                    args.append(found)
            tests.append(s.Call(one.table, tuple(args), span=one.span))
        return replace(row, values=values, maybe=frozenset(maybe), tests=tuple(tests))

    def _free(self, name: str, span: Span) -> s.Ident:
        """A variable that a table binds, under the name it has in the query."""
        if name not in self._free_names:
            text = name.removeprefix(BLANK)
            if re.fullmatch(r"[tm]?[0-9]+", text):
                text = f"v{text}"
            while text in self.taken or text in self._free_names.values():
                text += "_"
            self._free_names[name] = text
        return s.Ident(self._free_names[name], span=span)

    # filters

    def filtered(self, row: Solutions, filters: Sequence[t.Filter]) -> Solutions:
        """The rows for which the filters are true."""
        if not filters:
            return row
        conditions = [part for one in filters for part in _conjuncts(one.condition)]
        if row.pattern is None:
            return replace(row, disjuncts=self.facts.filtered(row.disjuncts, conditions))
        if any(map(_reads_times, conditions)):
            row = self.timed(row)
        here = self.expressions(row)
        tests: list[s.Expr] = []
        for one in conditions:
            limit = limit_of(one)
            if limit is not None and not row.is_outer:
                row = row.limited(limit)
                if isinstance(one, t.Comparison) and one.op in ("<=", ">="):
                    continue
            tests.append(here.true(one))
        if row.is_outer:
            return replace(row, having=(*row.having, *tests))
        return replace(row, tests=(*row.tests, *tests))

    def expressions(self, row: Solutions) -> Expressions:
        return Expressions(self.source, row.values, lambda: row.times, self._reporter(row.values))

    def timed(self, row: Solutions) -> Solutions:
        """The same rows, with one event or name that has their times."""
        if row.pattern is None:
            self._no_time(row.span)
        if row.is_outer:
            return row if row.is_timed and self.is_inline else self.part(row)
        return row.named(self.variable("m", row.span))

    def _reporter(self, values: Mapping[str, s.Expr]) -> Callable[[t.Variable], NoReturn]:
        return lambda variable: self._missing(values, variable)

    def _missing(self, names: Iterable[str], variable: t.Variable) -> NoReturn:
        known = [name for name in names if not name.startswith(BLANK)]
        meant = nearest(variable.name, known, n=1)
        listed = ", ".join(f"`?{one}`" for one in known)
        self.fail(
            "INK0171",
            f"unbound variable `?{variable.name}`",
            variable.span,
            label="no triple of this group binds it",
            notes=(f"the variables are {listed}",) if known and not meant else (),
            helps=tuple(f"did you mean `?{one}`?" for one in meant),
        )

    # names

    def variable(self, initial: str, span: Span) -> s.Ident:
        self._n_variables += 1
        return s.Ident(f"{initial}{self._n_variables}", span=span)

    def fresh(self, name: str) -> s.Ident:
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return s.Ident(name)

    def _no_time(self, span: Span, message: str = "background triples alone have no time") -> NoReturn:
        self.fail("INK0173", message, span, helps=("join them with a group of events: `{ … } AND { … }`",))

    def fail(self, code: str, message: str, span: Span, *, label: str = "", **remarks: Unpack[Remarks]) -> NoReturn:
        raise ProgramError.of(code, message, span=span, source=self.source, label=label, **remarks)


_RESERVED = frozenset(["event", "start", "end", "detected_at", "probability", "method", "error", "op", "lineage"])


def column_of(variable: str) -> str:
    """The column of a variable in results, which have some columns of their own."""
    return f"{variable}_" if variable.lower() in _RESERVED else variable


def _item(name: str, span: Span) -> t.Selected:
    variable = t.Variable(name, span=span)
    return t.Selected(variable, variable, span=span)


def _renamed(items: tuple[t.Selected, ...], row: Solutions) -> frozenset[str]:
    return frozenset(
        one.name.name for one in items if isinstance(one.value, t.Variable) and one.value.name in row.maybe
    )


def _conjuncts(condition: t.Expr) -> Iterator[t.Expr]:
    if isinstance(condition, t.Joined) and condition.op == "&&":
        for item in condition.items:
            yield from _conjuncts(item)
    else:
        yield condition


def _limits(filters: Iterable[t.Filter]) -> Iterator[s.Duration]:
    """How long rows may last for which these filters are true."""
    return filter(None, (limit_of(part) for one in filters for part in _conjuncts(one.condition)))


def _seconds(within: Number | None) -> s.Duration | None:
    return None if within is None else s.Duration(_exact(within), "SECONDS", span=within.span)


def _reads_times(node: t.Expr) -> bool:
    return any(isinstance(one, t.Called) and one.name in _TIMES for one in t.inside(node))


def _reads(test: s.Expr, event: s.Ident) -> bool:
    return any(isinstance(one, s.Attribute | s.TimeOf) and one.var.text == event.text for one in s.walk(test))


def _events_of(row: Solutions) -> Iterator[s.Ident]:
    """The variables of the events that make up rows."""
    assert row.pattern is not None
    for part in s.parts_of(row.pattern):
        if isinstance(part, s.Leaf | s.Nested) and part.var is not None:
            yield part.var


def _an_attribute(row: Solutions) -> s.Expr:
    """A column that every event of a row has, or its time."""
    (var,) = row.first
    certain = [value for name, value in row.values.items() if name not in row.maybe]
    return certain[0] if certain else s.TimeOf("END", var, span=row.span)


def _hull(kept: Solutions, optional: Solutions, op: t.Connective) -> Times:
    """When a row of an outer join starts and ends."""
    own, other = kept.times, optional.times
    if op == "EQUALSOPTIONAL":
        return own
    if op == "OPTIONALSEQ":
        return Times(other.start, own.end)
    earlier = s.Compare("<", other.start, own.start, span=kept.span)
    return Times(call("if", earlier, other.start, own.start, span=kept.span), own.end)


def _exact(number: Number) -> int | Fraction:
    exact = Fraction(number.written.removeprefix("-"))
    return exact.numerator if exact.denominator == 1 else exact
