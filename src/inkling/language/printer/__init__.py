"""Syntax to text, in the one layout that `inkling fmt` gives every program."""

from inkling.language.printer.expressions import expression
from inkling.language.printer.layout import Group, lay_out
from inkling.language.printer.patterns import pattern
from inkling.language.printer.statements import statement
from inkling.language.scanning import comment_lines
from inkling.language.syntax import Component, Expr, Program, Statement

__all__ = ["WIDTH", "format_expression", "format_pattern", "format_program", "format_statement"]


WIDTH = 100
ONE_LINE = 10**9


def format_program(program: Program, *, width: int = WIDTH) -> str:
    """The text of a program; parsing it gives an equal program, formatting it again the same text.

    >>> from inkling.language import parse
    >>> print(format_program(parse("stream A(x int) time t; event e as pattern A a;")), end="")
    STREAM A(x INT) TIME t;
    <BLANKLINE>
    EVENT e AS
      PATTERN A a;
    """
    parts: list[str] = []
    previous: Statement | None = None
    for node in program.statements:
        text = format_statement(node, width=width)
        if previous is not None:
            together = type(node) is type(previous) and "\n" not in parts[-1] + text
            parts.append("\n" if together else "\n\n")
        parts.append(text)
        previous = node
    if program.comments:
        parts.append("\n\n" if parts else "")
        parts.append("\n".join(comment_lines(program.comments)))
    return "".join(parts) + "\n" if parts else ""


def format_statement(node: Statement, *, width: int = WIDTH) -> str:
    """The text of one statement with its comments above it and its semicolon."""
    text = lay_out((statement(node), ";"), width)
    return "\n".join([*comment_lines(node.comments), text])


def format_expression(node: Expr) -> str:
    """The text of a value or a condition on one line."""
    return lay_out(Group(expression(node)), ONE_LINE)


def format_pattern(node: Component) -> str:
    """The text of a pattern on one line."""
    return lay_out(Group(pattern(node)), ONE_LINE)
