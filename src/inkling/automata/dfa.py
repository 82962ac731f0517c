"""Deterministic automata as tables: subset construction, and minimization by partition refinement (Moore 1956).

Subsets drop states that another member simulates, which keeps them small.
"""

import hashlib
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from inkling.automata.guards import Alphabet, members
from inkling.automata.limits import MAX_ENTRIES, MAX_STATES, StateNumbers
from inkling.automata.nfa import Nfa, NfaEdge, merged, reachable
from inkling.automata.symbols import SymbolMoves, from_flags, moves_of

_MAGIC = b"INKDFA\x00\x01"
_HEADER = struct.Struct("<8sqqq")


@dataclass(frozen=True, slots=True, eq=False)
class Dfa:
    """A complete transition table; state 0 is the start, a column is a class of equivalent symbols."""

    delta: npt.NDArray[np.int32]  # [state, column] → state
    final: npt.NDArray[np.bool_]
    columns: npt.NDArray[np.int32]  # symbol → column

    @property
    def n_states(self) -> int:
        return int(self.delta.shape[0])

    @property
    def n_columns(self) -> int:
        return int(self.delta.shape[1])

    def run(self, symbols: Iterable[int]) -> list[int]:
        """The states after each symbol."""
        state, visited = 0, []
        for symbol in symbols:
            state = int(self.delta[state, self.columns[symbol]])
            visited.append(state)
        return visited

    def to_bytes(self) -> bytes:
        """A canonical encoding: equal automata have equal bytes."""
        header = _HEADER.pack(_MAGIC, self.n_states, self.n_columns, len(self.columns))
        parts = (self.delta.astype("<i4"), self.final.astype("u1"), self.columns.astype("<i4"))
        return header + b"".join(part.tobytes() for part in parts)

    @classmethod
    def from_bytes(cls, data: bytes) -> "Dfa":
        magic, n_states, n_columns, n_symbols = _HEADER.unpack_from(data)
        if magic != _MAGIC:
            raise ValueError("these bytes are not an automaton of this version")
        at = _HEADER.size
        delta = np.frombuffer(data, "<i4", n_states * n_columns, at).reshape(n_states, n_columns)
        at += delta.nbytes
        final = np.frombuffer(data, "u1", n_states, at).astype(np.bool_)
        columns = np.frombuffer(data, "<i4", n_symbols, at + n_states)
        return cls(delta.astype(np.int32), final, columns.astype(np.int32))

    @property
    def fingerprint(self) -> str:
        return hashlib.sha256(self.to_bytes()).hexdigest()


Cover: TypeAlias = tuple[int, ...]  # by state: the set of states that simulate it

# The simulation takes time quadratic in the states; without it, automata are correct but larger.
MAX_SIMULATED = 1_500


def simulation(nfa: Nfa, moves: SymbolMoves, finals: int) -> Cover:
    """Per state the set of states that simulate it: they can make all its moves and accept whenever it does."""
    n_states = nfa.n_states
    if n_states > MAX_SIMULATED:
        return tuple(1 << state for state in range(n_states))
    everyone = (1 << n_states) - 1
    sources: list[dict[int, int]] = [{} for _ in range(moves.classes.n_classes)]
    for state, targets in enumerate(moves.targets):
        for index, reached in targets:
            for target in members(reached):
                sources[index][target] = sources[index].get(target, 0) | 1 << state
    cover = [finals if finals >> state & 1 else everyone for state in range(n_states)]
    # states far from the start first, since a state depends on its successors
    forward = {state: [edge.target for edge in edges] for state, edges in enumerate(nfa.edges)}
    order = reachable(forward, [0])[::-1]
    changed = True
    while changed:
        changed = False
        for state in order:
            able = cover[state]
            for index, reached in moves.targets[state]:
                for target in members(reached):
                    able &= _into(cover[target], sources[index])
            changed |= able != cover[state]
            cover[state] = able
    return tuple(cover)


def drop_covered(states: int, cover: Cover) -> int:
    """The set without states that another member simulates."""
    for state in members(states):
        if states & cover[state] & ~(1 << state):
            states &= ~(1 << state)
    return states


def _into(targets: int, sources: dict[int, int]) -> int:
    """The states with a move into one of the targets."""
    found = 0
    for target, states in sources.items():
        if targets >> target & 1:
            found |= states
    return found


START = 1  # the set {0}


