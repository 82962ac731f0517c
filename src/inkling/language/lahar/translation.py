"""Translates a query file into a program: streams, tables, and an event for each query.

`;` becomes `SEQ NEXT`; a condition on a goal selects candidates, a condition around a query becomes `HAVING`:

    coffee(p) : At(p, 'office') ; At(p, 'coffee');
    EVENT coffee(e1.person AS p) AS
      PATTERN SEQ NEXT(At e1[room = 'office'], At e2[person = e1.person AND room = 'coffee']) PER END
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from inkling.errors import Diagnostic, ProgramError
from inkling.language import syntax as s
from inkling.language.lahar import checks
from inkling.language.lahar import terms as t
from inkling.source import SourceText, Span


def translate(file: t.QueryFile, source: SourceText) -> s.Program:
    """The program that queries stand for; raises `ProgramError` with every error found."""
    known = checks.declared(file)
    problems: list[Diagnostic] = [*checks.declaration_errors(file, source)]
    for one in file.statements:
        if isinstance(one, t.NamedQuery):
            problems += checks.query_errors(one, known, source)
    if problems:
        raise ProgramError(problems)
    statements = tuple(_statement(one, known) for one in file.statements)
    return s.Program(statements, file.comments, span=Span(0, len(source.text)))


def _statement(node: t.Statement, known: checks.DeclaredNames) -> s.Statement:
    match node:
        case t.Stream():
            return _stream(node)
        case t.Relation():
            return _table(node)
        case t.NamedQuery():
            return _event(node, known)


def _stream(stream: t.Stream) -> s.StreamDecl:
    time = stream.time_column
    is_markov = stream.kind == "markov"
    return s.StreamDecl(
        stream.name,
        (s.ColumnDecl(time, s.Ident("BIGINT", span=time.span)), *map(_column_decl, stream.columns)),
        key=tuple(one.name for one in stream.key),
        time=s.TimePoint(time, span=time.span),
        probability=stream.probability_column,
        given=tuple(s.Ident(checks.previous(one.name.text), span=one.name.span) for one in stream.values if is_markov),
        span=stream.span,
        comments=stream.comments,
    )


def _table(relation: t.Relation) -> s.TableDecl:
    path = relation.path
    return s.TableDecl(
        relation.name,
        tuple(map(_column_decl, relation.columns)),
        path.value if path else f"{relation.name.text}.csv",
        path_span=path.span if path else relation.name.span,
        span=relation.span,
        comments=relation.comments,
    )


def _column_decl(column: t.Column) -> s.ColumnDecl:
    return s.ColumnDecl(column.name, column.type or s.Ident("STRING", span=column.name.span), span=column.span)


def _event(asked: t.NamedQuery, known: checks.DeclaredNames) -> s.EventDecl:
    """One answer for each end, or only one; for each value of the variables in the head, or for anyone."""
    translator = QueryTranslator(known.streams)
    body = translator.body(asked.query)
    return s.EventDecl(
        asked.name,
        tuple(s.Item(translator.value_of(name), name, span=name.span) for name in asked.head),
        body,
        per="VALUES" if asked.ever else "END",
        span=asked.span,
        comments=asked.comments,
    )


Value: TypeAlias = Callable[[s.Ident], s.Expr]


@dataclass(frozen=True, slots=True)
class VariableBinding:
    """What a variable is bound to: a column of a part; of its last event, if the part is repeated."""

    part: str
    column: str
    is_repeated: bool

    def at(self, span: Span) -> s.Expr:
        part, column = s.Ident(self.part, span=span), s.Ident(self.column, span=span)
        return (
            s.FirstOrLast("LAST", part, column, span=span) if self.is_repeated else s.Attribute(part, column, span=span)
        )


@dataclass(slots=True)
class QueryTranslator:
    """Translates the pattern of a query from left to right; its parts are named `e1`, `e2`, …"""

    streams: Mapping[str, t.Stream]
    n_parts: int = 0
    bound: dict[str, VariableBinding] = field(default_factory=dict)

    def value_of(self, name: s.Ident) -> s.Expr:
        return self.bound[name.text].at(name.span)

    def body(self, query: t.Query) -> s.Body:
        match query:
            case t.Selected(condition=condition, query=inner) if t.goal_of(query) is None:
                body = self.body(inner)
                having = [*([body.having] if body.having else []), *self._conjuncts(condition, self.value_of)]
                return replace(body, having=_all_of(having, query.span), span=query.span)
            case t.Sequence(parts=parts):
                components = [one for part in parts for one in self._components(part)]
                return s.Body(s.Seq("NEXT", tuple(components), span=query.span), span=query.span)
            case t.Plus():
                repeated = self._repeated(query)
                return s.Body(s.Seq("NEXT", (repeated,), span=query.span), span=query.span)
            case _:
                return s.Body(self._leaf(query, None), span=query.span)

    def _components(self, query: t.Query) -> tuple[s.Component, ...]:
        if isinstance(query, t.Plus):
            return (self._repeated(query),)
        if t.goal_of(query) is not None:
            return (self._leaf(query, None),)
        body = self.body(query)
        if body.having is not None:
            return (s.Nested(body, span=query.span),)
        assert isinstance(body.pattern, s.Seq)
        return body.pattern.components

    def _repeated(self, plus: t.Plus) -> s.Pattern:
        part = f"e{self.n_parts + 1}"
        repeated = s.Repeat(self._leaf(plus.query, frozenset(name.text for name in plus.kept)), 1, span=plus.span)
        goal = t.goal_of(plus.query)
        assert goal is not None
        own = {text: VariableBinding(part, column, is_repeated=False) for text, column in self._own(goal).items()}
        breaks = self._conjuncts(plus.condition, lambda name: own[name.text].at(name.span))
        condition = _all_of(breaks, plus.condition.span)
        return s.Check(repeated, condition, span=plus.span) if condition else repeated

    def _leaf(self, query: t.Query, kept: frozenset[str] | None) -> s.Leaf:
        """One goal with the conditions around it; `kept` are the variables that a repetition holds on to."""
        goal = t.goal_of(query)
        assert goal is not None
        self.n_parts += 1
        part = f"e{self.n_parts}"
        own = self._own(goal)
        conditions = self._unified(goal, part, kept)
        while isinstance(query, t.Selected):
            conditions += self._conjuncts(query.condition, lambda name: _column(own[name.text], name.span))
            query = query.query
        for text, column in own.items():
            if kept is None or text in kept:
                self.bound.setdefault(text, VariableBinding(part, column, is_repeated=kept is not None))
        return s.Leaf((goal.type,), s.Ident(part, span=goal.span), _all_of(conditions, goal.span), span=goal.span)

    def _own(self, goal: t.Goal) -> dict[str, str]:
        """The variables of a goal with the columns where they stand first."""
        own: dict[str, str] = {}
        for column, term in zip(self.streams[goal.type.text].columns, goal.terms, strict=True):
            if isinstance(term, s.Ident):
                own.setdefault(term.text, column.name.text)
        return own

    def _unified(self, goal: t.Goal, part: str, kept: frozenset[str] | None) -> list[s.Expr]:
        """What the terms of a goal ask of its columns."""
        seen: dict[str, str] = {}
        conditions: list[s.Expr] = []
        for one, term in zip(self.streams[goal.type.text].columns, goal.terms, strict=True):
            column = one.name.text
            match term:
                case t.Anything():
                    continue
                case s.Ident(text=text) if text in seen:
                    value = _column(seen[text], term.span)
                case s.Ident(text=text):
                    seen[text] = column
                    if text in self.bound:
                        value = self.bound[text].at(term.span)
                    elif kept is not None and text in kept:
                        value = VariableBinding(part, column, is_repeated=True).at(term.span)
                    else:
                        continue
                case _:
                    value = term.literal
            conditions.append(s.Compare("=", _column(column, term.span), value, span=term.span))
        return conditions

    def _conjuncts(self, condition: t.Condition, value: Value) -> list[s.Expr]:
        match condition:
            case t.Truth():
                return []
            case t.Joined(op="and", items=items):
                return [one for item in items for one in self._conjuncts(item, value)]
            case _:
                return [_expression(condition, value)]


def _expression(node: t.Condition, value: Value) -> s.Expr:
    match node:
        case t.Truth():
            return s.Literal(True, span=node.span)
        case t.Comparison(op=op, left=left, right=right):
            written: s.ComparisonOperator = "<>" if op == "!=" else op
            return s.Compare(written, _term(left, value), _term(right, value), span=node.span)
        case t.Atom(relation=relation, terms=terms):
            return s.Call(relation, tuple(_term(term, value) for term in terms), span=node.span)
        case t.Negated(item=item):
            return s.Negation(_expression(item, value), span=node.span)
        case t.Joined(op=op, items=items):
            parts = tuple(_expression(item, value) for item in items)
            return s.AllOf(parts, span=node.span) if op == "and" else s.AnyOf(parts, span=node.span)


def _term(term: t.Term, value: Value) -> s.Expr:
    match term:
        case s.Ident():
            return value(term)
        case t.Anything():
            return s.Variable(s.Ident("_", span=term.span), span=term.span)
        case _:
            return term.literal


def _column(name: str, span: Span) -> s.Expr:
    return s.Variable(s.Ident(name, span=span), span=span)


def _all_of(conditions: list[s.Expr], span: Span) -> s.Expr | None:
    if len(conditions) < 2:
        return conditions[0] if conditions else None
    return s.AllOf(tuple(conditions), span=span)
