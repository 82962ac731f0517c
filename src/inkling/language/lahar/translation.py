"""A query file as a program: streams, tables, and an event for each query."""

from __future__ import annotations

from inkling.errors import Diagnostic, ProgramError
from inkling.language import syntax as s
from inkling.language.lahar import checks, declarations
from inkling.language.lahar import terms as t
from inkling.language.lahar.declarations import Declared, declared
from inkling.language.lahar.patterns import Shapes
from inkling.source import SourceText, Span


def translate(file: t.QueryFile, source: SourceText) -> s.Program:
    """The program that queries stand for; raises `ProgramError` with every mistake found."""
    known = declared(file)
    problems: list[Diagnostic] = [*declarations.mistakes(file, source)]
    for one in file.statements:
        if isinstance(one, t.Asked):
            problems += checks.mistakes(one, known, source)
    if problems:
        raise ProgramError(problems)
    statements = tuple(_statement(one, known) for one in file.statements)
    return s.Program(statements, file.comments, span=Span(0, len(source.text)))


def _statement(node: t.Statement, known: Declared) -> s.Statement:
    match node:
        case t.Stream():
            return declarations.stream_of(node)
        case t.Relation():
            return declarations.table_of(node)
        case t.Asked():
            return _event(node, known)


def _event(asked: t.Asked, known: Declared) -> s.EventDecl:
    """One answer for each end, or only one; for each value of the variables in the head, or for anyone."""
    shapes = Shapes(known.streams)
    body = shapes.body(asked.query)
    return s.EventDecl(
        s.Ident(asked.name.text, span=asked.name.span),
        tuple(s.Item(shapes.value_of(name), s.Ident(name.text, span=name.span), span=name.span) for name in asked.head),
        body,
        per="VALUES" if asked.ever else "END",
        span=asked.span,
        comments=asked.comments,
    )
