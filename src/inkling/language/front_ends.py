"""Chooses the notation of a text by its file extension: `.ele`, `.epsparql`, `.lahar`, `.sase`, `.sre`, or `.ink`."""

from importlib import import_module
from typing import Any

from inkling.language import syntax as s
from inkling.language.kit.reading import Notation
from inkling.language.parser import parse as parse_ink
from inkling.language.printer import format_program

NOTATIONS = {".ele": "ETALIS", ".epsparql": "EPSPARQL", ".lahar": "LAHAR", ".sase": "SASE", ".sre": "WAYEB"}
"""Each package `inkling.language.NAME` holds the notation of files `.NAME`; imported when such a file is read."""

ALSO = {".rq": ".epsparql"}
"""Other suffixes of files of a notation: `.rq` is that of SPARQL."""


def notation_of(name: str) -> Notation[Any] | None:
    """The notation of a file; None for `.ink`."""
    for suffix in (*NOTATIONS, *ALSO):
        if name.lower().endswith(suffix):
            package = ALSO.get(suffix, suffix)
            found: Notation[Any] = getattr(import_module(f"inkling.language{package}"), NOTATIONS[package])
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