def detecting(
    nfa: Nfa, n_symbols: int, *, restart: bool = False, allow_empty: bool = False, max_states: int = MAX_STATES
) -> Dfa:
    """The minimal automaton that is in a final state after each event at which a match ends.

    With ``restart``, a match must start after the end of the previous match. The empty match does not count unless
    ``allow_empty``, which detects a nullable pattern at every event.
    """
    finals = nfa.finals if allow_empty else nfa.finals - {0}
    sets = _Subsets(nfa, moves_of(nfa, n_symbols), _bits(finals), always=START, restart=restart)
    return sets.dfa(max_states)


def accepting(nfa: Nfa, n_symbols: int, *, max_states: int = MAX_STATES) -> Dfa:
    """The minimal automaton that is in a final state after each word of the language."""
    sets = _Subsets(nfa, moves_of(nfa, n_symbols), _bits(nfa.finals), always=0, restart=False)
    return sets.dfa(max_states)


def complement(nfa: Nfa, alphabet: Alphabet, *, max_states: int = MAX_STATES) -> Nfa:
    """The automaton of the words that another one rejects, including the empty word; its edges have no marks."""
    dfa = accepting(nfa, alphabet.n_symbols, max_states=max_states)
    # state 0 of a Dfa can have incoming edges, the start of an Nfa cannot
    column_symbols = [from_flags(dfa.columns == column) & alphabet.every_event for column in range(dfa.n_columns)]
    rows = [
        merged(NfaEdge(symbols, (), target + 1) for symbols, target in zip(column_symbols, row, strict=True))
        for row in dfa.delta.tolist()
    ]
    finals = {int(state) + 1 for state in np.flatnonzero(~dfa.final)}
    return Nfa((rows[0], *rows), frozenset(finals | ({0} if 1 in finals else set())))


@dataclass(frozen=True, slots=True)
class _Subsets:
    """The subset construction; a set of states is an integer with one bit per state."""

    nfa: Nfa
    moves: SymbolMoves
    finals: int
    always: int  # states that are in every set
    restart: bool

    def dfa(self, max_states: int) -> Dfa:
        limit = min(max_states, MAX_ENTRIES // self.moves.classes.n_classes)
        cover = simulation(self.nfa, self.moves, self.finals)
        number = StateNumbers(START, limit)
        known = {START: START}
        rows: list[list[int]] = []
        for states in number.order:
            row = []
            for raw in self._successors(states):
                if raw not in known:
                    known[raw] = drop_covered(raw, cover)
                row.append(number[known[raw]])
            rows.append(row)
        final = np.array([bool(states & self.finals) for states in number.order])
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


def minimized(dfa: Dfa) -> Dfa:
    """The minimal automaton (Moore 1956), with states in breadth-first order and equal columns merged."""
    classes = _futures(dfa)
    _, members = np.unique(classes, return_index=True)
    small = Dfa(classes[dfa.delta[members]], dfa.final[members], dfa.columns)
    return _merge_columns(_breadth_first(small, int(classes[0])))


def _futures(dfa: Dfa) -> npt.NDArray[np.int32]:
    """The equivalence class of each state: classes are refined by one symbol of look-ahead until none splits."""
    _, classes = np.unique(_distances(dfa), return_inverse=True)
    n_classes = 0
    while n_classes < (n_classes := int(classes.max()) + 1):
        before = classes
        for column in range(dfa.n_columns):
            pairs = classes * (n_classes + dfa.n_states) + before[dfa.delta[:, column]]
            _, classes = np.unique(pairs, return_inverse=True)
    return classes.astype(np.int32)


def _distances(dfa: Dfa) -> npt.NDArray[np.int64]:
    """The fewest symbols to a final state: an initial partition that separates most states."""
    never = dfa.n_states
    distances = np.where(dfa.final, 0, never)
    while True:
        nearer = np.minimum(distances, distances[dfa.delta].min(axis=1) + 1).clip(max=never)
        if (nearer == distances).all():
            return distances
        distances = nearer


def _breadth_first(dfa: Dfa, start: int) -> Dfa:
    order = [start]
    number = {start: 0}
    for state in order:
        for target in dfa.delta[state].tolist():
            if target not in number:
                number[target] = len(order)
                order.append(target)
    renumbered = np.zeros(dfa.n_states, dtype=np.int32)
    renumbered[order] = np.arange(len(order))
    return Dfa(renumbered[dfa.delta[order]], dfa.final[order], dfa.columns)


def _merge_columns(dfa: Dfa) -> Dfa:
    """Merges equal columns, in order of their first symbol."""
    _, first, merged = np.unique(dfa.delta, axis=1, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))
    columns = rank[merged.reshape(-1)].astype(np.int32)
    return Dfa(np.ascontiguousarray(dfa.delta[:, np.sort(first)]), dfa.final, columns[dfa.columns])
