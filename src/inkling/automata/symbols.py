"""Classes of symbols that an automaton does not tell apart."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from inkling.automata.nfa import Nfa


@dataclass(frozen=True, slots=True)
class Moves:
    """Where each state goes on each class of symbols."""

    class_of_symbol: npt.NDArray[np.int32]
    n_classes: int
    targets: tuple[tuple[tuple[int, int], ...], ...]  # by state: classes and the set of states reached


def moves_of(nfa: Nfa, n_symbols: int) -> Moves:
    """The moves of an automaton; classes are numbered by their first symbol."""
    classes = _classes(nfa, n_symbols)
    class_of_symbol = np.zeros(n_symbols, dtype=np.int32)
    for index, symbols in enumerate(classes):
        for symbol in members(symbols):
            class_of_symbol[symbol] = index
    first = [symbols & -symbols for symbols in classes]
    targets = []
    for edges in nfa.edges:
        reached: dict[int, int] = {}
        for edge in edges:
            for index, symbol in enumerate(first):
                if edge.symbols & symbol:
                    reached[index] = reached.get(index, 0) | 1 << edge.target
        targets.append(tuple(sorted(reached.items())))
    return Moves(class_of_symbol, len(classes), tuple(targets))


def members(bits: int) -> list[int]:
    """The members of a set written as an integer, smallest first."""
    found = []
    while bits:
        lowest = bits & -bits
        found.append(lowest.bit_length() - 1)
        bits ^= lowest
    return found


def _classes(nfa: Nfa, n_symbols: int) -> list[int]:
    classes = [(1 << n_symbols) - 1]
    for symbols in dict.fromkeys(edge.symbols for edges in nfa.edges for edge in edges):
        split = []
        for block in classes:
            split += [part for part in (block & symbols, block & ~symbols) if part]
        classes = split
    return sorted(classes, key=lambda block: block & -block)
