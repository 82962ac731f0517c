"""Parsing one statement by a grammar file: the LALR automaton, where it stopped, and the nodes built from its tree.

The automaton is asked terminal by terminal, so that a word can be a keyword where the grammar allows the keyword and a
name elsewhere, and so that a message can say what was expected.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import Any, TypeAlias, Unpack

from lark import Lark, Token, Transformer, Tree
from lark.exceptions import VisitError
from lark.parsers.lalr_analysis import Shift
from lark.parsers.lalr_parser_state import ParseConf
from lark.tree import Meta

from inkling.caches import writable_cache
from inkling.errors import Diagnostic, ProgramError, Remarks
from inkling.language.kit.scanning import CLOSING, RawToken, open_brackets
from inkling.source import SourceText, Span

END = "$END"

Children: TypeAlias = list[Any]
Rule: TypeAlias = Callable[[Any, Meta, Children], Any]
"""A method of a builder, which has the name of the grammar rule."""


def terminals(names: str) -> frozenset[str]:
    """A set of terminals from their names between spaces."""
    return frozenset(names.split())


@dataclass(frozen=True)
class LalrAutomaton:
    """The LALR automaton of the file `grammar.lark` of a package; it reads one statement."""

    package: str

    @cached_property
    def _grammar(self) -> Lark:
        text = files(self.package).joinpath("grammar.lark").read_text(encoding="utf-8")
        folder = writable_cache()
        name = f"grammar-{hashlib.sha256(text.encode()).hexdigest()[:16]}.table"
        return Lark(
            text,
            parser="lalr",
            lexer="basic",
            start="statement",
            propagate_positions=True,
            maybe_placeholders=False,
            cache=False if folder is None else str(folder / name),  # making the table takes ten times as long
        )

    @cached_property
    def table(self) -> ParseConf[int]:
        table: ParseConf[int] = self._grammar.parse_interactive().parser_state.parse_conf
        return table

    def initial(self) -> ParserStack:
        return ParserStack(self, (self.table.start_state,))

    def build(self, terminals: Sequence[str], raw: Sequence[RawToken]) -> Tree[Token]:
        """The tree of terminals that `ParserStack` has accepted to the end."""
        parser = self._grammar.parse_interactive()
        for terminal, token in zip(terminals, raw, strict=True):
            parser.feed_token(Token(terminal, token.value, token.span.start, end_pos=token.span.end))
        tree: Tree[Token] = parser.feed_eof()  # type: ignore[no-untyped-call]
        return tree


@dataclass(frozen=True, slots=True)
class ParserStack:
    """The stack of an automaton after some terminals."""

    automaton: LalrAutomaton
    stack: tuple[int, ...]

    def after(self, terminal: str) -> ParserStack | None:
        """The stack after one more terminal, or None when it may not come next."""
        parser = self.automaton.table
        table: dict[int, dict[str, tuple[Any, Any]]] = parser.states
        stack = self.stack
        while True:
            action = table[stack[-1]].get(terminal)
            if action is None:
                return None
            kind, argument = action
            if kind is Shift:
                return ParserStack(self.automaton, (*stack, argument))
            n_popped = len(argument.expansion)
            if n_popped:
                stack = stack[:-n_popped]
            target = table[stack[-1]][argument.origin.name][1]
            stack = (*stack, target)
            if terminal == END and target == parser.end_state:
                return ParserStack(self.automaton, stack)

    def after_all(self, terminals: Sequence[str]) -> ParserStack | None:
        stack: ParserStack | None = self
        for terminal in terminals:
            if stack is None:
                return None
            stack = stack.after(terminal)
        return stack

    def accepted(self) -> frozenset[str]:
        """Every terminal that may come next, `$END` for the end of the statement."""
        row = self.automaton.table.states[self.stack[-1]]
        return frozenset(t for t in row if t.isupper() and self.after(t) is not None)


PUNCTUATION = {
    "(": "LPAR",
    ")": "RPAR",
    "[": "LSQB",
    "]": "RSQB",
    "{": "LBRACE",
    "}": "RBRACE",
    ",": "COMMA",
    ".": "DOT",
    "+": "PLUS",
    "-": "MINUS",
    "*": "STAR",
    "/": "SLASH",
}
"""Terminals of the symbols that all grammars have."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How far a statement could be read: its terminals, and the stacks before each of them."""

    raw: tuple[RawToken, ...]
    terminals: tuple[str, ...]
    stacks: tuple[ParserStack, ...]
    complete: bool
    too_deep: bool = False

    @property
    def stopped_at(self) -> int:
        """The position of the token that could not come next."""
        return len(self.terminals)


Readings: TypeAlias = Callable[[Sequence[RawToken], int], Iterable[str]]
"""The terminals that a token can stand for, the preferred one first."""


def read(automaton: LalrAutomaton, raw: Sequence[RawToken], readings: Readings, deepest: int) -> Reading:
    """Reads as many tokens of one statement as the grammar allows, with a stack of at most `deepest` states."""
    found: list[str] = []
    history = [automaton.initial()]
    for idx in range(len(raw)):
        steps = ((terminal, history[-1].after(terminal)) for terminal in readings(raw, idx))
        terminal, after = next((step for step in steps if step[1] is not None), ("", None))
        if after is None:
            return Reading(tuple(raw), tuple(found), tuple(history), complete=False)
        found.append(terminal)
        history.append(after)
        if len(after.stack) > deepest:
            return Reading(tuple(raw), tuple(found), tuple(history), complete=False, too_deep=True)
    complete = history[-1].after(END) is not None
    return Reading(tuple(raw), tuple(found), tuple(history), complete)


