"""Parses a whole program statement by statement, so that one mistake does not hide the next."""

from collections.abc import Iterator, Sequence

from lark import Token, Tree

from inkling.errors import Diagnostic, ProgramError, nearest
from inkling.language.machine import span_of
from inkling.language.parser.mistakes import explain
from inkling.language.parser.scanner import SCANNER
from inkling.language.parser.site import Site
from inkling.language.parser.statements import StatementBuilder
from inkling.language.parser.words import MACHINE, read, starts_statement
from inkling.language.reading import Chunk, read_statements
from inkling.language.scanning import RawToken
from inkling.language.syntax import Program, Statement
from inkling.source import SourceText, Span

STATEMENT_WORDS = ("STREAM", "TABLE", "RULE", "EVENT", "FORECAST")
DEEPEST_NESTING = 150


def parse(text: str, name: str = "<string>") -> Program:
    """Reads a program; raises `ProgramError` with one diagnostic for each wrong statement.

    >>> program = parse("STREAM Cpu(node STRING, load DOUBLE) KEY node TIME t;")
    >>> program.statements[0].name.text
    'Cpu'
    """
    source = SourceText(name, text)
    scanned = SCANNER.scan(source)

    def is_rest(chunk: Chunk) -> bool:
        return not nearest(chunk.tokens[0].text, STATEMENT_WORDS)

    statements, rest = read_statements(
        source,
        scanned,
        list(_chunks(scanned.tokens, len(text))),
        lambda chunk: _parse_statement(source, chunk),
        is_rest=is_rest,
    )
    return Program(statements, rest, span=Span(0, len(text)))


def _chunks(tokens: Sequence[RawToken], length: int) -> Iterator[Chunk]:
    begin = 0
    for idx, token in enumerate(tokens):
        if token.is_symbol(";"):
            if idx > begin:
                yield Chunk.of(tokens[begin:idx], token, token.span.end)
            begin = idx + 1
        elif idx > begin and token.first_on_line and starts_statement(tokens, idx):
            yield Chunk.of(tokens[begin:idx], None, token.span.start)
            begin = idx
    if begin < len(tokens):
        yield Chunk.of(tokens[begin:], None, length)


def _parse_statement(source: SourceText, chunk: Chunk) -> Statement:
    first = chunk.tokens[0]
    if first.upper not in STATEMENT_WORDS:
        raise ProgramError(_unknown_statement(source, first))
    reading = read(chunk.tokens)
    if reading.too_deep:
        raise _nested_too_deeply(source, chunk.tokens[reading.stopped_at - 1].span)
    if not reading.complete:
        raise ProgramError(explain(Site.of(source, reading, chunk.after)))
    if chunk.after is None:
        last = chunk.tokens[-1]
        raise ProgramError.of(
            "INK0103",
            "a statement ends with `;`",
            span=last.span,
            source=source,
            label="expected `;` after this",
        )
    tree = MACHINE.build(reading.terminals, reading.raw)
    _refuse_deep_nesting(source, tree)
    statement: Statement = StatementBuilder(source).built(tree)
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
