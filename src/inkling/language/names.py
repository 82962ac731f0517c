"""How names and texts are written: bare when they can be, else in quotes.

The parser takes a word for a keyword only where the grammar allows that keyword; the sets here name
the places where a name could stand as well, so that the printer knows when to quote.
"""

import re
from collections.abc import Set
from typing import get_args

from inkling.language.syntax import RELATIONS, AggregateName

AGGREGATES: frozenset[str] = frozenset(get_args(AggregateName))
BUILT_IN_FUNCTIONS = AGGREGATES | {"PREV", "SINCE_CHANGE", "START", "END", "ID"}

IN_EXPRESSIONS = frozenset({"NOT", "TRUE", "FALSE", "NULL", "LONGER", "SHORTER"})
AFTER_TIME = frozenset({"FROM", "BETWEEN"})
STARTING_A_PATTERN = frozenset({"SEQ", "NOT", "OPTIONAL", "AFTER", "ALL", "SOME", "COMPLEMENT", "WINDOW", "FORECAST"})
AFTER_A_PATTERN = frozenset(RELATIONS) | {
    "AND",
    "OR",
    "PAR",
    "EXCEPT",
    "BETWEEN",
    "CHECK",
    "WHERE",
    "WITHIN",
    "HAVING",
    "PARTITION",
    "OVER",
    "CONSUME",
    "RETURN",
    "PER",
    "CONFIDENCE",
    "TOP",
    "KEEP",
    "ON",
    "EXACT",
    "SAMPLED",
}
AFTER_A_WINDOW = frozenset({"LAST"})

# A word runs up to the next space or ASCII punctuation, so that marks of any script belong to it.
WORD = r"[^\W\d][^\s!-/:-@\[-^`{-~]*"

_WORD = re.compile(WORD)


def written_name(name: str, reserved: Set[str] = frozenset()) -> str:
    """A name as it may stand in a program, where some words are reserved.

    >>> written_name("road"), written_name("not", {"NOT"}), written_name("top speed")
    ('road', '"not"', '"top speed"')
    """
    bare = _WORD.fullmatch(name) and name.isidentifier() and name != "_"
    if bare and name.upper() not in reserved:
        return name
    return '"' + name.replace('"', '""') + '"'


def written_text(text: str) -> str:
    """A text between single quotes."""
    return "'" + text.replace("'", "''") + "'"
