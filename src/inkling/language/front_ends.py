"""Chooses how a text is read: as rules of ETALIS when its name ends with `.ele`, else as a program of `.ink`."""

from inkling.language.ele import parse_rules
from inkling.language.parser import parse as parse_ink
from inkling.language.syntax import Program

RULE_SUFFIX = ".ele"


def is_rule_file(name: str) -> bool:
    return name.lower().endswith(RULE_SUFFIX)


def parse(text: str, name: str = "<string>") -> Program:
    """Reads a program; raises `ProgramError` with one diagnostic for each wrong statement.

    >>> program = parse("e(X) <- a(X) SEQ b(X).", "rules.ele")
    >>> [statement.name.text for statement in program.statements]
    ['a', 'b', 'e']
    """
    return parse_rules(text, name) if is_rule_file(name) else parse_ink(text, name)
