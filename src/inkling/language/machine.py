"""The LALR automaton of a grammar: what it would accept next, and the nodes that are built from what it accepted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import Any, TypeAlias

from lark import Lark, Token, Transformer, Tree
from lark.exceptions import VisitError
from lark.parsers.lalr_analysis import Shift
from lark.parsers.lalr_parser_state import ParseConf
from lark.tree import Meta

from inkling.errors import ProgramError
from inkling.language.scanning import RawToken
from inkling.source import SourceText, Span

END = "$END"

Children: TypeAlias = list[Any]


def terminals(names: str) -> frozenset[str]:
    """A set of terminals from their names between spaces."""
    return frozenset(names.split())


@dataclass(frozen=True)
class Machine:
    """The automaton of the grammar that a package holds; it reads one statement."""

    package: str

    @cached_property
    def _grammar(self) -> Lark:
        text = files(self.package).joinpath("grammar.lark").read_text(encoding="utf-8")
        return Lark(
            text, parser="lalr", lexer="basic", start="statement", propagate_positions=True, maybe_placeholders=False
        )

    @cached_property
    def automaton(self) -> ParseConf[int]:
        automaton: ParseConf[int] = self._grammar.parse_interactive().parser_state.parse_conf
        return automaton

    def initial(self) -> States:
        return States(self, (self.automaton.start_state,))

    def build(self, terminals: Sequence[str], raw: Sequence[RawToken]) -> Tree[Token]:
        """The tree of terminals that `States` has accepted to the end."""
        parser = self._grammar.parse_interactive()
        for terminal, token in zip(terminals, raw, strict=True):
            parser.feed_token(Token(terminal, token.value, token.span.start, end_pos=token.span.end))
        tree: Tree[Token] = parser.feed_eof()  # type: ignore[no-untyped-call]
        return tree


@dataclass(frozen=True, slots=True)
class States:
    """The stack of an automaton after some terminals, without the values it has built."""

    machine: Machine
    stack: tuple[int, ...]

    def after(self, terminal: str) -> States | None:
        """The stack after one more terminal, or None when it may not come next."""
        automaton = self.machine.automaton
        table: dict[int, dict[str, tuple[Any, Any]]] = automaton.states
        stack = self.stack
        while True:
            action = table[stack[-1]].get(terminal)
            if action is None:
                return None
            kind, argument = action
            if kind is Shift:
                return States(self.machine, (*stack, argument))
            n_popped = len(argument.expansion)
            if n_popped:
                stack = stack[:-n_popped]
            target = table[stack[-1]][argument.origin.name][1]
            stack = (*stack, target)
            if terminal == END and target == automaton.end_state:
                return States(self.machine, stack)

    def after_all(self, terminals: Sequence[str]) -> States | None:
        states: States | None = self
        for terminal in terminals:
            if states is None:
                return None
            states = states.after(terminal)
        return states

    def accepted(self) -> frozenset[str]:
        """Every terminal that may come next, `$END` for the end of the statement."""
        row = self.machine.automaton.states[self.stack[-1]]
        return frozenset(t for t in row if t.isupper() and self.after(t) is not None)


def span_of(place: Meta | Token) -> Span:
    assert place.start_pos is not None
    assert place.end_pos is not None
    return Span(place.start_pos, place.end_pos)


class NodeBuilder(Transformer[Token, Any]):
    """Builds nodes bottom up; a method bears the name of its grammar rule."""

    def __init__(self, source: SourceText) -> None:
        super().__init__(visit_tokens=False)
        self.source = source

    def built(self, tree: Tree[Token]) -> Any:
        """The node of a whole tree; raises `ProgramError` for an error found while building."""
        try:
            return self.transform(tree)
        except VisitError as error:
            raise error.orig_exc from None

    def error(
        self,
        code: str,
        message: str,
        span: Span,
        *,
        label: str = "",
        notes: tuple[str, ...] = (),
        helps: tuple[str, ...] = (),
    ) -> ProgramError:
        return ProgramError.of(code, message, span=span, source=self.source, label=label, notes=notes, helps=helps)
