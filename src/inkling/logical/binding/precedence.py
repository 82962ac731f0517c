"""Warns where AND, OR, PAR and the interval relations meet without parentheses."""

from __future__ import annotations

import re
from typing import TypeGuard

from inkling.language import syntax as s
from inkling.logical.binding.mistakes import Mistakes
from inkling.logical.binding.syntax_walk import direct_parts
from inkling.source import SourceText, Span

Level = s.And | s.Or | s.Par | s.Allen | s.Except | s.Seq

_PREFIX_SEQUENCE = re.compile(r"SEQ\s*(ANY\b|NEXT\b|STRICT\b)?\s*\(", re.IGNORECASE)


def warn_of_mixed_levels(node: s.Node, mistakes: Mistakes) -> None:
    """One warning per operand of another level that has no parentheses of its own."""
    for child in direct_parts(node):
        if (
            _is_infix(node, mistakes.source)
            and _is_infix(child, mistakes.source)
            and type(child) is not type(node)
            and not _in_parentheses(child.span, mistakes.source)
        ):
            inner = mistakes.words(child)
            mistakes.warn(
                "INK0324",
                f"{_word(child)} {_precedes(child, node)} {_word(node)} here",
                child,
                helps=[f"write `({inner})` to make that visible"],
            )
        warn_of_mixed_levels(child, mistakes)


def _is_infix(node: s.Node, source: SourceText) -> TypeGuard[Level]:
    """Whether an operator stands between its operands; SEQ does so in rules of ETALIS only."""
    return isinstance(node, Level) and not (
        isinstance(node, s.Seq) and _PREFIX_SEQUENCE.match(source.text, node.span.start)
    )


def _precedes(child: Level, node: Level) -> str:
    """Among themselves SEQ between operands and the relations are read from left to right."""
    chained = s.Seq | s.Allen | s.Except
    reads_on = isinstance(child, chained) and isinstance(node, chained) and s.Seq in (type(child), type(node))
    return "is read before" if reads_on else "binds tighter than"


def _word(node: Level) -> str:
    match node:
        case s.Seq():
            return "SEQ"
        case s.And():
            return "AND"
        case s.Or():
            return "OR"
        case s.Par():
            return "PAR"
        case s.Allen(relations=relations):
            return " ".join(relations[:1])
        case s.Except():
            return "EXCEPT"


def _in_parentheses(span: Span, source: SourceText) -> bool:
    before = source.text[: span.start].rstrip()
    after = source.text[span.end :].lstrip()
    return (before.endswith("(") and after.startswith(")")) or source.text_of(span).startswith("(")
