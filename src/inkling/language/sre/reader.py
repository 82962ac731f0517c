"""Reads a pattern file: cuts it into tokens, the tokens into patterns and declarations, and parses each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from inkling.errors import Diagnostic, ProgramError
from inkling.language.parser import parse as parse_ink
from inkling.language.parser.scanner import SCANNER as SCANNER_OF_PROGRAMS
from inkling.language.reading import Chunk, read_statements
from inkling.language.scanning import RawToken, Scanner, rest_of_line, unexpected_character
from inkling.language.sre import terms as t
from inkling.language.sre.parser import Parser
from inkling.language.syntax import StreamDecl
from inkling.source import SourceText, Span

_TOKEN = re.compile(
    r"""
      (?P<SPACE>    [\s\ufeff]+ )
    | (?P<COMMENT>  --[^\n]* )
    | (?P<NAME>     [^\W\d]\w* )
    | (?P<NUMBER>   -? [0-9]+ (?: \.[0-9]+ )? (?: [eE][+-]?[0-9]+ )? (?! \w ) )
    | (?P<REGISTER> " (?: [^"\r\n] )+ " )
    | (?P<TEXT>     ' (?: [^'\r\n] | '' )* ' )
    | (?P<SYMBOL>   [;+*!\#@^|~&(){}\[\]:,-] )
    """,
    re.VERBOSE,
)
_INSTEAD = {
    "/": "start a comment with `--`",
    "%": "start a comment with `--`",
    ">": "write a predicate: `GT(speed, 5.0)`",
    "<": "write a predicate: `LT(speed, 5.0)`",
    "=": "write a predicate: `EQ(speed, 5.0)`, or `EQStr(name, 'text')`",
    "∨": "write `|(p, q)`",
    "∧": "write `^(p, q)`",
    "¬": "write `-p` for a predicate, `!(p)` for a pattern",
}


def _unreadable(source: SourceText, offset: int) -> Diagnostic:
    character = source.text[offset]
    if character not in "'\"":
        return unexpected_character(source, offset, _INSTEAD)
    rest = rest_of_line(source, offset)
    return Diagnostic(
        "INK0104",
        f"the quote {character} is not closed" if rest[1:2] != character else "a register has a name",
        Span(offset, offset + max(len(rest), 1)),
        source,
        label="it ends on the line it starts on",
    )


SCANNER = Scanner(_TOKEN, _unreadable)


def read_patterns(source: SourceText) -> t.PatternFile:
    """The patterns of a file; raises `ProgramError` with one diagnostic for each wrong pattern."""
    problems: tuple[Diagnostic, ...] = ()
    start = _end_of_stream(source)
    stream: StreamDecl | None = None
    try:
        stream = _stream(source, start)
    except ProgramError as error:
        problems = error.diagnostics
    scanned = SCANNER.scan(source, start)

    def read(chunk: Chunk) -> t.Pattern | t.Declare:
        parser = Parser(source, chunk.tokens, chunk.after)
        return parser.declare() if chunk.tokens and _declares(chunk.tokens[0]) else parser.pattern()

    chunks = list(_chunks(scanned.tokens, len(source.text)))
    found, rest = read_statements(source, scanned, chunks, read, start=start, problems=problems)
    return t.PatternFile(
        stream,
        tuple(one for one in found if isinstance(one, t.Declare)),
        tuple(one for one in found if isinstance(one, t.Pattern)),
        rest,
    )


def _end_of_stream(source: SourceText) -> int:
    """Where the declaration of the stream ends, which is written as in a program."""
    tokens = SCANNER_OF_PROGRAMS.scan(source).tokens
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
        is_declaration = _declares(tokens[begin])
        last = next(
            (idx for idx in range(begin, len(tokens)) if tokens[idx].is_symbol(";" if is_declaration else "&")),
            len(tokens),
        )
        after = tokens[last] if last < len(tokens) else None
        inside = tuple(tokens[begin:last])
        end = after.span.end if after and is_declaration else (inside[-1] if inside else tokens[last]).span.end
        yield Chunk(inside, after, end, after.span.end if after else length)
        begin = last + 1
        if begin == len(tokens) and after is not None and not is_declaration:
            yield Chunk((), None, after.span.end, length)


def _declares(first: RawToken) -> bool:
    return first.text.upper() == "DECLARE"
