"""Reads a rule file statement by statement, so that one mistake does not hide the next."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from inkling.errors import ProgramError
from inkling.language.ele.mistakes import Stop, explain
from inkling.language.ele.scanner import SCANNER, readings
from inkling.language.ele.terms import RuleFile, Statement
from inkling.language.ele.tree import TermBuilder
from inkling.language.machine import END, Machine
from inkling.language.reading import Chunk, read_statements
from inkling.language.scanning import RawToken
from inkling.source import SourceText, Span

DEEPEST_STACK = 600


MACHINE = Machine("inkling.language.ele")


def read_rules(source: SourceText) -> RuleFile:
    """The statements of a file; raises `ProgramError` with one diagnostic for each wrong statement."""
    scanned = SCANNER.scan(source)
    chunks = list(_chunks(scanned.tokens, len(source.text)))
    return RuleFile(*read_statements(source, scanned, chunks, lambda chunk: _read_statement(source, chunk)))


def _chunks(tokens: Sequence[RawToken], length: int) -> Iterator[Chunk]:
    begin = 0
    for idx, token in enumerate(tokens):
        if token.kind == "STOP":
            if idx > begin:
                yield Chunk.of(tokens[begin:idx], token, token.span.end)
            begin = idx + 1
    if begin < len(tokens):
        yield Chunk.of(tokens[begin:], None, length)


def _read_statement(source: SourceText, chunk: Chunk) -> Statement:
    terminals: list[str] = []
    history = [MACHINE.initial()]
    for token in chunk.tokens:
        step = next(((t, s) for t in readings(token) if (s := history[-1].after(t)) is not None), None)
        if step is None:
            break
        terminals.append(step[0])
        history.append(step[1])
        if len(step[1].stack) > DEEPEST_STACK:
            raise ProgramError.of("INK0119", "nested too deeply", span=token.span, source=source)
    complete = len(terminals) == len(chunk.tokens) and history[-1].after(END) is not None
    if not complete:
        raise ProgramError(explain(Stop(source, chunk.tokens, chunk.after, tuple(history))))
    if chunk.after is None:
        raise ProgramError.of(
            "INK0134",
            "a statement ends with `.`",
            span=chunk.tokens[-1].span,
            source=source,
            label="expected `.` after this",
        )
    statement: Statement = TermBuilder(source).built(MACHINE.build(terminals, chunk.tokens))
    return replace(statement, span=Span(chunk.tokens[0].span.start, chunk.end))
