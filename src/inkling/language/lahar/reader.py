"""Reads a query file: cuts it into tokens, the tokens into statements, and parses each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from inkling.errors import Diagnostic
from inkling.language.lahar import terms as t
from inkling.language.lahar.parser import Parser
from inkling.language.reading import Chunk, read_statements
from inkling.language.scanning import RawToken, Scanner, rest_of_line, unexpected_character
from inkling.source import SourceText, Span

_TOKEN = re.compile(
    r"""
      (?P<SPACE>    [\s\ufeff]+ )
    | (?P<COMMENT>  --[^\n]* )
    | (?P<NAME>     [^\W\d]\w* )
    | (?P<NUMBER>   -? [0-9]+ (?: \.[0-9]+ )? (?: [eE][+-]?[0-9]+ )? (?! \w ) )
    | (?P<TEXT>     ' (?: [^'\r\n] | '' )* ' )
    | (?P<SYMBOL>   != | <= | >= | [;:,|+=<>(){}\[\]] )
    """,
    re.VERBOSE,
)
_INSTEAD = {
    "/": "start a comment with `--`",
    "%": "start a comment with `--`",
    '"': "write texts in single quotes: `'Joe'`",
    "∧": "write `and`",
    "&": "write `and`",
    "∨": "write `or`",
    "¬": "write `not`",
    "!": "write `not`, or `!=`",
    "≠": "write `!=`",
    "≤": "write `<=`",
    "≥": "write `>=`",
    "⊥": "no event is what a stream has no row for",
}


def _unreadable(source: SourceText, offset: int) -> Diagnostic:
    if source.text[offset] != "'":
        return unexpected_character(source, offset, _INSTEAD)
    return Diagnostic(
        "INK0104",
        "the quote ' is not closed",
        Span(offset, offset + max(len(rest_of_line(source, offset)), 1)),
        source,
        label="it ends on the line it starts on",
    )


SCANNER = Scanner(_TOKEN, _unreadable)


def read_queries(source: SourceText) -> t.QueryFile:
    """The statements of a file; raises `ProgramError` with one diagnostic for each wrong statement."""
    scanned = SCANNER.scan(source)

    def read(chunk: Chunk) -> t.Statement:
        return Parser(source, chunk.tokens, chunk.after).statement()

    return t.QueryFile(*read_statements(source, scanned, list(_chunks(scanned.tokens, len(source.text))), read))


def _chunks(tokens: Sequence[RawToken], length: int) -> Iterator[Chunk]:
    """A semicolon may stand inside a query and behind it: a statement ends where the next one begins."""
    if not tokens:
        return
    borders = sorted({0, *_starts(tokens), len(tokens)})
    for begin, next_begin in pairwise(borders):
        inside = tokens[begin:next_begin]
        after = inside[-1] if len(inside) > 1 and inside[-1].is_symbol(";") else None
        limit = tokens[next_begin].span.start if next_begin < len(tokens) else length
        yield Chunk.of(inside[:-1] if after else inside, after, limit)


def _starts(tokens: Sequence[RawToken]) -> set[int]:
    starts: set[int] = set()
    opened: list[int] = []  # open parentheses
    head: int | None = None  # the name before the parentheses that closed last
    declares = False
    for idx, token in enumerate(tokens):
        begin: int | None = None
        if token.is_symbol("("):
            opened.append(idx)
        elif token.is_symbol(")") and opened:
            before = opened.pop() - 1
            head = before if before >= 0 and tokens[before].kind == "NAME" else None
        elif token.is_word("stream", "relation") and idx + 1 < len(tokens) and tokens[idx + 1].kind == "NAME":
            begin, declares = idx, True
        elif token.is_symbol(";") and declares:
            begin, declares = idx + 1, False
        elif token.is_symbol(":") and idx:
            begin = head if _ends_a_head(tokens[idx - 1]) else idx - 1 if not opened else None
        if begin is not None:
            starts.add(begin)
            opened, head = [], None
    return starts


def _ends_a_head(token: RawToken) -> bool:
    return token.is_symbol(")") or token.is_word("ever")
