"""How names and strings are written: names without quotes where possible.

A word is a keyword only where the grammar allows that keyword. The sets below list the keywords at places where a name
is possible too, so that the printer knows when to quote a name.
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
    "OPTIONAL",
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
    "HIDDEN",
}
AFTER_A_WINDOW = frozenset({"LAST"})

# A word runs up to the next space or ASCII punctuation, so that marks of any script belong to it.
WORD = r"[^\W\d][^\s!-/:-@\[-^`{-~]*"

_WORD = re.compile(WORD)


def written_name(name: str, reserved: Set[str] = frozenset()) -> str:
    """A name as it is written where some words are reserved.

    >>> written_name("road"), written_name("not", {"NOT"}), written_name("top speed")
    ('road', '"not"', '"top speed"')
    """
    bare = _WORD.fullmatch(name) and name.isidentifier() and name != "_"
    if bare and name.upper() not in reserved:
        return name
    return '"' + name.replace('"', '""') + '"'


def written_text(text: str) -> str:
    """A string in single quotes."""
    return "'" + text.replace("'", "''") + "'"