@dataclass(frozen=True)
class ErrorSite:
    """The token that cannot come next, at position `idx`; there is none where the statement ends too early."""

    source: SourceText
    reading: Reading
    terminator: RawToken | None
    idx: int

    @property
    def raw(self) -> tuple[RawToken, ...]:
        return self.reading.raw

    @property
    def token(self) -> RawToken | None:
        return self.raw[self.idx] if self.idx < len(self.raw) else None

    @property
    def before(self) -> RawToken:
        return self.raw[self.idx - 1]

    @property
    def span(self) -> Span:
        if self.token is not None:
            return self.token.span
        if self.terminator is not None:
            return self.terminator.span
        return Span(self.before.span.end, self.before.span.end)

    @cached_property
    def accepted(self) -> frozenset[str]:
        return self.reading.stacks[self.idx].accepted()

    @cached_property
    def open_brackets(self) -> list[RawToken]:
        """Brackets before the token that are still open."""
        return open_brackets(self.raw[: self.idx])

    def diagnostic(
        self, code: str, message: str, span: Span | None = None, *, label: str = "", **remarks: Unpack[Remarks]
    ) -> Diagnostic:
        return Diagnostic.of(code, message, self.span if span is None else span, self.source, label, **remarks)

    def wrong_bracket(self) -> Diagnostic | None:
        """Reports a closing bracket that closes nothing, or another bracket than the one that is open."""
        token = self.token
        if token is None or not token.is_symbol(*CLOSING.values()):
            return None
        if not self.open_brackets:
            return self.diagnostic("INK0105", f"unmatched `{token.text}`")
        opened = self.open_brackets[-1]
        if CLOSING[opened.text] == token.text:
            return None
        place = self.source.position(opened.span.start)
        return self.diagnostic(
            "INK0105",
            f"expected `{CLOSING[opened.text]}` to close `{opened.text}`, found `{token.text}`",
            notes=[f"`{opened.text}` is opened on line {place.line}, column {place.column}"],
        )


def alternatives(things: Sequence[str]) -> str:
    """`a, b or c`"""
    return "".join(things) if len(things) < 2 else f"{', '.join(things[:-1])} or {things[-1]}"


LARGEST_INTEGER = 2**63 - 1


def span_of(place: Meta | Token) -> Span:
    assert place.start_pos is not None
    assert place.end_pos is not None
    return Span(place.start_pos, place.end_pos)


def node(kind: Callable[..., Any]) -> Rule:
    """Builds a node whose fields are the parts of a grammar rule, in their order."""
    return lambda _, meta, children: kind(*children, span=span_of(meta))


def node_without_words(kind: Callable[..., Any]) -> Rule:
    """Builds a node whose fields are the parts of a grammar rule, without its words and signs."""
    return lambda _, meta, children: kind(*(c for c in children if not isinstance(c, Token)), span=span_of(meta))


def node_of_all(kind: Callable[..., Any]) -> Rule:
    """Builds a node whose only field has all parts of a grammar rule."""
    return lambda _, meta, children: kind(tuple(children), span=span_of(meta))


def node_of_nodes(kind: Callable[..., Any]) -> Rule:
    """Builds a node whose only field has all parts of a grammar rule but its words and signs."""
    return lambda _, meta, children: kind(tuple(c for c in children if not isinstance(c, Token)), span=span_of(meta))


def all_parts(_: Any, meta: Meta, children: Children) -> tuple[Any, ...]:
    """The parts of a grammar rule that is only a list."""
    return tuple(children)


class NodeBuilder(Transformer[Token, Any]):
    """Builds nodes bottom up; each method has the name of a grammar rule."""

    def __init__(self, source: SourceText) -> None:
        super().__init__(visit_tokens=False)
        self.source = source

    def built(self, tree: Tree[Token]) -> Any:
        """The node of a whole tree; raises `ProgramError` for an error found while building."""
        try:
            return self.transform(tree)
        except VisitError as error:
            raise error.orig_exc from None

    def integer(self, token: Token) -> int:
        """The value of a whole number that fits 64 bits."""
        if token.type != "INTEGER":
            raise self.error("INK0116", f"expected a whole number, found `{token}`", span_of(token))
        if len(token) > 19 or int(token) > LARGEST_INTEGER:
            raise self.error(
                "INK0116",
                f"the number {token[:20]}{'…' if len(token) > 20 else ''} is too large",
                span_of(token),
                notes=(f"the largest whole number is {LARGEST_INTEGER}",),
            )
        return int(token)

    def real(self, token: Token) -> float:
        """The value of a number that a float can hold."""
        value = float(token)
        underflows = value == 0 and any(digit in token.lower().split("e")[0] for digit in "123456789")
        if math.isinf(value) or underflows:
            raise self.error("INK0116", f"the number {token} is out of range", span_of(token))
        return value

    def error(
        self, code: str, message: str, span: Span, *, label: str = "", **remarks: Unpack[Remarks]
    ) -> ProgramError:
        return ProgramError.of(code, message, span=span, source=self.source, label=label, **remarks)
