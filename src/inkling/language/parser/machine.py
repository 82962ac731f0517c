"""The LALR automaton of the grammar, and what it would accept next."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from lark import Lark, Token, Tree
from lark.parsers.lalr_analysis import Shift
from lark.parsers.lalr_parser_state import ParseConf

END = "$END"


def terminals(names: str) -> frozenset[str]:
    """A set of terminals from their names between spaces."""
    return frozenset(names.split())


_NOT_WORDS = terminals(
    "NAME INTEGER DECIMAL STRING RELATION COMPARISON ANYTHING EQUAL PLUS MINUS STAR SLASH PERCENT "
    "QUESTION COMMA LPAR RPAR LSQB RSQB LBRACE RBRACE VBAR DOT"
)


@cache
def grammar() -> Lark:
    text = files("inkling.language").joinpath("grammar.lark").read_text(encoding="utf-8")
    return Lark(
        text,
        parser="lalr",
        lexer="basic",
        start="statement",
        propagate_positions=True,
        maybe_placeholders=False,
    )


@cache
def _automaton() -> ParseConf[int]:
    automaton: ParseConf[int] = grammar().parse_interactive().parser_state.parse_conf
    return automaton


@cache
def keywords() -> frozenset[str]:
    """Every word the grammar spells out, in capitals."""
    spelled = {terminal for row in _automaton().states.values() for terminal in row}
    return frozenset(word for word in spelled if word.isupper() and word.isalpha()) - _NOT_WORDS


@dataclass(frozen=True, slots=True)
class States:
    """The stack of the automaton after some terminals, without the values it has built."""

    stack: tuple[int, ...]

    @classmethod
    def initial(cls) -> "States":
        return cls((_automaton().start_state,))

    def after(self, terminal: str) -> "States | None":
        """The stack after one more terminal, or None when it may not come next."""
        automaton = _automaton()
        table: dict[int, dict[str, tuple[Any, Any]]] = automaton.states
        stack = self.stack
        while True:
            action = table[stack[-1]].get(terminal)
            if action is None:
                return None
            kind, argument = action
            if kind is Shift:
                return States((*stack, argument))
            n_popped = len(argument.expansion)
            if n_popped:
                stack = stack[:-n_popped]
            target = table[stack[-1]][argument.origin.name][1]
            stack = (*stack, target)
            if terminal == END and target == automaton.end_state:
                return States(stack)

    def after_all(self, terminals: Sequence[str]) -> "States | None":
        states: States | None = self
        for terminal in terminals:
            if states is None:
                return None
            states = states.after(terminal)
        return states

    def accepted(self) -> frozenset[str]:
        """Every terminal that may come next, `$END` for the end of the statement."""
        row = _automaton().states[self.stack[-1]]
        return frozenset(t for t in row if t.isupper() and self.after(t) is not None)


def build_tree(tokens: Sequence[Token]) -> Tree[Token]:
    """The tree of terminals that `States` has accepted to the end."""
    parser = grammar().parse_interactive()
    for token in tokens:
        parser.feed_token(token)
    tree: Tree[Token] = parser.feed_eof()  # type: ignore[no-untyped-call]
    return tree
