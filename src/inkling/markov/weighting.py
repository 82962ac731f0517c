"""Context-tree weighting: all suffix trees up to a depth at once, each with the weight that the data earn it."""

from __future__ import annotations

from math import lgamma

import numpy as np
import numpy.typing as npt

from inkling.markov.counter_tree import CounterTree
from inkling.markov.prediction_tree import PredictionTree

KRICHEVSKY_TROFIMOV = 0.5

_log_gamma = np.vectorize(lgamma, otypes=[np.float64])


def log_block(counts: npt.NDArray[np.float64], prior: float = KRICHEVSKY_TROFIMOV) -> npt.NDArray[np.float64]:
    """The logarithm of the probability of a sequence with these counts of symbols, [..., symbol], in any order.

    >>> np.round(np.exp(log_block(np.array([[1.0, 0.0], [2.0, 1.0]]))), 12).tolist()
    [0.5, 0.0625]
    """
    n = counts.shape[-1]
    total = counts.sum(axis=-1)
    return np.asarray(
        (_log_gamma(counts + prior) - lgamma(prior)).sum(axis=-1) - _log_gamma(total + n * prior) + lgamma(n * prior)
    )


def weighted_tree(counted: CounterTree, order: int, prior: float = KRICHEVSKY_TROFIMOV) -> PredictionTree:
    """The predictions of the weighted mixture, for every context of at most ``order`` symbols that was followed.

    A context that was never seen with its next older symbol predicts what a fresh child would: all symbols alike.
    Positions at the beginning of a key, which have no older symbol, count as a child of their own.
    """
    n = counted.n_symbols
    codes = [_followed(counted, length) for length in range(order + 1)]
    counts = [counted.followers(length, codes[length]) for length in range(order + 1)]
    blocks = [log_block(one, prior) for one in counts]
    weighted: list[npt.NDArray[np.float64]] = [np.empty(0)] * order + [blocks[order]]
    for length in range(order - 1, -1, -1):
        parent = np.searchsorted(codes[length], codes[length + 1] % n**length)
        split = np.bincount(parent, weighted[length + 1], len(codes[length])).astype(np.float64)
        begun = counts[length].copy()
        np.subtract.at(begun, parent, counts[length + 1])
        split += log_block(np.maximum(begun, 0.0), prior)
        weighted[length] = np.logaddexp(blocks[length], split) - np.log(2)
    laws: list[npt.NDArray[np.float64]] = []
    above = np.full((1, n), 0.0)  # what the nodes on the way contribute
    left = np.ones((1, 1))  # the weight that is left for longer contexts
    for length in range(order + 1):
        if length:
            parent = np.searchsorted(codes[length - 1], codes[length] % n ** (length - 1))
            above, left = above[parent], left[parent]
        own = (counts[length] + prior) / (counts[length].sum(axis=1, keepdims=True) + n * prior)
        stop = np.exp(blocks[length] - weighted[length])[:, None] / (2 if length < order else 1)
        above = above + left * stop * own
        left = left * (1 - stop)
        laws.append(above + left / n)
    return PredictionTree(
        n,
        np.repeat(np.arange(order + 1), [len(one) for one in codes]),
        np.concatenate(codes),
        np.concatenate(laws),
    )


def _followed(counted: CounterTree, length: int) -> npt.NDArray[np.int64]:
    """Contexts of a length that something follows; the empty one always."""
    if length == 0:
        return np.zeros(1, np.int64)
    longer, _ = counted.level(length + 1)
    return np.unique(longer // counted.n_symbols)
