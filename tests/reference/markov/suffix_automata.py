"""How the public Wayeb engine unfolds trees into automata, for comparison.

`suffix_automaton` is the tree unfolded until a leaf and the next symbol determine the next leaf. The labels of nodes
alone, and waiting times by paths, are in `inkling.forecasting.models.public_engine`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from inkling.forecasting.models.chain import MarkovChain
from inkling.forecasting.models.contexts import Contexts
from inkling.forecasting.models.forecasts import waiting_times
from inkling.forecasting.models.prediction_tree import PredictionTree
from inkling.forecasting.models.public_engine import label_contexts

MOST_NODES = 1_000_000


def with_missing_children(tree: PredictionTree) -> PredictionTree:
    """Every inner node gets a child for each symbol, which predicts what the node does."""
    lengths, codes, laws = [tree.length], [tree.code], [tree.gamma]
    for node in np.flatnonzero(tree.inner()):
        length = int(tree.length[node])
        children = np.arange(tree.n_symbols) * tree.n_symbols**length + tree.code[node]
        children = children[tree.nodes(length + 1, children) < 0]
        lengths.append(np.full(len(children), length + 1))
        codes.append(children)
        laws.append(np.repeat(tree.gamma[node][None], len(children), axis=0))
    return PredictionTree(
        tree.n_symbols, np.concatenate(lengths), np.concatenate(codes), np.concatenate(laws)
    ).in_order()


def unfolded(tree: PredictionTree) -> PredictionTree:
    """A tree with the same predictions in which every leaf, one symbol later, leads to a leaf.

    Leaves that do not remember enough get children that predict what they did. The number of nodes can grow
    like the number of symbols to the power of the depth.
    """
    n = tree.n_symbols
    tree = with_missing_children(tree)
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


def label_waiting_times(chain: MarkovChain, by_label: MarkovChain, horizon: int) -> npt.NDArray[np.float64]:
    """The same for the states of a chain, if from now on only labels of tree nodes were carried."""
    rows = by_label.index[chain.state, chain.contexts.node[chain.context]]
    if (rows < 0).any():
        raise ValueError("the chain over labels lacks states of the other")
    return waiting_times(by_label, horizon)[rows]
