"""Parses a whole program statement by statement, so that one mistake does not hide the next."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from lark import Token, Tree
from lark.exceptions import VisitError

from inkling.errors import Diagnostic, ProgramError, nearest
from inkling.language.comments import share_out
from inkling.language.parser.machine import build_tree
from inkling.language.parser.mistakes import explain
from inkling.language.parser.scanner import RawToken, scan
from inkling.language.parser.site import Site
from inkling.language.parser.statements import StatementBuilder
from inkling.language.parser.tree import span_of
from inkling.language.parser.words import read, starts_statement
from inkling.language.syntax import Program, Statement
from inkling.source import SourceText, Span

STATEMENT_WORDS = ("STREAM", "TABLE", "RULE", "EVENT", "FORECAST")
DEEPEST_NESTING = 150


@dataclass(frozen=True, slots=True)
class Chunk:
    """The tokens of one statement, and its semicolon unless that is missing."""

    tokens: tuple[RawToken, ...]
    terminator: RawToken | None
    limit: int  # where the next statement may begin

    @property
    def end(self) -> int:
        return (self.terminator or self.tokens[-1]).span.end


def parse(text: str, name: str = "<string>") -> Program:
    """Reads a program; raises `ProgramError` with one diagnostic for each wrong statement.

    >>> program = parse("STREAM Cpu(node STRING, load DOUBLE) KEY node TIME t;")
    >>> program.statements[0].name.text
    'Cpu'
    """
    source = SourceText(name, text)
    scanned = scan(source)
    chunks = list(_chunks(scanned.tokens, len(text)))
    problems: list[Diagnostic] = []
    statements: list[Statement] = []
    start = 0
    previous_failed = False
    for chunk in chunks:
        unreadable = [p for p in scanned.problems if p.span and start <= p.span.start < chunk.limit]
        start = chunk.limit
        if unreadable:
            problems.append(unreadable[0])
            previous_failed = True
        elif previous_failed and not nearest(chunk.tokens[0].text, STATEMENT_WORDS):
            continue  # the rest of a statement that is already reported
        else:
            try:
                statements.append(_parse_statement(source, chunk))
                previous_failed = False
            except ProgramError as error:
                problems.extend(error.diagnostics)
                previous_failed = True
    problems.extend([p for p in scanned.problems if p.span and p.span.start >= start][:1])
    if problems:
        raise ProgramError(problems)
    comments, rest = share_out(source, scanned.comments, [chunk.end for chunk in chunks])
    commented = (replace(s, comments=c) for s, c in zip(statements, comments, strict=True))
    return Program(tuple(commented), rest, span=Span(0, len(text)))


def _chunks(tokens: Sequence[RawToken], length: int) -> Iterator[Chunk]:
    begin = 0
    for idx, token in enumerate(tokens):
        if token.is_symbol(";"):
            if idx > begin:
                yield Chunk(tuple(tokens[begin:idx]), token, token.span.end)
            begin = idx + 1
        elif idx > begin and token.first_on_line and starts_statement(tokens, idx):
            yield Chunk(tuple(tokens[begin:idx]), None, token.span.start)
            begin = idx
    if begin < len(tokens):
        yield Chunk(tuple(tokens[begin:]), None, length)


def _parse_statement(source: SourceText, chunk: Chunk) -> Statement:
    first = chunk.tokens[0]
    if first.upper not in STATEMENT_WORDS:
        raise ProgramError(_unknown_statement(source, first))
    reading = read(chunk.tokens)
    if reading.too_deep:
        raise _nested_too_deeply(source, chunk.tokens[reading.stopped_at - 1].span)
    if not reading.complete:
        raise ProgramError(explain(Site.of(source, reading, chunk.terminator)))
    if chunk.terminator is None:
        last = chunk.tokens[-1]
        raise ProgramError.of(
            "INK0103",
            "a statement ends with `;`",
            span=last.span,
            source=source,
            label="expected `;` after this",
        )
    tree = build_tree(reading.tokens())
    _refuse_deep_nesting(source, tree)
    try:
        statement: Statement = StatementBuilder(source).transform(tree)
    except VisitError as error:
        raise error.orig_exc from None
    return statement


def _unknown_statement(source: SourceText, first: RawToken) -> Diagnostic:
    meant = nearest(first.text, STATEMENT_WORDS, n=1)
    return Diagnostic(
        "INK0120",
        f"unknown statement `{first.text}`",
        first.span,
        source,
        notes=("a statement starts with STREAM, TABLE, RULE, EVENT or FORECAST",),
        helps=tuple(f"write `{word}`" for word in meant),
    )


def _refuse_deep_nesting(source: SourceText, tree: Tree[Token]) -> None:
    level: list[Tree[Token]] = [tree]
    for _ in range(DEEPEST_NESTING):
        level = [child for node in level for child in node.children if isinstance(child, Tree)]
    if level:
        raise _nested_too_deeply(source, span_of(level[0].meta))


def _nested_too_deeply(source: SourceText, span: Span) -> ProgramError:
    return ProgramError.of(
        "INK0119",
        f"nested more than {DEEPEST_NESTING} levels deep",
        span=span,
        source=source,
        helps=("split the event into several, or the value into derived columns",),
    )
