"""From nondeterministic to deterministic automata by following sets of states."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from inkling.automata.dfa import Dfa
from inkling.automata.guards import Alphabet
from inkling.automata.limits import MAX_ENTRIES, MAX_STATES, TooManyStates
from inkling.automata.minimize import minimized
from inkling.automata.nfa import Edge, Nfa, merged
from inkling.automata.simulation import drop_covered, simulation
from inkling.automata.symbols import Moves, from_flags, moves_of

START = 1  # the set that holds state 0 alone


def detecting(
    nfa: Nfa,
    n_symbols: int,
    *,
    restart: bool = False,
    allow_empty: bool = False,
    max_states: int = MAX_STATES,
) -> Dfa:
    """The smallest automaton that is in a final state after each event at which a match ends.

    With ``restart`` a match must start after the last event at which one was found. The empty match is
    left out; ``allow_empty`` keeps it, so that a nullable pattern is found everywhere.
    """
    finals = nfa.finals if allow_empty else nfa.finals - {0}
    sets = _Subsets(nfa, moves_of(nfa, n_symbols), _bits(finals), always=START, restart=restart)
    return sets.dfa(max_states)


def accepting(nfa: Nfa, n_symbols: int, *, max_states: int = MAX_STATES) -> Dfa:
    """The smallest automaton that is in a final state after each word of the language."""
    sets = _Subsets(nfa, moves_of(nfa, n_symbols), _bits(nfa.finals), always=0, restart=False)
    return sets.dfa(max_states)


def complement(nfa: Nfa, alphabet: Alphabet, *, max_states: int = MAX_STATES) -> Nfa:
    """The words that the automaton does not accept, the empty one included; nothing is marked."""
    dfa = accepting(nfa, alphabet.n_symbols, max_states=max_states)
    # state 0 of the table may have edges back to it, which the start of an Nfa may not
    column_symbols = [from_flags(dfa.columns == column) & alphabet.every_event for column in range(dfa.n_columns)]
    rows = [
        merged(Edge(symbols, (), target + 1) for symbols, target in zip(column_symbols, row, strict=True))
        for row in dfa.delta.tolist()
    ]
    finals = {int(state) + 1 for state in np.flatnonzero(~dfa.final)}
    return Nfa((rows[0], *rows), frozenset(finals | ({0} if 1 in finals else set())))


@dataclass(frozen=True, slots=True)
class _Subsets:
    """Sets of states reached together, as integers with one bit per state."""

    nfa: Nfa
    moves: Moves
    finals: int
    always: int  # states that are part of every set
    restart: bool

    def dfa(self, max_states: int) -> Dfa:
        limit = min(max_states, MAX_ENTRIES // self.moves.classes.n_classes)
        cover = simulation(self.nfa, self.moves, self.finals)
        number = {START: 0}
        order = [START]
        known = {START: START}
        rows: list[list[int]] = []
        for states in order:
            row = []
            for raw in self._successors(states):
                if raw not in known:
                    known[raw] = drop_covered(raw, cover)
                target = known[raw]
                if target not in number:
                    number[target] = len(order)
                    order.append(target)
                    if len(order) > limit:
                        raise TooManyStates(len(order), limit)
                row.append(number[target])
            rows.append(row)
        final = np.array([bool(states & self.finals) for states in order])
        return minimized(Dfa(np.array(rows, dtype=np.int32), final, self.moves.classes.of_symbol))

    def _successors(self, states: int) -> list[int]:
        if self.restart and states & self.finals:
            states = START
        sets = [self.always] * self.moves.classes.n_classes
        while states:
            lowest = states & -states
            states ^= lowest
            for index, targets in self.moves.targets[lowest.bit_length() - 1]:
                sets[index] |= targets
        return sets


def _bits(states: Iterable[int]) -> int:
    return sum(1 << state for state in states)
