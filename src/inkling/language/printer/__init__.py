"""Syntax to text, in the one layout that `inkling fmt` gives every program."""

from inkling.language.printer.statements import format_expression, format_pattern, format_program, format_statement

__all__ = ["format_expression", "format_pattern", "format_program", "format_statement"]
