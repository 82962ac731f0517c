"""Reads a rule file statement by statement, so that one mistake does not hide the next."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from lark import Token
from lark.exceptions import VisitError

from inkling.errors import Diagnostic, ProgramError
from inkling.language.comments import share_out
from inkling.language.ele.machine import END, Stack, after, build_tree, first_stack
from inkling.language.ele.mistakes import Stop, explain
from inkling.language.ele.scanner import RawToken, scan
from inkling.language.ele.terms import RuleFile, Statement
from inkling.language.ele.tree import TermBuilder
from inkling.language.ele.words import readings
from inkling.source import SourceText, Span

DEEPEST_STACK = 600


@dataclass(frozen=True, slots=True)
class Chunk:
    """The tokens of one statement, and its full stop unless that is missing."""

    tokens: tuple[RawToken, ...]
    stop: RawToken | None
    limit: int  # where the next statement may begin

    @property
    def end(self) -> int:
        return (self.stop or self.tokens[-1]).span.end


def read_rules(source: SourceText) -> RuleFile:
    """The statements of a file; raises `ProgramError` with one diagnostic for each wrong statement."""
    scanned = scan(source)
    chunks = list(_chunks(scanned.tokens, len(source.text)))
    problems: list[Diagnostic] = []
    statements: list[Statement] = []
    start = 0
    for chunk in chunks:
        unreadable = [p for p in scanned.problems if p.span and start <= p.span.start < chunk.limit]
        start = chunk.limit
        if unreadable:
            problems.append(unreadable[0])
            continue
        try:
            statements.append(_read_statement(source, chunk))
        except ProgramError as error:
            problems.extend(error.diagnostics)
    problems.extend([p for p in scanned.problems if p.span and p.span.start >= start][:1])
    if problems:
        raise ProgramError(problems)
    shares, rest = share_out(source, scanned.comments, [chunk.end for chunk in chunks])
    commented = (replace(s, comments=share) for s, share in zip(statements, shares, strict=True))
    return RuleFile(tuple(commented), rest)


def _chunks(tokens: Sequence[RawToken], length: int) -> Iterator[Chunk]:
    begin = 0
    for idx, token in enumerate(tokens):
        if token.kind == "STOP":
            if idx > begin:
                yield Chunk(tuple(tokens[begin:idx]), token, token.span.end)
            begin = idx + 1
    if begin < len(tokens):
        yield Chunk(tuple(tokens[begin:]), None, length)


def _read_statement(source: SourceText, chunk: Chunk) -> Statement:
    terminals: list[str] = []
    stacks: list[Stack] = [first_stack()]
    for token in chunk.tokens:
        step = next(((t, s) for t in readings(token) if (s := after(stacks[-1], t)) is not None), None)
        if step is None:
            break
        terminals.append(step[0])
        stacks.append(step[1])
        if len(step[1]) > DEEPEST_STACK:
            raise ProgramError.of("INK0119", "nested too deeply", span=token.span, source=source)
    complete = len(terminals) == len(chunk.tokens) and after(stacks[-1], END) is not None
    if not complete:
        raise ProgramError(explain(Stop(source, chunk.tokens, chunk.stop, tuple(stacks))))
    if chunk.stop is None:
        raise ProgramError.of(
            "INK0134",
            "a statement ends with `.`",
            span=chunk.tokens[-1].span,
            source=source,
            label="expected `.` after this",
        )
    tokens = [
        Token(terminal, raw.value, raw.span.start, end_pos=raw.span.end)
        for terminal, raw in zip(terminals, chunk.tokens, strict=True)
    ]
    try:
        statement: Statement = TermBuilder(source).transform(build_tree(tokens))
    except VisitError as error:
        raise error.orig_exc from None
    return replace(statement, span=Span(chunk.tokens[0].span.start, chunk.end))
