"""What a model predicts after what: contexts as a tree, the newest event nearest to the root."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inkling.markov.counter_tree import CounterTree
from inkling.markov.histories import code_of, word_of
from inkling.markov.model import Model

LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A context: its events, oldest first, how often it was followed, and by what."""

    word: tuple[int, ...]
    count: float
    law: NDArray[np.float64]
    children: tuple[Node, ...]  # one more event of the past each

    def __iter__(self) -> Iterator[Node]:
        yield self
        for child in self.children:
            yield from child


def letter(symbol: int) -> str:
    """A short name of a symbol.

    >>> letter(0), letter(25), letter(26)
    ('a', 'z', 'a1')
    """
    turn, place = divmod(symbol, len(LETTERS))
    return LETTERS[place] + (str(turn) if turn else "")


def spelled(word: tuple[int, ...]) -> str:
    return " ".join(map(letter, word)) or "anything"


def nodes_of(model: Model) -> Node:
    """The root of what a model predicts; a model of full order has a node for every context that was followed."""
    counted = CounterTree.of(model.counts.total().shallower(model.learning.order))
    if model.learning.kind == "full":
        laws = dict(_followed(counted, model.learning.order))
    else:
        tree = model.tree()
        laws = dict(zip(tree.words(), tree.gamma, strict=True))
    below: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
    for word in laws:
        if word:
            below.setdefault(word[1:], []).append(word)

    def node(word: tuple[int, ...]) -> Node:
        count = float(counted.followers(len(word), np.array([code_of(word, counted.n_symbols)])).sum())
        return Node(word, count, laws[word], tuple(node(longer) for longer in sorted(below.get(word, []))))

    return node(())


def _followed(counted: CounterTree, order: int) -> Iterator[tuple[tuple[int, ...], NDArray[np.float64]]]:
    for length in range(order + 1):
        codes = np.unique(counted.level(length + 1)[0] // counted.n_symbols)
        follow = counted.followers(length, codes)
        for code, law in zip(codes.tolist(), follow / follow.sum(axis=1, keepdims=True), strict=True):
            yield word_of(code, length, counted.n_symbols), law
