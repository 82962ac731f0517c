"""Symbolic regular expressions over events, and the automata that find their matches.

In: guards on the stream and the predicate bits of a row. Out: where each pattern holds, with its first match
there. `inkling.automata.engine` runs patterns and loads Numba; what is named here does not. Imports
`inkling.kernels` and nothing else of ours.
"""

from inkling.automata.build import regex_to_nfa
from inkling.automata.dfa import Dfa
from inkling.automata.guards import ANY_EVENT, Alphabet, Guard
from inkling.automata.limits import TooManyStates, TooManySymbols
from inkling.automata.meaning import Counting, Pattern
from inkling.automata.policies import Component, any_, next_, strict
from inkling.automata.regex import (
    SKIP,
    AnyWord,
    Complement,
    Concat,
    Epsilon,
    Intersect,
    Letter,
    Regex,
    Repeat,
    Union,
    at_most,
)

__all__ = [
    "ANY_EVENT",
    "SKIP",
    "Alphabet",
    "AnyWord",
    "Complement",
    "Component",
    "Concat",
    "Counting",
    "Dfa",
    "Epsilon",
    "Guard",
    "Intersect",
    "Letter",
    "Pattern",
    "Regex",
    "Repeat",
    "TooManyStates",
    "TooManySymbols",
    "Union",
    "any_",
    "at_most",
    "next_",
    "regex_to_nfa",
    "strict",
]
