"""Syntax to text: documents for expressions, patterns and statements, laid out on lines."""

from inkling.language.printer.program import (
    WIDTH,
    format_expression,
    format_pattern,
    format_program,
    format_statement,
)

__all__ = ["WIDTH", "format_expression", "format_pattern", "format_program", "format_statement"]
