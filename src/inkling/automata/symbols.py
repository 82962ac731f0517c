"""Classes of symbols that an automaton does not distinguish."""

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from inkling.automata.nfa import Nfa


@dataclass(frozen=True, slots=True, eq=False)
class SymbolClasses:
    """Classes of symbols that are in the same edges, in order of their first symbols."""

    of_symbol: npt.NDArray[np.int32]
    first: npt.NDArray[np.int64]  # [class]: its first symbol

    @classmethod
    def of(cls, nfa: Nfa, n_symbols: int) -> "SymbolClasses":
        sets = dict.fromkeys(edge.symbols for edges in nfa.edges for edge in edges)
        member = np.array([flags(symbols, n_symbols) for symbols in sets], dtype=np.bool_)
        member = member.reshape(len(sets), n_symbols)
        _, first, of_symbol = np.unique(np.packbits(member, axis=0), axis=1, return_index=True, return_inverse=True)
        by_first = np.argsort(first)
        number = np.empty(len(first), dtype=np.int32)
        number[by_first] = np.arange(len(first))
        return cls(number[of_symbol.reshape(-1)], first[by_first])

    @property
    def n_classes(self) -> int:
        return len(self.first)

    def within(self, symbols: int) -> npt.NDArray[np.bool_]:
        """A mask of the classes that belong to a set of symbols."""
        return flags(symbols, len(self.of_symbol))[self.first]


@dataclass(frozen=True, slots=True, eq=False)
class SymbolMoves:
    """The successor of each state for each class of symbols."""

    classes: SymbolClasses
    targets: tuple[tuple[tuple[int, int], ...], ...]  # by state: classes and the set of states reached


def moves_of(nfa: Nfa, n_symbols: int) -> SymbolMoves:
    """The moves of an automaton without marks."""
    classes = SymbolClasses.of(nfa, n_symbols)
    within = cache(lambda symbols: np.flatnonzero(classes.within(symbols)).tolist())
    targets = []
    for edges in nfa.edges:
        reached: dict[int, int] = {}
        for edge in edges:
            for index in within(edge.symbols):
                reached[index] = reached.get(index, 0) | 1 << edge.target
        targets.append(tuple(sorted(reached.items())))
    return SymbolMoves(classes, tuple(targets))


def flags(bits: int, size: int) -> npt.NDArray[np.bool_]:
    """A set given as an integer, as an array of Booleans."""
    data = np.frombuffer(bits.to_bytes(size // 8 + 1, "little"), dtype=np.uint8)
    return np.unpackbits(data, bitorder="little")[:size].astype(np.bool_)


def from_flags(values: npt.NDArray[np.bool_]) -> int:
    """The set of true positions as an integer."""
    return int.from_bytes(np.packbits(values, bitorder="little").tobytes(), "little")
