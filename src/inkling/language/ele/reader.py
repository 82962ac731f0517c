"""Reads a rule file statement by statement, and builds the nodes of each by the grammar."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, cast

from lark import Token, v_args
from lark.tree import Meta

from inkling.errors import ProgramError
from inkling.language.ele import terms as t
from inkling.language.ele.errors import explain
from inkling.language.ele.terms import RuleFile, Statement
from inkling.language.ele.tokens import SCANNER, readings, relation
from inkling.language.kit.cursor import Number, Text
from inkling.language.kit.lalr import (
    Children,
    ErrorSite,
    LalrAutomaton,
    NodeBuilder,
    node,
    node_of_nodes,
    node_without_words,
    read,
    span_of,
)
from inkling.language.kit.reading import Chunk, read_statements
from inkling.language.kit.scanning import RawToken
from inkling.language.syntax import Ident
from inkling.source import SourceText, Span

DEEPEST_STACK = 600


AUTOMATON = LalrAutomaton("inkling.language.ele")


def read_rules(source: SourceText) -> RuleFile:
    """The statements of a file; raises `ProgramError` with one diagnostic for each wrong statement."""
    scanned = SCANNER.scan(source)
    chunks = list(_chunks(scanned.tokens, len(source.text)))
    return RuleFile(*read_statements(source, scanned, chunks, lambda chunk: _read_statement(source, chunk)))


def _chunks(tokens: Sequence[RawToken], length: int) -> Iterator[Chunk]:
    begin = 0
    for idx, token in enumerate(tokens):
        if token.kind == "STOP":
            if idx > begin:
                yield Chunk.of(tokens[begin:idx], token, token.span.end)
            begin = idx + 1
    if begin < len(tokens):
        yield Chunk.of(tokens[begin:], None, length)


def _read_statement(source: SourceText, chunk: Chunk) -> Statement:
    reading = read(AUTOMATON, chunk.tokens, readings, DEEPEST_STACK)
    if reading.too_deep:
        span = chunk.tokens[reading.stopped_at - 1].span
        raise ProgramError.of("INK0119", "nested too deeply", span=span, source=source)
    if not reading.complete:
        raise ProgramError(explain(ErrorSite(source, reading, chunk.after, reading.stopped_at)))
    if chunk.after is None:
        raise ProgramError.of(
            "INK0134",
            "a statement ends with `.`",
            span=chunk.tokens[-1].span,
            source=source,
            label="expected `.` after this",
        )
    statement: Statement = TermBuilder(source).built(AUTOMATON.build(reading.terminals, chunk.tokens))
    return replace(statement, span=Span(chunk.tokens[0].span.start, chunk.end))


@v_args(meta=True)
class TermBuilder(NodeBuilder):
    def name(self, meta: Meta, children: Children) -> Ident:
        span = span_of(meta)
        text = ":".join(str(part) for part in (children[0], *children[2:]))
        return Ident(text, quoted=len(children) == 1 and self.source.text[span.start] == "'", span=span)

    def variable(self, meta: Meta, children: Children) -> t.Variable:
        return t.Variable(str(children[0]), span=span_of(meta))

    def constant(self, meta: Meta, children: Children) -> Number:
        return self._number(children[0])

    def text(self, meta: Meta, children: Children) -> Text:
        return Text(str(children[0]), span=span_of(meta))

    def atom(self, meta: Meta, children: Children) -> t.Atom:
        name, *args = children
        return t.Atom(name, tuple(args), span=span_of(meta))

    minus = node_without_words(t.Minus)

    def arithmetic(self, meta: Meta, children: Children) -> t.Arithmetic:
        left, op, right = children
        return t.Arithmetic(cast(Any, str(op).lower()), left, right, span=span_of(meta))

    def compare(self, meta: Meta, children: Children) -> t.Comparison:
        left, op, right = children
        return t.Comparison(str(op).lower(), left, right, span=span_of(meta))

    def between(self, meta: Meta, children: Children) -> t.Goals:
        low, first, value, second, high = children
        pairs = ((low, first, value), (value, second, high))
        return t.Goals(
            tuple(t.Comparison(str(op), one, other, span=one.span.to(other.span)) for one, op, other in pairs),
            span=span_of(meta),
        )

    negation = node_without_words(t.Negated)
    conjunct = node_of_nodes(t.Goals)
    listed = node_of_nodes(t.Listed)

    def cut(self, meta: Meta, children: Children) -> t.Cut:
        return t.Cut(span=span_of(meta))

    def conditional(self, meta: Meta, children: Children) -> t.Branch:
        condition, _, goals = children
        return t.Branch(goals.goals, condition.goals, span=span_of(meta))

    def either(self, meta: Meta, children: Children) -> t.Choice:
        return t.Choice(tuple(_branch(part) for part in children[::2]), span=span_of(meta))

    def goals(self, meta: Meta, children: Children) -> t.Goals:
        return replace(_as_goals(children[0]), span=span_of(meta))

    def span(self, meta: Meta, children: Children) -> t.Quantity:
        number, unit = children
        name = Ident(str(unit), span=span_of(unit))
        return t.Quantity(self._number(number), name, span=span_of(meta))

    def quantity(self, meta: Meta, children: Children) -> t.Quantity:
        number, *unit = children
        return t.Quantity(self._number(number), unit[0] if unit else None, span=span_of(meta))

    def point(self, meta: Meta, children: Children) -> t.Point:
        return t.Point(self._number(children[0]), span=span_of(meta))

    def joined(self, meta: Meta, children: Children) -> t.Joined | t.Absence:
        left, op, right = children
        whole = left
        while isinstance(whole, t.Group):
            whole = whole.pattern
        if relation(op) == "CNOT" and isinstance(whole, t.Joined) and whole.op == "SEQ":
            return t.Absence(right, whole.left, whole.right, span=span_of(meta))
        return t.Joined(relation(op), left, right, span=span_of(meta))

    def times(self, meta: Meta, children: Children) -> t.Times:
        pattern, word, *n = children
        count = self.integer(n[0]) if n else None
        if count is not None and count < 1:
            raise self.error("INK0116", f"a repetition count is at least 1, found `{n[0]}`", span_of(n[0]))
        return t.Times(pattern, count, 1 if word == "+" else 0, span=span_of(meta))

    group = node(t.Group)
    limited = node(t.Limited)
    inner_rule = node_without_words(t.InnerRule)
    absence = node_without_words(t.Absence)

    def condition(self, meta: Meta, children: Children) -> t.Condition:
        pattern, word, (goals, braces) = children
        return t.Condition(pattern, cast(t.ConditionWord, word.type), goals, braces, span=span_of(meta))

    def conditions(self, meta: Meta, children: Children) -> tuple[tuple[t.Term, ...], bool]:
        goals = _as_goals(children[0]).goals
        if len(goals) == 1 and isinstance(goals[0], t.Goals):
            goals = goals[0].goals
        return goals, self.source.text[span_of(meta).start] == "{"

    column = node(t.Column)

    def setting(self, meta: Meta, children: Children) -> t.Setting:
        name, *parts = children
        return t.Setting(name, tuple(parts), span=span_of(meta))

    def property(self, meta: Meta, children: Children) -> t.Property:
        """`window(5)` and `property(window, 5)`"""
        *word, name, value = children
        if word and word[0].text != "property":
            message = f"expected `property({name.text}, …)` or `{name.text}(…)`"
            raise self.error("INK0133", message, word[0].span)
        return t.Property(name, value, span=span_of(meta))

    def properties(self, meta: Meta, children: Children) -> tuple[t.Property, ...]:
        return tuple(one for one in children if isinstance(one, t.Property))

    def label(self, meta: Meta, children: Children) -> t.Label:
        name, *properties = children
        return t.Label(name, properties[0] if properties else (), span=span_of(meta))

    def rule(self, meta: Meta, children: Children) -> t.Rule:
        label = children.pop(0) if isinstance(children[0], t.Label) else None
        head, *doing, _, pattern = children
        actions = doing[1][0] if doing else ()
        return t.Rule(head, pattern, label, actions, span=span_of(meta))

    def clause(self, meta: Meta, children: Children) -> t.Clause:
        head, _, goals = children
        return t.Clause(head, _as_goals(goals).goals, span=span_of(meta))

    fact = node(t.Clause)
    directive = node_without_words(t.Directive)

    def _number(self, token: Token) -> Number:
        self.integer(token) if token.type == "INTEGER" else self.real(token)
        return Number(str(token), span=span_of(token))


def _as_goals(part: t.Goals | t.Branch | t.Choice) -> t.Goals:
    if isinstance(part, t.Branch):
        part = t.Choice((part,), span=part.span)
    return part if isinstance(part, t.Goals) else t.Goals((part,), span=part.span)


def _branch(part: t.Goals | t.Branch) -> t.Branch:
    return t.Branch(part.goals, span=part.span) if isinstance(part, t.Goals) else part
