"""Lays a document out on lines: a group stays on one line if it fits, else it breaks at its lines."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from inkling.excerpt import display_width


@dataclass(frozen=True, slots=True)
class Line:
    """A line break, or `flat` inside a group that fits on one line."""

    flat: str


@dataclass(frozen=True, slots=True)
class HardLine:
    """A line break always."""


@dataclass(frozen=True, slots=True)
class Group:
    content: "Doc"


@dataclass(frozen=True, slots=True)
class Nest:
    """Content whose lines are indented further."""

    content: "Doc"
    by: int = 2


Doc: TypeAlias = "str | Line | HardLine | Group | Nest | tuple[Doc, ...]"

LINE = Line(" ")
SOFT_LINE = Line("")
HARD_LINE = HardLine()


def joined(separator: Doc, docs: "Sequence[Doc]") -> Doc:
    parts: list[Doc] = []
    for doc in docs:
        parts += [separator, doc] if parts else [doc]
    return tuple(parts)


def bracketed(opening: str, docs: "Sequence[Doc]", closing: str) -> Doc:
    """A list in brackets, one item per line when it does not fit."""
    items = joined((",", LINE), docs)
    return Group((opening, Nest((SOFT_LINE, items)), SOFT_LINE, closing))


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
            case Line(text) if flat:
                out.append(text)
                column += len(text)
            case Line() | HardLine():
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
            case HardLine():
                return False
            case Line(text):
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
                case Line(text) if flat:
                    width += len(text)
                case Line() | HardLine():
                    return width
                case Nest(content) | Group(content):
                    todo.append(content)
                case _:
                    todo.extend(reversed(inner))
    return width
