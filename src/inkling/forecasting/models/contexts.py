"""Contexts of a model, and the automaton that moves from context to context.

An automaton of Aho and Corasick over the contexts makes every lookup one transition. It replaces the buffer of the
last m symbols of Ntoulias et al., section 3.2, and the probabilistic suffix automaton of Ron, Singer and Tishby 1996.
"""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from inkling.forecasting.models.counts import word_of
from inkling.forecasting.models.prediction_tree import PredictionTree

NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True, eq=False)
class Contexts:
    """The contexts of a model; context 0 is the empty history, the others are in order of length and code."""

    n_symbols: int
    length: npt.NDArray[np.int64]
    code: npt.NDArray[np.int64]
    next: npt.NDArray[np.int32]  # [context, symbol]
    gamma: npt.NDArray[np.float64]  # [automaton's state or 0, context, symbol]; zeros where nothing is known
    ready_after: npt.NDArray[
        np.int64
    ]  # events that must be known before an unknown past cannot lead to another context
    node: npt.NDArray[np.int32]  # of the tree, where there is one

    @property
    def n_contexts(self) -> int:
        return len(self.length)

    @property
    def depth(self) -> int:
        """The length of the longest context: the order of the model."""
        return int(self.length.max())

    def words(self) -> list[tuple[int, ...]]:
        pairs = zip(self.code.tolist(), self.length.tolist(), strict=True)
        return [word_of(code, length, self.n_symbols) for code, length in pairs]

    def after(self, history: tuple[int, ...]) -> int:
        """The context after a history from the beginning of a key."""
        context = 0
        for symbol in history:
            context = int(self.next[context, symbol])
        return context

    def law(self, state: int, context: int) -> npt.NDArray[np.float64]:
        return self.gamma[state if len(self.gamma) > 1 else 0, context]


@dataclass(frozen=True, slots=True, eq=False)
class AhoCorasick:
    """The automaton of Aho and Corasick: its state is the longest suffix of the input that is a prefix of some word."""

    length: npt.NDArray[np.int64]
    code: npt.NDArray[np.int64]
    next: npt.NDArray[np.int32]
    shorter: npt.NDArray[np.int32]  # failure link: the longest proper suffix that is also a state


def aho_corasick(n_symbols: int, length: npt.NDArray[np.int64], code: npt.NDArray[np.int64]) -> AhoCorasick:
    """The automaton of Aho and Corasick (1975) for words given by length and code, built level by level."""
    longest = int(length.max(initial=0))
    levels = [np.zeros(1, np.int64)]
    for depth in range(1, longest + 1):
        rows = length >= depth
        exponent = (length[rows] - depth).astype(np.int64)
        levels.append(np.unique(code[rows] // np.int64(n_symbols) ** exponent))
    starts = np.cumsum([0, *(len(level) for level in levels)])
    n = int(starts[-1])
    onward = np.zeros((n, n_symbols), np.int32)
    shorter = np.zeros(n, np.int32)
    for depth, level in enumerate(levels):
        here = slice(starts[depth], starts[depth + 1])
        if depth:
            onward[here] = onward[shorter[here]]
        if depth == longest:
            break
        children = levels[depth + 1]
        parent = starts[depth] + np.searchsorted(level, children // n_symbols)
        symbol = children % n_symbols
        number = np.arange(starts[depth + 1], starts[depth + 2])
        # at the root every shorter suffix is the root itself
        shorter[number] = onward[parent, symbol] if depth else 0
        onward[parent, symbol] = number
    lengths = np.repeat(np.arange(longest + 1), [len(level) for level in levels])
    return AhoCorasick(lengths, np.concatenate(levels), onward, shorter)


def tree_contexts(tree: PredictionTree) -> Contexts:
    """The contexts that decide which node of a prediction suffix tree applies, now and after further symbols."""
    automaton = aho_corasick(tree.n_symbols, tree.length, tree.code)
    node = np.zeros(len(automaton.length), np.int32)
    for depth in range(int(automaton.length.max()) + 1):
        rows = np.flatnonzero(automaton.length == depth)
        own = tree.nodes(depth, automaton.code[rows])
        node[rows] = np.where(own >= 0, own, node[automaton.shorter[rows]])
    whole = tree.length[node] == automaton.length
    more = whole & tree.inner()[node]  # one more symbol of the past could lead to another node
    return Contexts(
        tree.n_symbols,
        automaton.length,
        automaton.code,
        automaton.next,
        tree.gamma[node][None],
        automaton.length + more,
        node,
    )


def with_laws(contexts: Contexts, tree: PredictionTree) -> Contexts:
    """The same contexts with the distributions of another tree over the same nodes."""
    return replace(contexts, gamma=tree.gamma[contexts.node][None])
