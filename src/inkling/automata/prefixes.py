"""The states of an automaton in which the first part of a pattern has just been matched.

>>> from inkling.automata.guards import Guard
>>> from inkling.automata.regex import AnyWord, Concat, RegexPattern, Symbol
>>> first, second = (Symbol(Guard(bits=frozenset({bit})), bit) for bit in (0, 1))
>>> compiled = CompiledPattern.of(RegexPattern(Concat((first, AnyWord(), second))), 1)
>>> found = prefix_states(compiled, compiled.dfa(), Concat((first, AnyWord())))
>>> found is not None and found.states.tolist()
[False, True, True]
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from inkling.automata.compiled import CompiledPattern, regex_to_nfa
from inkling.automata.dfa import Dfa, accepting, detecting
from inkling.automata.guards import RESET
from inkling.automata.limits import StateNumbers, TooManyStates, TooManySymbols
from inkling.automata.nfa import Nfa, NfaEdge, marked_only, merged
from inkling.automata.regex import Regex
from inkling.automata.symbols import flags, from_flags

Truth = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class PrefixStates:
    """The states of both automata in which a prefix of the pattern ends at the current event."""

    states: Truth  # of the deterministic automaton
    runs: Truth  # of the nondeterministic one


def prefix_states(pattern: CompiledPattern, dfa: Dfa, prefix: Regex) -> PrefixStates | None:
    """The states after words of `prefix`, which uses guards of the pattern; None if the states do not determine it."""
    n_symbols = pattern.alphabet.n_symbols
    try:
        words = marked_only(regex_to_nfa(prefix, pattern.alphabet))
        ends = detecting(words, n_symbols)
    except (TooManyStates, TooManySymbols):
        return None
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
    runs = np.zeros(pattern.nfa.n_states, bool)
    runs[sorted(_runs_at(pattern, accepting(words, n_symbols), final=True))] = True
    return PrefixStates(yes, runs)


def distinguishing(
    pattern: CompiledPattern, dfa: Dfa, prefixes: Iterable[Regex], max_states: int
) -> tuple[CompiledPattern, Dfa]:
    """The automata with so many states that none stands for both cases, for any of the prefixes."""
    if dfa.n_states > max_states:
        raise TooManyStates(dfa.n_states, max_states)
    n_symbols = pattern.alphabet.n_symbols
    for prefix in prefixes:
        words = marked_only(regex_to_nfa(prefix, pattern.alphabet, max_states=max_states))
        if prefix_states(pattern, dfa, prefix) is None:
            ends = detecting(words, n_symbols, max_states=max_states)
            dfa = _side_by_side(dfa, ends, max_states, restart=pattern.restart)
        ends = accepting(words, n_symbols)
        if _runs_at(pattern, ends, final=True) & _runs_at(pattern, ends, final=False):
            pattern = replace(pattern, nfa=_runs_side_by_side(pattern, ends, max_states))
    return pattern, dfa


def _side_by_side(dfa: Dfa, ends: Dfa, max_states: int, *, restart: bool) -> Dfa:
    """The first automaton, whose states also say in which state the second one is."""
    reset = np.arange(len(dfa.columns)) == RESET
    pairs, columns = np.unique(
        np.column_stack([dfa.columns, np.where(reset, -1, ends.columns)]), axis=0, return_inverse=True
    )
    number, rows = StateNumbers((0, 0), max_states), []
    for state, at in number.order:
        row = []
        for column, other in pairs.tolist():
            reached = int(dfa.delta[state, column])
            begins = other < 0 or (restart and dfa.final[reached])
            row.append(number[reached, 0 if begins else int(ends.delta[at, other])])
        rows.append(row)
    final = dfa.final[[state for state, _ in number.order]]
    return Dfa(np.array(rows, np.int32), final, columns.reshape(-1).astype(np.int32))


def _runs_side_by_side(pattern: CompiledPattern, ends: Dfa, max_states: int) -> Nfa:
    """The automaton of runs, whose states also say in which state the second automaton is."""
    symbols_of = [from_flags(ends.columns == column) for column in range(ends.n_columns)]
    number, edges = StateNumbers((0, 0), max_states), []
    for state, at in number.order:
        found = []
        for edge in pattern.nfa.edges[state]:
            for column, symbols in enumerate(symbols_of):
                if edge.symbols & symbols:
                    target = number[edge.target, int(ends.delta[at, column])]
                    found.append(NfaEdge(edge.symbols & symbols, edge.mark, target))
        edges.append(merged(found))
    finals = frozenset(place for place, (state, _) in enumerate(number.order) if state in pattern.nfa.finals)
    return Nfa(tuple(edges), finals)


def _runs_at(pattern: CompiledPattern, ends: Dfa, *, final: bool) -> set[int]:
    """States of runs that some word leads to which the second automaton accepts, or does not accept."""
    seen, waiting = {(0, 0)}, [(0, 0)]
    for state, at in waiting:
        for edge in pattern.nfa.edges[state]:
            for column in np.unique(ends.columns[flags(edge.symbols, pattern.alphabet.n_symbols)]).tolist():
                after = edge.target, int(ends.delta[at, column])
                if after not in seen:
                    seen.add(after)
                    waiting.append(after)
    return {state for state, at in waiting if bool(ends.final[at]) == final}
