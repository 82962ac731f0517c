"""How the public Wayeb engine learns contexts and follows them into the future, for comparison.

- `label_contexts`: only the label of the tree node that was reached is carried from event to event. That forgets too
  much; the product's `tree_contexts` remembers as much of the past as decides which node is reached.
- `suffix_automaton`: the tree unfolded until a leaf and the next symbol determine the next leaf.
- `path_waiting_times` (`computeWtDistsOpt`): every path into the future is one list of symbols, two paths that come to
  the same state are never merged, and a path that has not arrived is dropped as soon as its probability is not above a
  cutoff. What is dropped is lost, so the chance of a detection comes out too low. The product's `waiting_times` merges
  paths and needs no cutoff.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from inkling.forecasting.models.chain import MarkovChain
from inkling.forecasting.models.contexts import Contexts
from inkling.forecasting.models.forecasts import waiting_times
from inkling.forecasting.models.prediction_tree import PredictionTree

CUTOFF = 0.001
MOST_PATHS = 5_000_000
MOST_NODES = 1_000_000


def label_contexts(tree: PredictionTree) -> Contexts:
    """Only the label of the node that was reached is carried: the public engine's way, which forgets too much."""
    n = tree.n_symbols
    onward = np.zeros((len(tree), n), np.int32)
    found = np.zeros((len(tree), n), np.bool_)
    longer = tree.code[:, None] * n + np.arange(n)
    for length in range(tree.depth + 1, -1, -1):
        open_places = ~found & (tree.length[:, None] + 1 >= length)
        where = np.nonzero(open_places)
        nodes = tree.nodes(length, longer[where] % n**length)
        hit = nodes >= 0
        onward[where[0][hit], where[1][hit]] = nodes[hit]
        found[where[0][hit], where[1][hit]] = True
    return Contexts(
        n,
        tree.length,
        tree.code,
        onward,
        tree.gamma[None],
        tree.length + tree.inner(),
        np.arange(len(tree), dtype=np.int32),
    )


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


@dataclass(frozen=True, slots=True, eq=False)
class PathTimes:
    """Where the probability of all that may follow went; by state of the chain, they add up to one."""

    times: npt.NDArray[np.float64]  # [state, n - 1]: arrived with the n-th event
    lost: npt.NDArray[np.float64]  # [state, n - 1]: given up after the n-th event
    under_way: npt.NDArray[np.float64]  # [state]: neither, when the horizon is reached


def path_waiting_times(chain: MarkovChain, horizon: int, *, cutoff: float = CUTOFF) -> PathTimes:
    """Waiting times of every state; with a cutoff of 0 they are those of `waiting_times`, at exponential cost."""
    if horizon < 1:
        raise ValueError(f"a horizon is at least one event, not {horizon}")
    if not 0 <= cutoff < 1:
        raise ValueError(f"a cutoff is at least 0 and below 1, not {cutoff}")
    times, lost = np.zeros((chain.n_states, horizon)), np.zeros((chain.n_states, horizon))
    under_way = np.zeros(chain.n_states)
    for start in range(chain.n_states):
        state, chance = np.array([start]), np.array([1.0])
        for step in range(horizon):
            if len(state) * chain.n_symbols > MOST_PATHS:
                raise ValueError(f"more than {MOST_PATHS} paths of {step + 1} events; a larger cutoff leaves fewer")
            onward = (chance[:, None] * chain.weight[state]).reshape(-1)
            state = chain.target[state].reshape(-1)
            arrived = chain.final[state]
            # however improbable, a path that arrives counts
            times[start, step] = onward[arrived].sum()
            kept = ~arrived & (onward > cutoff)
            lost[start, step] = onward[~arrived & ~kept].sum()
            state, chance = state[kept], onward[kept]
        under_way[start] = chance.sum()
    return PathTimes(times, lost, under_way)
