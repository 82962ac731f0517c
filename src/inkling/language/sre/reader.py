"""Reads a pattern file pattern by pattern, so that one mistake does not hide the next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from inkling.errors import Diagnostic, ProgramError
from inkling.language.comments import share_out
from inkling.language.parser import parse as parse_ink
from inkling.language.parser.scanner import scan as scan_ink
from inkling.language.sre import terms as t
from inkling.language.sre.parser import Parser
from inkling.language.sre.scanner import RawToken, scan
from inkling.language.syntax import StreamDecl
from inkling.source import SourceText


@dataclass(frozen=True, slots=True)
class Chunk:
    """The tokens of one pattern, or of one `DECLARE` up to its semicolon."""

    tokens: tuple[RawToken, ...]
    is_declaration: bool
    end: int
    after: RawToken | None  # the `&` or `;` behind it
    limit: int  # where the next one may begin


def read_patterns(source: SourceText) -> t.PatternFile:
    """The patterns of a file; raises `ProgramError` with one diagnostic for each wrong pattern."""
    problems: list[Diagnostic] = []
    start = _end_of_stream(source)
    stream: StreamDecl | None = None
    try:
        stream = _stream(source, start)
    except ProgramError as error:
        problems.extend(error.diagnostics)
    scanned = scan(source, start)
    chunks = list(_chunks(scanned.tokens, len(source.text)))
    found: list[t.Pattern | t.Declare] = []
    for chunk in chunks:
        unreadable = [p for p in scanned.problems if p.span and start <= p.span.start < chunk.limit]
        start = chunk.limit
        if unreadable:
            problems.append(unreadable[0])
            continue
        try:
            parser = Parser(source, chunk.tokens, chunk.after)
            found.append(parser.declare() if chunk.is_declaration else parser.pattern())
        except ProgramError as error:
            problems.extend(error.diagnostics)
    problems.extend([p for p in scanned.problems if p.span and p.span.start >= start][:1])
    if problems:
        raise ProgramError(problems)
    shares, rest = share_out(source, scanned.comments, [chunk.end for chunk in chunks])
    commented = [replace(one, comments=share) for one, share in zip(found, shares, strict=True)]
    return t.PatternFile(
        stream,
        tuple(one for one in commented if isinstance(one, t.Declare)),
        tuple(one for one in commented if isinstance(one, t.Pattern)),
        rest,
    )


def _end_of_stream(source: SourceText) -> int:
    """Where the declaration of the stream ends, which is written as in a program."""
    tokens = scan_ink(source).tokens
    if len(tokens) < 2 or tokens[0].upper != "STREAM" or tokens[1].kind not in ("WORD", "QUOTED"):
        return 0
    return next((token.span.end for token in tokens if token.is_symbol(";")), len(source.text))


def _stream(source: SourceText, end: int) -> StreamDecl | None:
    if end == 0:
        return None
    (stream,) = parse_ink(source.text[:end], source.name).statements
    assert isinstance(stream, StreamDecl)
    return stream


def _chunks(tokens: Sequence[RawToken], length: int) -> Iterator[Chunk]:
    begin = 0
    while begin < len(tokens):
        is_declaration = tokens[begin].text.upper() == "DECLARE"
        last = next(
            (idx for idx in range(begin, len(tokens)) if tokens[idx].is_symbol(";" if is_declaration else "&")),
            len(tokens),
        )
        after = tokens[last] if last < len(tokens) else None
        inside = tuple(tokens[begin:last])
        end = after.span.end if after and is_declaration else (inside[-1] if inside else tokens[last]).span.end
        yield Chunk(inside, is_declaration, end, after, after.span.end if after else length)
        begin = last + 1
        if begin == len(tokens) and after is not None and not is_declaration:
            yield Chunk((), False, after.span.end, None, length)
