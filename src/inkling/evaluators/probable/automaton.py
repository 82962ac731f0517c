"""The automaton of the first stages of a query, over what happens at each time.

A letter is the union of the words of all events of one time; letter 0 stands for nothing that matters, which leaves
every state as it is.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from inkling.analysis.probable.query import Query
from inkling.automata.compiled import CompiledPattern
from inkling.automata.dfa import Dfa
from inkling.automata.guards import Guard
from inkling.automata.meaning import Pattern
from inkling.automata.regex import Concat, Epsilon, Letter, Regex, Repeat
from inkling.automata.symbols import flags
from inkling.evaluators.probable.words import accepted, candidate, of_row
from inkling.logical.expr import Expr
from inkling.model.batch import Ints

MOST_SYMBOLS = 1 << 12


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

    def letters(self, words: Ints) -> Ints:
        return np.searchsorted(self.words, words)


@dataclass(frozen=True, slots=True)
class ChainAutomaton:
    """Stages as a regular expression over what happens at each time; equal stages ask for equal things."""

    pattern: CompiledPattern
    dfa: Dfa
    accepts: tuple[int, ...]  # per bit of the expression that stands for acceptance, a bit of words
    spares: tuple[int, ...]  # per bit that stands for the lack of a candidate, a bit of words

    @classmethod
    def of(cls, query: Query, n_stages: int, variables: Iterable[str]) -> ChainAutomaton:
        """Raises `TooManyStates` or `TooManySymbols`."""
        accepts: dict[Hashable, tuple[int, int]] = {}
        spares: dict[Hashable, tuple[int, int]] = {}
        parts: list[Regex] = []
        names = frozenset(variables)
        asks = [_asked(query, number, names) for number in range(n_stages)]
        always = _never_waits(query, asks)
        exclusive: set[frozenset[int]] = set()
        for number, stage in enumerate(query.stages[:n_stages]):
            spare = spares.setdefault(asks[number], (32 + len(spares), candidate(number)))[0]
            passed = asks[number].filters | {of_row(one, stage) for one in stage.accepts}
            wanted = replace(asks[number], filters=passed)
            accept = accepts.setdefault(wanted, (len(accepts), accepted(number)))[0]
            exclusive.add(frozenset((accept, spare)))
            taken = Letter(Guard(bits=frozenset({accept})), stage.slot)
            waiting: Regex = Epsilon() if always else Repeat(Letter(Guard(bits=frozenset({spare}))))
            hop: Regex = taken if number == 0 else Concat((waiting, taken))
            if not stage.repeated:
                parts.append(hop)
            elif number == 0:
                parts.append(Concat((hop, Repeat(Concat((waiting, taken))))))
            else:
                parts.append(Repeat(hop, 1))
        pattern = CompiledPattern.of(Pattern(Concat(tuple(parts))), 1, exclusive=sorted(exclusive, key=sorted))
        return cls(
            pattern,
            pattern.dfa(),
            tuple(word for _, word in accepts.values()),
            tuple(word for _, word in spares.values()),
        )

    @property
    def n_states(self) -> int:
        return self.dfa.n_states

    @property
    def n_runs(self) -> int:
        return self.pattern.nfa.n_states

    def tables(self, words: Ints) -> LetterTables:
        """For the words of some rows and all that can come of them together."""
        letters = closed(np.unique(words))
        symbols = [0] + [self._symbol(int(word)) for word in letters[1:]]
        return letter_tables(self.pattern, self.dfa, letters, symbols, np.searchsorted(letters, unions(letters)))

    def _symbol(self, word: int) -> int:
        bits = sum(1 << place for place, bit in enumerate(self.accepts) if word & bit)
        bits |= sum(1 << (32 + place) for place, bit in enumerate(self.spares) if not word & bit)
        symbol = self.pattern.alphabet.symbol(0, bits)
        assert symbol is not None
        return symbol


@dataclass(frozen=True, slots=True)
class _Asked:
    """What makes a row a candidate of a stage."""

    source: str
    bound: tuple[tuple[str, frozenset[str]], ...]
    filters: frozenset[Expr]


def _asked(query: Query, number: int, variables: frozenset[str]) -> _Asked:
    stage = query.stages[number]
    bound = tuple((one.name, one.columns_in(number)) for one in query.variables if one.name in variables)
    return _Asked(stage.source, bound, frozenset(of_row(one, stage) for one in stage.filters))


def _never_waits(query: Query, asks: Sequence[_Asked]) -> bool:
    """Whether all that is read at all is a candidate of every stage that could wait for one."""
    waiting = set(asks if query.stages[0].repeated else asks[1:])
    if len(waiting) != 1:
        return False
    (common,) = waiting
    return asks[0] == replace(common, filters=asks[0].filters) and common.filters <= asks[0].filters


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
