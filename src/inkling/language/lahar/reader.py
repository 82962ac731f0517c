"""Reads a query file statement by statement, so that one mistake does not hide the next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from inkling.errors import Diagnostic, ProgramError
from inkling.language.comments import share_out
from inkling.language.lahar import terms as t
from inkling.language.lahar.scanner import RawToken, scan
from inkling.language.lahar.statements import StatementParser
from inkling.source import SourceText


@dataclass(frozen=True, slots=True)
class Chunk:
    """The tokens of one statement, without the `;` behind it."""

    tokens: tuple[RawToken, ...]
    after: RawToken | None
    end: int
    limit: int  # where the next one may begin


def read_queries(source: SourceText) -> t.QueryFile:
    """The statements of a file; raises `ProgramError` with one diagnostic for each wrong statement."""
    problems: list[Diagnostic] = []
    scanned = scan(source)
    chunks = list(_chunks(scanned.tokens, len(source.text)))
    found: list[t.Statement] = []
    start = 0
    for chunk in chunks:
        unreadable = [p for p in scanned.problems if p.span and start <= p.span.start < chunk.limit]
        start = chunk.limit
        if unreadable:
            problems.append(unreadable[0])
            continue
        try:
            found.append(StatementParser(source, chunk.tokens, chunk.after).statement())
        except ProgramError as error:
            problems.extend(error.diagnostics)
    problems.extend([p for p in scanned.problems if p.span and p.span.start >= start][:1])
    if problems:
        raise ProgramError(problems)
    shares, rest = share_out(source, scanned.comments, [chunk.end for chunk in chunks])
    return t.QueryFile(
        tuple(replace(one, comments=share) for one, share in zip(found, shares, strict=True)),
        rest,
    )


def _chunks(tokens: Sequence[RawToken], length: int) -> Iterator[Chunk]:
    """A semicolon may stand inside a query and behind it: a statement ends where the next one begins."""
    if not tokens:
        return
    borders = sorted({0, *_starts(tokens), len(tokens)})
    for begin, next_begin in pairwise(borders):
        inside = tokens[begin:next_begin]
        after = inside[-1] if len(inside) > 1 and inside[-1].is_symbol(";") else None
        limit = tokens[next_begin].span.start if next_begin < len(tokens) else length
        yield Chunk(tuple(inside[:-1] if after else inside), after, inside[-1].span.end, limit)


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
