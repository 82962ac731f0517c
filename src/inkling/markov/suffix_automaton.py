"""Probabilistic suffix automata: trees unfolded until a leaf and the next symbol determine the next leaf."""

from __future__ import annotations

import numpy as np

from inkling.markov.contexts import Contexts, label_contexts
from inkling.markov.prediction_tree import PredictionTree

MOST_NODES = 1_000_000


def unfolded(tree: PredictionTree) -> PredictionTree:
    """A tree with the same predictions in which every leaf, one symbol later, leads to a leaf.

    Leaves that do not remember enough get children that predict what they did. The number of nodes can grow
    like the number of symbols to the power of the depth.
    """
    n = tree.n_symbols
    tree = tree.with_missing_children()
    while True:
        inner = tree.inner()
        leaves = np.flatnonzero(~inner)
        short = np.zeros(len(leaves), np.bool_)
        for symbol in range(n):
            for length in np.unique(tree.length[leaves]).tolist():
                rows = tree.length[leaves] == length
                later = tree.nodes(length + 1, tree.code[leaves[rows]] * n + symbol)
                short[rows] |= (later >= 0) & inner[later]
        if not short.any():
            return tree
        if len(tree) + n * int(short.sum()) > MOST_NODES:
            raise ValueError(
                f"the suffix automaton of a tree with depth {tree.depth} has more than {MOST_NODES} states"
            )
        grown = leaves[short]
        older = np.arange(n) * np.int64(n) ** tree.length[grown][:, None] + tree.code[grown][:, None]
        tree = PredictionTree(
            n,
            np.concatenate([tree.length, np.repeat(tree.length[grown] + 1, n)]),
            np.concatenate([tree.code, older.reshape(-1)]),
            np.concatenate([tree.gamma, np.repeat(tree.gamma[grown], n, axis=0)]),
        ).in_order()


def suffix_automaton(tree: PredictionTree) -> Contexts:
    """Contexts that are labels of nodes; inner nodes are only visited at the beginning of a key."""
    return label_contexts(unfolded(tree))
