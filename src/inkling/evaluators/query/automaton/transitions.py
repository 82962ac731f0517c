"""Transition tables of the automaton of a query, by symbol (Lahar, section 3.1.1).

Each event has a predicate mask: the subgoals for which it is a candidate, and those that accept it. A symbol is the
union of the predicate masks of all events of one time. Symbol 0 is the empty mask, which leaves every state as it is.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inkling.analysis.query.chain_automaton import ChainAutomaton
from inkling.automata.compiled import CompiledPattern
from inkling.automata.dfa import Dfa
from inkling.automata.symbols import flags
from inkling.kernels.query.forward import Transitions
from inkling.model.batch import Ints


@dataclass(frozen=True, slots=True)
class SymbolTables:
    """Transitions of the deterministic automaton (states) and of the nondeterministic one (runs) by symbol.

    States carry probabilities; runs show where a match began.
    """

    predicates: Ints  # the predicate mask of each symbol, in ascending order
    union: Ints  # [symbol, symbol]: both at one time
    delta: Ints  # [state, symbol]
    hit: NDArray[np.bool_]  # [state, symbol]: a match ends with it
    moves: Ints  # edges of symbol y are moves[y]:moves[y + 1]
    source: Ints
    target: Ints
    marked: NDArray[np.bool_]  # of each edge: the event belongs to the match
    final: NDArray[np.bool_]  # of each state of runs
    idle: NDArray[np.bool_]  # of each state: the same matches follow as in the initial one
    open: NDArray[np.bool_]  # of each state of runs but the first: a match can continue from it

    @property
    def transitions(self) -> Transitions:
        """The tables as the kernel takes them."""
        return Transitions(
            self.union, self.delta, self.hit, self.moves, self.source, self.target, self.marked, self.final
        )

    def symbols(self, predicates: Ints) -> Ints:
        return np.searchsorted(self.predicates, predicates)


def chain_tables(automaton: ChainAutomaton, predicates: Ints) -> SymbolTables:
    """Tables for some predicate masks and all of their unions."""
    symbols = closed(np.unique(predicates))
    minterms = [0] + [automaton.symbol(int(mask)) for mask in symbols[1:]]
    return symbol_tables(automaton.pattern, automaton.dfa, symbols, minterms, np.searchsorted(symbols, unions(symbols)))


def symbol_tables(
    pattern: CompiledPattern, dfa: Dfa, predicates: Ints, minterms: Sequence[int], union: Ints
) -> SymbolTables:
    """Tables for symbols, each with its minterm of the compiled pattern; symbol 0 has none."""
    n_minterms = pattern.alphabet.n_symbols
    delta = np.column_stack(
        [np.arange(dfa.n_states), *(dfa.delta[:, dfa.columns[minterm]] for minterm in minterms[1:])]
    ).astype(np.int64)
    hit = dfa.final[delta]
    hit[:, 0] = False
    edges: list[list[tuple[int, int, bool]]] = [[] for _ in range(n_minterms)]
    for state, out in enumerate(pattern.nfa.edges):
        for edge in out:
            for minterm in np.flatnonzero(flags(edge.symbols, n_minterms)):
                edges[minterm].append((state, edge.target, bool(edge.mark)))
    mine = [[], *(edges[minterm] for minterm in minterms[1:])]
    flat = [edge for group in mine for edge in group]
    final = np.zeros(pattern.nfa.n_states, bool)
    final[list(pattern.nfa.finals)] = True
    return SymbolTables(
        predicates,
        union,
        delta,
        hit,
        np.concatenate([[0], np.cumsum([len(group) for group in mine])]).astype(np.int64),
        np.array([edge[0] for edge in flat], np.int64),
        np.array([edge[1] for edge in flat], np.int64),
        np.array([edge[2] for edge in flat], bool),
        final,
        (dfa.delta == dfa.delta[0]).all(axis=1),
        np.array([state > 0 and bool(out) for state, out in enumerate(pattern.nfa.edges)], bool),
    )


def closed(predicates: Ints) -> Ints:
    """The masks, all their unions, and the empty mask."""
    found = np.unique(np.append(predicates, 0))
    while True:
        wider = np.unique(unions(found))
        if len(wider) == len(found):
            return found
        found = wider


def unions(predicates: Ints) -> Ints:
    return predicates[:, None] | predicates[None, :]
