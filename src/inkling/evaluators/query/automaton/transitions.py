"""What letters do in the automaton of a query.

A letter is the union of the words of all events of one time; letter 0 stands for nothing that matters, which leaves
every state as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inkling.analysis.query.chain_automaton import ChainAutomaton
from inkling.automata.compiled import CompiledPattern
from inkling.automata.dfa import Dfa
from inkling.automata.symbols import flags
from inkling.model.batch import Ints


@dataclass(frozen=True, slots=True)
class LetterTables:
    """What letters do: to states, to runs that tell where a match began, and to each other."""

    words: Ints  # of each letter, in order
    union: Ints  # [letter, letter]
    delta: Ints  # [state, letter]
    hit: NDArray[np.bool_]  # [state, letter]: a match ends with it
    moves: Ints  # edges of letter l are moves[l]:moves[l + 1]
    source: Ints
    target: Ints
    marked: NDArray[np.bool_]
    final: NDArray[np.bool_]  # of each state of runs

    @property
    def moving(self) -> tuple[np.ndarray, ...]:
        """What letters do to states and to runs, as kernels take it."""
        return (self.delta, self.hit, self.moves, self.source, self.target, self.marked, self.final)

    def letters(self, words: Ints) -> Ints:
        return np.searchsorted(self.words, words)


def chain_tables(automaton: ChainAutomaton, words: Ints) -> LetterTables:
    """For the words of some rows and all that can come of them together."""
    letters = closed(np.unique(words))
    symbols = [0] + [automaton.symbol(int(word)) for word in letters[1:]]
    return letter_tables(automaton.pattern, automaton.dfa, letters, symbols, np.searchsorted(letters, unions(letters)))


def letter_tables(pattern: CompiledPattern, dfa: Dfa, words: Ints, symbols: Sequence[int], union: Ints) -> LetterTables:
    """Tables for letters that stand for symbols; the first stands for nothing."""
    n_symbols = pattern.alphabet.n_symbols
    delta = np.column_stack(
        [np.arange(dfa.n_states), *(dfa.delta[:, dfa.columns[symbol]] for symbol in symbols[1:])]
    ).astype(np.int64)
    hit = dfa.final[delta]
    hit[:, 0] = False
    edges: list[list[tuple[int, int, bool]]] = [[] for _ in range(n_symbols)]
    for state, out in enumerate(pattern.nfa.edges):
        for edge in out:
            for symbol in np.flatnonzero(flags(edge.symbols, n_symbols)):
                edges[symbol].append((state, edge.target, bool(edge.mark)))
    mine = [[], *(edges[symbol] for symbol in symbols[1:])]
    flat = [edge for group in mine for edge in group]
    final = np.zeros(pattern.nfa.n_states, bool)
    final[list(pattern.nfa.finals)] = True
    return LetterTables(
        words,
        union,
        delta,
        hit,
        np.concatenate([[0], np.cumsum([len(group) for group in mine])]).astype(np.int64),
        np.array([edge[0] for edge in flat], np.int64),
        np.array([edge[1] for edge in flat], np.int64),
        np.array([edge[2] for edge in flat], bool),
        final,
    )


def closed(words: Ints) -> Ints:
    """The words and their unions, and nothing."""
    found = np.unique(np.append(words, 0))
    while True:
        wider = np.unique(unions(found))
        if len(wider) == len(found):
            return found
        found = wider


def unions(words: Ints) -> Ints:
    return words[:, None] | words[None, :]
