"""Automata, streams and trees of the worked examples of forecasting, ready to be asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from inkling.automata.compiled import CompiledPattern
from inkling.automata.guards import Guard
from inkling.automata.policies import strict
from inkling.automata.regex import Counting, Regex, RegexPattern, Symbol, Union
from inkling.forecasting.models.chain import MarkovChain, moves
from inkling.forecasting.models.contexts import tree_contexts
from inkling.forecasting.models.counts import Histories, WordCounts
from inkling.forecasting.models.prediction_tree import PredictionTree

Laws = Mapping[str, Sequence[Fraction]]


def letters(text: str, alphabet: str) -> npt.NDArray[np.int32]:
    return np.array([alphabet.index(letter) for letter in text], np.int32)


def by_state(counts: WordCounts, n_states: int) -> dict[int, npt.NDArray[np.float64]]:
    """How often each symbol came next, by the automaton's state before it."""
    table = np.zeros((n_states, counts.n_symbols))
    np.add.at(table, (counts.state, counts.code % counts.n_symbols), counts.count)
    return dict(enumerate(table))


def word(text: str, alphabet: str = "ab") -> tuple[int, ...]:
    return tuple(alphabet.index(letter) for letter in text)


def spelled(words: Sequence[tuple[int, ...]], alphabet: str) -> set[str]:
    return {"".join(alphabet[symbol] for symbol in one) for one in words}


def counted(text: str, alphabet: str, order: int, delta: npt.NDArray[np.int32] | None = None) -> WordCounts:
    """The words of one key from its beginning."""
    table = np.zeros((1, len(alphabet)), np.int32) if delta is None else delta
    return WordCounts.of(letters(text, alphabet), np.array([0, len(text)]), table, order, Histories.new(1))


def one_of(symbols: str, alphabet: str) -> Symbol:
    return Symbol(Guard(frozenset(alphabet.index(symbol) for symbol in symbols)), 0)


def automaton(
    steps: Sequence[str], alphabet: str, *, restart: bool = False
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.bool_]]:
    """The smallest automaton of steps that follow each other directly; a step lists the symbols it takes."""
    regex: Regex = strict([one_of(step, alphabet) for step in steps])
    # letters of their own keep symbols apart that the pattern does not tell from each other
    regex = Union((regex, *(strict([one_of(symbol, alphabet), one_of("", alphabet)]) for symbol in alphabet)))
    counting = Counting.RESTART if restart else Counting.OVERLAP
    dfa = CompiledPattern.of(RegexPattern(regex, counting), len(alphabet)).dfa()
    return moves(dfa), dfa.final


T1: Laws = {
    "": (Fraction(3, 5), Fraction(2, 5)),
    "a": (Fraction(7, 10), Fraction(3, 10)),
    "aa": (Fraction(3, 4), Fraction(1, 4)),
    "ba": (Fraction(1, 10), Fraction(9, 10)),
    "b": (Fraction(1, 2), Fraction(1, 2)),
}
T2: Laws = {
    **T1,
    "ba": (Fraction(4, 5), Fraction(1, 5)),
    "aba": (Fraction(9, 10), Fraction(1, 10)),
    "bba": (Fraction(1, 10), Fraction(9, 10)),
}


def tree(laws: Laws) -> PredictionTree:
    words = [word(label) for label in laws]
    return PredictionTree.of(2, words, [[float(share) for share in law] for law in laws.values()])


def exact(laws: Laws) -> dict[tuple[int, ...], tuple[Fraction, ...]]:
    return {word(label): tuple(law) for label, law in laws.items()}


def chain(steps: Sequence[str], laws: Laws) -> MarkovChain:
    return MarkovChain.of(*automaton(steps, "ab"), tree_contexts(tree(laws)))
