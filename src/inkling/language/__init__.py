"""Text ⇄ syntax: `parse` reads a program, `format_program` writes one, `syntax` holds its nodes.

Text enters, a `syntax.Program` leaves; the binder and the fluent API in `build` share that tree.
"""

from inkling.language.front_ends import parse
from inkling.language.printer import format_expression, format_pattern, format_program, format_statement

__all__ = ["format_expression", "format_pattern", "format_program", "format_statement", "parse"]
