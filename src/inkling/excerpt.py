"""Renders the line of a source text that a diagnostic points to, with the place underlined."""

import unicodedata
from dataclasses import dataclass

from inkling.masking import crossed_out
from inkling.source import SourceText, Span

TAB_WIDTH = 4
MAX_WIDTH = 160
ELLIPSIS = "…"


@dataclass(frozen=True, slots=True)
class Excerpt:
    """One line of the source and the underline below it, aligned in display columns."""

    line_number: int
    text: str
    underline: str


def excerpt(source: SourceText, span: Span) -> Excerpt:
    """The first line of the span, underlined up to its end or the end of the line."""
    where = source.position(span.start)
    line = crossed_out(source.line(where.line))
    line_start = source.line_start(where.line)
    first = where.column - 1
    last = max(min(span.end - line_start, len(line)), first)
    before, meant, after = (_shown(part) for part in (line[:first], line[first:last], line[last:]))
    if display_width(before + meant + after) > MAX_WIDTH:
        before, meant, after = _clip(before, meant, after)
    underline = " " * display_width(before) + "^" * max(display_width(meant), 1)
    return Excerpt(where.line, (before + meant + after).rstrip(), underline)


def display_width(text: str) -> int:
    """Terminal columns a text takes: wide characters two, combining marks none.

    >>> display_width("事e\\u0301")
    3
    """
    if text.isascii() and text.isprintable():
        return len(text)
    return sum(_character_width(character) for character in text)


def _character_width(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def _shown(text: str) -> str:
    expanded = text.replace("\t", " " * TAB_WIDTH)
    return "".join("�" if unicodedata.category(c) == "Cc" else c for c in expanded)


def _clip(before: str, meant: str, after: str) -> tuple[str, str, str]:
    keep = MAX_WIDTH // 4
    if len(before) > keep:
        before = ELLIPSIS + before[-keep:]
    if len(meant) > 2 * keep:
        meant = meant[: 2 * keep]
        after = ELLIPSIS
    elif len(after) > keep:
        after = after[:keep] + ELLIPSIS
    return before, meant, after
