"""The states of an automaton in which the first part of a pattern has just been matched.

>>> from inkling.automata.guards import Guard
>>> from inkling.automata.regex import RegexPattern
>>> from inkling.automata.regex import AnyWord, Concat, Symbol
>>> first, second = (Symbol(Guard(bits=frozenset({bit})), bit) for bit in (0, 1))
>>> compiled = CompiledPattern.of(RegexPattern(Concat((first, AnyWord(), second))), 1)
>>> found = prefix_states(compiled, compiled.dfa(), Concat((first, AnyWord())))
>>> found is not None and found.states.tolist()
[False, True, True]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inkling.automata.compiled import CompiledPattern, regex_to_nfa
from inkling.automata.dfa import Dfa, accepting, detecting
from inkling.automata.guards import RESET
from inkling.automata.nfa import marked_only
from inkling.automata.regex import Regex
from inkling.automata.symbols import flags

Truth = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class PrefixStates:
    """The states of both automata in which a prefix of the pattern ends at the current event."""

    states: Truth  # of the deterministic automaton
    runs: Truth  # of the nondeterministic one


def prefix_states(pattern: CompiledPattern, dfa: Dfa, prefix: Regex) -> PrefixStates | None:
    """The states after words of `prefix`, which uses guards of the pattern; None if the states do not determine it."""
    n_symbols = pattern.alphabet.n_symbols
    words = marked_only(regex_to_nfa(prefix, pattern.alphabet))
    ends = detecting(words, n_symbols)
    events = np.array([one for one in range(n_symbols) if one != RESET])
    pairs = np.unique(np.column_stack([dfa.columns[events], ends.columns[events]]), axis=0)
    yes, no = np.zeros(dfa.n_states, bool), np.zeros(dfa.n_states, bool)
    seen, waiting = {(0, 0)}, [(0, 0)]
    for state, at in waiting:
        (yes if ends.final[at] else no)[state] = True
        for column, other in pairs.tolist():
            reached = int(dfa.delta[state, column])
            # with CONSUME RESTART, a match ends all partial matches
            after = reached, 0 if pattern.restart and dfa.final[reached] else int(ends.delta[at, other])
            if after not in seen:
                seen.add(after)
                waiting.append(after)
    if (yes & no).any():
        return None
    return PrefixStates(yes, _runs(pattern, accepting(words, n_symbols)))


def _runs(pattern: CompiledPattern, ends: Dfa) -> Truth:
    """States of the nondeterministic automaton after some word of the prefix."""
    nfa, n_symbols = pattern.nfa, pattern.alphabet.n_symbols
    found = np.zeros(nfa.n_states, bool)
    seen, waiting = {(0, 0)}, [(0, 0)]
    for state, at in waiting:
        found[state] |= bool(ends.final[at])
        for edge in nfa.edges[state]:
            for column in np.unique(ends.columns[flags(edge.symbols, n_symbols)]).tolist():
                after = edge.target, int(ends.delta[at, column])
                if after not in seen:
                    seen.add(after)
                    waiting.append(after)
    return found
