"""Reads a file statement by statement, so that an error in one statement does not hide errors in the next."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from inkling.errors import Diagnostic, ProgramError
from inkling.language import syntax as s
from inkling.language.kit.scanning import RawToken, Scan, comments_by_statement
from inkling.language.syntax.statements import StatementNode
from inkling.source import SourceText

File = TypeVar("File")
Statement = TypeVar("Statement", bound=StatementNode)


@dataclass(frozen=True, slots=True)
class Notation(Generic[File]):
    """A notation other than `.ink`: how its files are read, translated into the syntax of `.ink`, and printed."""

    read: Callable[[SourceText], File]
    translate: Callable[[File, SourceText], s.Program]
    print: Callable[[File], str]

    def parse(self, text: str, name: str = "<string>") -> s.Program:
        """The program that a file is translated into; raises `ProgramError` with every error found."""
        source = SourceText(name, text)
        return self.translate(self.read(source), source)

    def format(self, text: str, name: str = "<string>") -> str:
        """The same file in the standard layout."""
        return self.print(self.read(SourceText(name, text)))


@dataclass(frozen=True, slots=True)
class Chunk:
    """The tokens of one statement, and the token that ends it; None if that token is missing."""

    tokens: tuple[RawToken, ...]
    after: RawToken | None
    end: int
    limit: int  # where the next statement may begin

    @classmethod
    def of(cls, tokens: Sequence[RawToken], after: RawToken | None, limit: int) -> Chunk:
        return cls(tuple(tokens), after, (after or tokens[-1]).span.end, limit)


def read_statements(
    source: SourceText,
    scanned: Scan,
    chunks: Sequence[Chunk],
    read: Callable[[Chunk], Statement],
    *,
    start: int = 0,
    problems: Iterable[Diagnostic] = (),
    is_rest: Callable[[Chunk], bool] = lambda chunk: False,
) -> tuple[tuple[Statement, ...], tuple[str, ...]]:
    """Statements with their comments, and the comments after the last one.

    Raises `ProgramError` with `problems` and one diagnostic for each wrong statement. A chunk behind a wrong one can
    be the rest of the same statement, which is reported already: `is_rest` recognizes it.
    """
    problems = list(problems)
    found: list[Statement] = []
    failed = False
    for chunk in chunks:
        unreadable = [p for p in scanned.problems if p.span and start <= p.span.start < chunk.limit]
        start = chunk.limit
        if unreadable:
            problems.append(unreadable[0])
            failed = True
        elif not (failed and is_rest(chunk)):
            try:
                found.append(read(chunk))
                failed = False
            except ProgramError as error:
                problems.extend(error.diagnostics)
                failed = True
    problems.extend([p for p in scanned.problems if p.span and p.span.start >= start][:1])
    if problems:
        raise ProgramError(problems)
    shares, rest = comments_by_statement(source, scanned.comments, [chunk.end for chunk in chunks])
    return tuple(replace(one, comments=share) for one, share in zip(found, shares, strict=True)), rest
