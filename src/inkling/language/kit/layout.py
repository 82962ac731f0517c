"""The pretty-printer of every language: a group stays on one line if it fits, else it breaks at its line breaks.

The algorithm is that of Wadler, "A prettier printer" (2003), with groups that break all their lines or none.

>>> lay_out(bracketed("SEQ(", ["A a", "B b"], ")"), 100), lay_out(bracketed("SEQ(", ["A a", "B b"], ")"), 5)
('SEQ(A a, B b)', 'SEQ(\\n  A a,\\n  B b\\n)')
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from inkling.excerpt import display_width
from inkling.language.kit.scanning import comment_lines


@dataclass(frozen=True, slots=True)
class LineBreak:
    """A line break, or `flat` inside a group that fits on one line."""

    flat: str


@dataclass(frozen=True, slots=True)
class HardBreak:
    """A line break in every layout."""


@dataclass(frozen=True, slots=True)
class Group:
    """Content on one line if it fits, else broken at all of its line breaks."""

    content: "Doc"


@dataclass(frozen=True, slots=True)
class Nest:
    """Content whose lines are indented further."""

    content: "Doc"
    by: int = 2


Doc: TypeAlias = "str | LineBreak | HardBreak | Group | Nest | tuple[Doc, ...]"

WIDTH = 100
"""Columns of a line."""

LINE = LineBreak(" ")
SOFT_LINE = LineBreak("")
HARD_LINE = HardBreak()


def joined(separator: Doc, docs: "Sequence[Doc]") -> Doc:
    parts: list[Doc] = []
    for doc in docs:
        parts += [separator, doc] if parts else [doc]
    return tuple(parts)


def bracketed(opening: str, docs: "Sequence[Doc]", closing: str) -> Doc:
    """A list in brackets, one item per line when it does not fit."""
    items = joined((",", LINE), docs)
    return Group((opening, Nest((SOFT_LINE, items)), SOFT_LINE, closing))


def written_file(statements: Iterable[tuple[str, bool]], comments: Sequence[str], sign: str = "--") -> str:
    """The text of a file: statements and the comments after them; the flag leaves out the blank line before."""
    parts: list[str] = []
    for text, is_close in statements:
        parts += [("\n" if is_close else "\n\n") if parts else "", text]
    if comments:
        parts += ["\n\n" if parts else "", "\n".join(comment_lines(comments, sign))]
    return "".join(parts) + "\n" if parts else ""


def lay_out(doc: Doc, width: int) -> str:
    """The text of a document with lines of at most `width` columns where that is possible."""
    out: list[str] = []
    column = 0
    todo: list[tuple[int, bool, Doc]] = [(0, False, doc)]
    while todo:
        indent, flat, part = todo.pop()
        match part:
            case str():
                out.append(part)
                column += display_width(part)
            case LineBreak(text) if flat:
                out.append(text)
                column += len(text)
            case LineBreak() | HardBreak():
                out.append("\n" + " " * indent)
                column = indent
            case Nest(content, by):
                todo.append((indent + by, flat, content))
            case Group(content):
                fits = flat or _fits(content, width - column, todo)
                todo.append((indent, fits, content))
            case _:
                todo.extend((indent, flat, inner) for inner in reversed(part))
    return "".join(out)


def _fits(doc: Doc, room: int, rest: list[tuple[int, bool, Doc]]) -> bool:
    """Whether a document fits flat, together with what follows it up to the next line break."""
    todo: list[Doc] = [doc]
    while todo and room >= 0:
        part = todo.pop()
        match part:
            case str():
                room -= display_width(part)
            case HardBreak():
                return False
            case LineBreak(text):
                room -= len(text)
            case Nest(content) | Group(content):
                todo.append(content)
            case _:
                todo.extend(reversed(part))
    return room >= _width_to_next_break(rest)


def _width_to_next_break(rest: list[tuple[int, bool, Doc]]) -> int:
    width = 0
    for _, flat, part in reversed(rest):
        todo: list[Doc] = [part]
        while todo:
            match inner := todo.pop():
                case str():
                    width += display_width(inner)
                case LineBreak(text) if flat:
                    width += len(text)
                case LineBreak() | HardBreak():
                    return width
                case Nest(content) | Group(content):
                    todo.append(content)
                case _:
                    todo.extend(reversed(inner))
    return width
