"""Chooses the notation of a text by its file extension: `.ele`, `.sre`, `.lahar`, `.sase`, or else `.ink`."""

from importlib import import_module
from typing import Any

from inkling.language import syntax as s
from inkling.language.kit.reading import Notation
from inkling.language.parser import parse as parse_ink
from inkling.language.printer import format_program

NOTATIONS = {".ele": "ETALIS", ".lahar": "LAHAR", ".sase": "SASE", ".sre": "WAYEB"}
"""Each package `inkling.language.NAME` holds the notation of files `.NAME`; imported when such a file is read."""


def notation_of(name: str) -> Notation[Any] | None:
    """The notation of a file; None for `.ink`."""
    for suffix, notation in NOTATIONS.items():
        if name.lower().endswith(suffix):
            found: Notation[Any] = getattr(import_module(f"inkling.language{suffix}"), notation)
            return found
    return None


def parse(text: str, name: str = "<string>") -> s.Program:
    """Reads a program; raises `ProgramError` with one diagnostic for each wrong statement.

    >>> program = parse("e(X) <- a(X) SEQ b(X).", "rules.ele")
    >>> [statement.name.text for statement in program.statements]
    ['a', 'b', 'e']
    """
    notation = notation_of(name)
    return notation.parse(text, name) if notation else parse_ink(text, name)


def format_text(text: str, name: str = "<string>") -> str:
    """The same text in the layout of its language."""
    notation = notation_of(name)
    return notation.format(text, name) if notation else format_program(parse_ink(text, name))
