"""Counter suffix trees and prediction suffix trees: variable-order Markov models.

Ntoulias et al., section 3.2 (definition 4), after Ron, Singer and Tishby, *The power of amnesia: learning probabilistic
automata with variable memory length*, Machine Learning 1996.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from inkling.forecasting.models.counts import WordCounts, code_of, word_of

Level = tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]


@dataclass(frozen=True, slots=True, eq=False)
class CounterTree:
    """A counter suffix tree, level by level: sorted codes of the words of each length, and their counts."""

    n_symbols: int
    levels: Sequence[Level]

    @classmethod
    def of(cls, counts: WordCounts, *, fixed: bool = False) -> CounterTree:
        return cls(counts.n_symbols, counts.levels(fixed=fixed))

    @property
    def depth(self) -> int:
        """The length of the longest words."""
        return len(self.levels) - 1

    def level(self, length: int) -> Level:
        return self.levels[length]

    def count(self, length: int, codes: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        known, counts = self.levels[length]
        if not len(known):
            return np.zeros(codes.shape)
        at = np.minimum(np.searchsorted(known, codes), len(known) - 1)
        return np.where(known[at] == codes, counts[at], 0.0)

    def probability(self, length: int, codes: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """The empirical probability of words among all words of their length."""
        everything = self.levels[length][1].sum()
        return self.count(length, codes) / everything if everything else np.zeros(codes.shape)

    def followers(self, length: int, codes: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """[context, symbol]: the count of a symbol after a context."""
        return self.count(length + 1, codes[:, None] * self.n_symbols + np.arange(self.n_symbols))

    def ratios(self, length: int, codes: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """[context, symbol]: the count of a symbol after a context, divided by the count of the context.

        The sum over symbols may be less than 1: the last context of a key has no next symbol.
        """
        occurrences = self.count(length, codes)[:, None]
        return np.divide(
            self.followers(length, codes),
            occurrences,
            out=np.zeros((len(codes), self.n_symbols)),
            where=occurrences > 0,
        )


TOLERANCE = 1e-12


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The thresholds for adding a context to a prediction suffix tree.

    In Ntoulias et al., section 3.2, ``symbol`` is θ1 and ``ratio`` is θ2.
    """

    # name in Ron, Singer and Tishby 1996
    context: float = 0.001  # (1 - ε1) ε0: the least probability of a context
    symbol: float = 0.001  # (1 + ε2) γmin: the least probability of a symbol after it
    ratio: float = 1.05  # 1 + 3 ε2: how different from the shorter context it must be
    floor: float = 0.001  # γmin: the least probability that is ever predicted

    def __post_init__(self) -> None:
        if self.ratio < 1 or min(self.context, self.symbol, self.floor) < 0:
            raise ValueError(f"thresholds are at least 0 and the ratio is at least 1, got {self}")

    @classmethod
    def of(
        cls, *, p_min: float = 0.001, alpha: float = 0.0, gamma_min: float = 0.001, ratio: float = 1.05
    ) -> Thresholds:
        """The thresholds by the parameters of the Wayeb engine: pMin, α, γmin and r."""
        return cls(p_min, (1 + alpha) * gamma_min, ratio, gamma_min)

    @classmethod
    def approximating(cls, error: float, *, order: int, n_symbols: int, most_states: int) -> Thresholds:
        """Thresholds for learning a source of ``most_states`` up to an error: Ron, Singer, Tishby 1996, section 4."""
        if not error > 0 or order < 1 or most_states < 1:
            raise ValueError(f"an error above 0, an order and a bound above 0 are needed, got {error}, {order}")
        closeness = error / (48 * order)
        floor = closeness / n_symbols
        rare = error / (2 * most_states * order * np.log2(1 / floor))
        slack = closeness / (8 * most_states * rare * floor)
        return cls(max((1 - slack) * rare, 0.0), (1 + closeness) * floor, 1 + 3 * closeness, floor)


