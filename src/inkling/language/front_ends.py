"""Chooses how a text is read, by the end of its name: rules, patterns, queries, or else a program of `.ink`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from inkling.language.ele import format_rules, parse_rules
from inkling.language.lahar import format_queries, parse_queries
from inkling.language.parser import parse as parse_ink
from inkling.language.printer import format_program
from inkling.language.sre import format_patterns, parse_patterns
from inkling.language.syntax import Program


@dataclass(frozen=True, slots=True)
class FrontEnd:
    """A language that stands for programs: how it is read, and how it is printed."""

    parse: Callable[[str, str], Program]
    format: Callable[[str, str], str]


FRONT_ENDS: Mapping[str, FrontEnd] = MappingProxyType(
    {
        ".ele": FrontEnd(parse_rules, format_rules),  # rules of ETALIS
        ".lahar": FrontEnd(parse_queries, format_queries),  # queries of Lahar
        ".sre": FrontEnd(parse_patterns, format_patterns),  # patterns of Wayeb
    }
)


def front_end(name: str) -> FrontEnd | None:
    """The language of a file, None for a program."""
    return next((one for suffix, one in FRONT_ENDS.items() if name.lower().endswith(suffix)), None)


def parse(text: str, name: str = "<string>") -> Program:
    """Reads a program; raises `ProgramError` with one diagnostic for each wrong statement.

    >>> program = parse("e(X) <- a(X) SEQ b(X).", "rules.ele")
    >>> [statement.name.text for statement in program.statements]
    ['a', 'b', 'e']
    """
    language = front_end(name)
    return language.parse(text, name) if language else parse_ink(text, name)


def format_text(text: str, name: str = "<string>") -> str:
    """The same text in the layout of its language."""
    language = front_end(name)
    return language.format(text, name) if language else format_program(parse_ink(text, name))
