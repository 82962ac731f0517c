"""Printing then parsing is the identity, and printing twice is printing once."""

from hypothesis import given
from tests.kit.syntax_strategies import programs

from inkling.language import format_program, parse
from inkling.language.syntax import Program


@given(programs())
def test_parse_of_format_is_identity(program: Program) -> None:
    assert parse(format_program(program)) == program


@given(programs())
def test_format_is_idempotent(program: Program) -> None:
    once = format_program(program)
    assert format_program(parse(once)) == once


def test_only_an_argument_is_anything_without_quotes() -> None:
    text = 'EVENT e AS\n  PATTERN A a\n  HAVING near(_, "_" + 1) AND "_";\n'
    assert format_program(parse(text)) == text


def test_a_column_named_like_a_statement_may_begin_a_line() -> None:
    program = parse("EVENT e(\n  rule IN (1, 2) AND other AS a\n) AS PATTERN A;")
    assert parse(format_program(program)) == program