@dataclass(frozen=True, slots=True, eq=False)
class PredictionTree:
    """Contexts in order of length and code; all suffixes of a context are in the tree, and the empty one is first."""

    n_symbols: int
    length: npt.NDArray[np.int64]
    code: npt.NDArray[np.int64]
    gamma: npt.NDArray[np.float64]  # [node, symbol]: probability of the next symbol; zeros if nothing is known

    @classmethod
    def of(cls, n_symbols: int, words: Sequence[Sequence[int]], gamma: Sequence[Sequence[float]]) -> PredictionTree:
        """A tree from words, oldest symbol first, and their distributions of the next symbol."""
        tree = cls(
            n_symbols,
            np.array([len(word) for word in words], np.int64),
            np.array([code_of(word, n_symbols) for word in words], np.int64),
            np.array(gamma, np.float64).reshape(len(words), n_symbols),
        )
        known = set(tree.words())
        missing = sorted(word for word in known if word and word[1:] not in known)
        if missing or () not in known:
            raise ValueError(
                f"with a context its suffixes belong to the tree; that of {missing[:3] or '()'} is missing"
            )
        return tree.in_order()

    @property
    def depth(self) -> int:
        return int(self.length.max())

    def __len__(self) -> int:
        return len(self.length)

    def words(self) -> list[tuple[int, ...]]:
        return [
            word_of(code, length, self.n_symbols)
            for length, code in zip(self.length.tolist(), self.code.tolist(), strict=True)
        ]

    def law(self, word: Sequence[int]) -> npt.NDArray[np.float64]:
        """The distribution of the next symbol after a history: that of its longest suffix in the tree."""
        known = {node: index for index, node in enumerate(self.words())}
        history = tuple(word)
        while history not in known:
            history = history[1:]
        return self.gamma[known[history]]

    def in_order(self) -> PredictionTree:
        by = np.lexsort((self.code, self.length))
        return replace(self, length=self.length[by], code=self.code[by], gamma=self.gamma[by])

    def nodes(self, length: int, codes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The nodes of words of one length; -1 for words that are not in the tree."""
        low, high = np.searchsorted(self.length, [length, length + 1])
        here = self.code[low:high]
        at = np.searchsorted(here, codes)
        at_most = np.minimum(at, max(len(here) - 1, 0))
        there = here[at_most] == codes if len(here) else np.zeros(len(codes), np.bool_)
        return np.where(there, low + at_most, -1)

    def inner(self) -> npt.NDArray[np.bool_]:
        """Whether a node has children: longer contexts in the tree."""
        flags = np.zeros(len(self), np.bool_)
        for length in range(1, self.depth + 1):
            rows = self.length == length
            flags[self.nodes(length - 1, self.code[rows] % self.n_symbols ** (length - 1))] = True
        return flags

    def shrunk(self, own: CounterTree, strength: float) -> PredictionTree:
        """The tree of one group: its own counts, plus ``strength`` imaginary events that follow this tree."""
        if strength <= 0:
            raise ValueError(f"the weight of the overall model must be a number of events above 0, found {strength}")
        gamma = self.gamma.copy()
        for length in range(self.depth + 1):
            rows = np.flatnonzero(self.length == length)
            counts = own.followers(length, self.code[rows])
            gamma[rows] = (counts + strength * gamma[rows]) / (counts.sum(axis=1, keepdims=True) + strength)
        return replace(self, gamma=gamma)


def learn_tree(
    counted: CounterTree, order: int, thresholds: Thresholds, n_symbols: int | None = None
) -> PredictionTree:
    """Learns a prediction suffix tree of at most this order from a counter suffix tree, and smooths it.

    Ntoulias et al., section 3.2: a context is added if some symbol is frequent enough after it (θ1), and if the
    probability of this symbol differs enough from that after the next shorter context (θ2). Longer contexts are tried
    even if a shorter one fails the test. This is Learn-PSA of Ron, Singer and Tishby 1996.
    """
    n = counted.n_symbols
    if max(n, n_symbols or 0) * thresholds.floor > 1:
        raise ValueError(f"{max(n, n_symbols or 0)} symbols of at least {thresholds.floor} each are more than certain")
    if order > counted.depth - 1:
        raise ValueError(f"words of {counted.depth} symbols were counted; order {order} needs {order + 1}")
    kept: list[npt.NDArray[np.int64]] = [np.zeros(1, np.int64)] + [np.empty(0, np.int64)] * order
    frontier = np.zeros(1, np.int64)
    for length in range(1, order + 1):
        codes, _ = counted.level(length)
        shorter = codes % n ** (length - 1)
        likely = counted.probability(length, codes) >= thresholds.context - TOLERANCE
        frontier = codes[likely & np.isin(shorter, frontier)]
        if not len(frontier):
            break
        after = counted.ratios(length, frontier)
        before = counted.ratios(length - 1, frontier % n ** (length - 1))
        with np.errstate(divide="ignore", invalid="ignore"):
            change = after / before
        differs = (change >= thresholds.ratio - TOLERANCE) | (change <= 1 / thresholds.ratio + TOLERANCE)
        kept[length] = frontier[((after >= thresholds.symbol - TOLERANCE) & differs).any(axis=1)]
    for length in range(order, 0, -1):
        kept[length - 1] = np.union1d(kept[length - 1], kept[length] % n ** (length - 1))
    laws: list[npt.NDArray[np.float64]] = []
    for length, codes in enumerate(kept):
        laws.append(_normalized(counted.followers(length, codes), kept, laws, length, codes, n))
    tree = PredictionTree(
        n, np.repeat(np.arange(order + 1), [len(codes) for codes in kept]), np.concatenate(kept), np.concatenate(laws)
    )
    return smoothed(tree, thresholds.floor, n_symbols)


def _normalized(
    counts: npt.NDArray[np.float64],
    kept: Sequence[npt.NDArray[np.int64]],
    laws: Sequence[npt.NDArray[np.float64]],
    length: int,
    codes: npt.NDArray[np.int64],
    n: int,
) -> npt.NDArray[np.float64]:
    """Distributions of the next symbol; a context without any next symbol has the distribution of its suffix."""
    totals = counts.sum(axis=1, keepdims=True)
    shares = np.divide(counts, totals, out=np.zeros_like(counts), where=totals > 0)
    if length:
        none = np.flatnonzero(totals[:, 0] == 0)
        shares[none] = laws[length - 1][np.searchsorted(kept[length - 1], codes[none] % n ** (length - 1))]
    return shares


def smoothed(tree: PredictionTree, floor: float, n_symbols: int | None = None) -> PredictionTree:
    """The tree in which every symbol has at least the probability ``floor`` (γmin).

    ``n_symbols`` can include symbols that never occur, whose probability is then missing from every distribution.
    """
    n = tree.n_symbols if n_symbols is None else n_symbols
    known = tree.gamma.sum(axis=1, keepdims=True) > 0
    gamma = np.where(known, tree.gamma * (1 - n * floor) + floor, 0.0)
    return replace(tree, gamma=gamma)
