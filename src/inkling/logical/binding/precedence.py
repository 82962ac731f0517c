"""Warns where AND, OR, PAR and the interval relations meet without parentheses."""

from __future__ import annotations

from inkling.language import syntax as s
from inkling.logical.binding.mistakes import Mistakes
from inkling.logical.binding.syntax_walk import direct_parts
from inkling.source import SourceText, Span

Level = s.And | s.Or | s.Par | s.Allen | s.Except


def warn_of_mixed_levels(node: s.Node, mistakes: Mistakes) -> None:
    """One warning per operand of another level that has no parentheses of its own."""
    for child in direct_parts(node):
        if (
            isinstance(node, Level)
            and isinstance(child, Level)
            and type(child) is not type(node)
            and not _in_parentheses(child.span, mistakes.source)
        ):
            inner = mistakes.words(child)
            mistakes.warn(
                "INK0324",
                f"{_word(child)} binds tighter than {_word(node)} here",
                child,
                helps=[f"write `({inner})` to make that visible"],
            )
        warn_of_mixed_levels(child, mistakes)


def _word(node: Level) -> str:
    match node:
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
