"""The LALR automaton of rule files, and what it would accept next."""

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any, TypeAlias

from lark import Lark, Token, Tree
from lark.parsers.lalr_analysis import Shift
from lark.parsers.lalr_parser_state import ParseConf

END = "$END"

Stack: TypeAlias = tuple[int, ...]


@cache
def _grammar() -> Lark:
    text = files("inkling.language.ele").joinpath("grammar.lark").read_text(encoding="utf-8")
    return Lark(
        text, parser="lalr", lexer="basic", start="statement", propagate_positions=True, maybe_placeholders=False
    )


@cache
def _automaton() -> ParseConf[int]:
    automaton: ParseConf[int] = _grammar().parse_interactive().parser_state.parse_conf
    return automaton


def first_stack() -> Stack:
    return (_automaton().start_state,)


def after(stack: Stack, terminal: str) -> Stack | None:
    """The stack after one more terminal, or None when it may not come next."""
    automaton = _automaton()
    table: dict[int, dict[str, tuple[Any, Any]]] = automaton.states
    while True:
        action = table[stack[-1]].get(terminal)
        if action is None:
            return None
        kind, argument = action
        if kind is Shift:
            return (*stack, argument)
        n_popped = len(argument.expansion)
        if n_popped:
            stack = stack[:-n_popped]
        target = table[stack[-1]][argument.origin.name][1]
        stack = (*stack, target)
        if terminal == END and target == automaton.end_state:
            return stack


def accepted(stack: Stack) -> frozenset[str]:
    """Every terminal that may come next, `$END` for the end of the statement."""
    row = _automaton().states[stack[-1]]
    return frozenset(t for t in row if t.isupper() and after(stack, t) is not None)


def build_tree(tokens: Sequence[Token]) -> Tree[Token]:
    """The tree of terminals that `after` has accepted to the end."""
    parser = _grammar().parse_interactive()
    for token in tokens:
        parser.feed_token(token)
    tree: Tree[Token] = parser.feed_eof()  # type: ignore[no-untyped-call]
    return tree
