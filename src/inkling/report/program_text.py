"""The text of a program as lines of colored words, from the tokens of its Pygments lexer."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, TypeAlias

from pygments.token import Comment, Keyword, Name, Number, Operator, String, _TokenType

from inkling.language.highlight import lexer_of

WordKind: TypeAlias = Literal["keyword", "type", "event", "string", "number", "comment", "plain"]

KINDS: tuple[tuple[_TokenType, WordKind], ...] = (
    (Comment, "comment"),
    (String, "string"),
    (Number, "number"),
    (Keyword.Type, "type"),
    (Keyword, "keyword"),
    (Operator.Word, "keyword"),
)
"""What the page distinguishes; the first entry that contains a token's type counts."""


@dataclass(frozen=True, slots=True)
class Word:
    """A part of a line with one color."""

    kind: WordKind
    text: str


def highlight(program_text: str, event_names: Collection[str] = (), *, name: str = "") -> list[list[Word]]:
    """The lines of a program as colored words; the texts of a line's words concatenate to the line.

    `name` is the name of its file, whose suffix is that of a notation.

    Examples
    --------
    >>> [(word.kind, word.text) for word in highlight("EVENT stop AS", {"stop"})[0]]
    [('keyword', 'EVENT'), ('plain', ' '), ('event', 'stop'), ('plain', ' '), ('keyword', 'AS')]
    """
    lines: list[list[Word]] = [[]]
    text = program_text.rstrip().replace("\r\n", "\n")
    for _, token, written in lexer_of(name).get_tokens_unprocessed(text):
        kind = _kind(token, written, event_names)
        for number, part in enumerate(written.split("\n")):
            if number:
                lines.append([])
            if part:
                lines[-1].append(Word(kind, part))
    return lines


def _kind(token: _TokenType, written: str, event_names: Collection[str]) -> WordKind:
    if token in Name and written in event_names:
        return "event"
    return next((kind for whole, kind in KINDS if token in whole), "plain")
