"""Words that have a meaning of their own, by the place where they have it.

The parser takes a word for a keyword only where the grammar allows that keyword; the sets here name
the places where a name could stand as well, so that the printer knows when to quote.
"""

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
