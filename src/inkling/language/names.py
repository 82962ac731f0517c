"""How names and texts are written: bare when they can be, else in quotes."""

import re
from collections.abc import Set

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
