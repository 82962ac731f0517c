"""How well a model predicts the next symbol, and which order predicts best."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from inkling.markov.contexts import Contexts
from inkling.markov.counts import WordCounts

Learner = Callable[[WordCounts, int], Contexts]
"""Makes the laws of the next symbol of counts and an order."""


def log_loss(contexts: Contexts, counts: WordCounts, *, floor: float = 0.0) -> float:
    """Bits per event that the model needs to say what was counted: the mean of -log2 of what it predicted.

    Counts must look back at least as far as the model. With a ``floor`` no symbol is given less than that, and a
    context of which nothing is known predicts all symbols alike; without, what cannot be is worth infinity.
    """
    if counts.order < contexts.depth:
        raise ValueError(f"the model looks back {contexts.depth} events, the counts {counts.order}")
    if not counts.n_events:
        raise ValueError("without events there is nothing to predict")
    n = counts.n_symbols
    before, symbol = np.divmod(counts.code, n)
    context = _walked(contexts, before, counts.length.astype(np.int64) - 1)
    state = counts.state if len(contexts.gamma) > 1 else np.zeros(len(before), np.int32)
    law = contexts.gamma[state, context]
    if floor:
        known = law.sum(axis=1, keepdims=True) > 0
        law = np.where(known, law * (1 - n * floor) + floor, 1 / n)
    with np.errstate(divide="ignore"):
        bits = -np.log2(law[np.arange(len(symbol)), symbol])
    return float((bits * counts.count).sum() / counts.n_events)


def cross_validated(
    parts: Sequence[WordCounts],
    learner: Learner,
    orders: Sequence[int],
    *,
    floor: float = 0.001,
) -> Mapping[int, float]:
    """By order: the log-loss on each part of models learned from the other parts, averaged over events."""
    if len(parts) < 2:
        raise ValueError(f"at least two parts are needed to learn from some and test on others, not {len(parts)}")
    events = [part.n_events for part in parts]
    losses = {}
    for order in orders:
        total = 0.0
        for at, part in enumerate(parts):
            if not events[at]:
                continue
            others = WordCounts.merged(*parts[:at], *parts[at + 1 :])
            total += events[at] * log_loss(learner(others.total(), order), part.total(), floor=floor)
        losses[order] = total / sum(events)
    return losses


def best_order(losses: Mapping[int, float]) -> int:
    """The order with the least loss, the smaller of equals."""
    return min(losses, key=lambda order: (losses[order], order))


def _walked(contexts: Contexts, code: npt.NDArray[np.int64], length: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The contexts after words given by code and length."""
    here = np.zeros(len(code), np.int64)
    for left in range(int(length.max(initial=0)), 0, -1):
        rows = length >= left
        symbol = code[rows] // np.int64(contexts.n_symbols) ** (left - 1) % contexts.n_symbols
        here[rows] = contexts.next[here[rows], symbol]
    return here
