"""Full-order models: the law of the next symbol for each state of the automaton and each word of the last symbols."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from inkling.markov.contexts import NEVER, Contexts, following
from inkling.markov.counts import WordCounts


def full_contexts(counts: WordCounts, n_states: int) -> Contexts:
    """Shares of what was counted; contexts are the words of ``order`` symbols that were seen.

    Words that are shorter stand for the beginning of a key; they have laws of their own, but are not ready.
    """
    n, order = counts.n_symbols, counts.order
    length = counts.length.astype(np.int64)
    before, before_code = length - 1, counts.code // n
    kept = np.minimum(length, order)
    after_code = counts.code % np.int64(n) ** kept
    followed = following(n, np.concatenate([before, kept]), np.concatenate([before_code, after_code]))
    contexts = _contexts(n, order, followed.length, followed.code, followed.next)
    return replace(contexts, gamma=_shares(_table(counts, contexts, n_states)))


def every_context(n_symbols: int, order: int) -> Contexts:
    """All words of at most ``order`` symbols, and nothing known about any of them."""
    codes = np.arange(n_symbols**order, dtype=np.int64)
    followed = following(n_symbols, np.full(len(codes), order, np.int64), codes)
    return _contexts(n_symbols, order, followed.length, followed.code, followed.next)


def independent(law: npt.ArrayLike) -> Contexts:
    """A model that does not look back at all: one law for every state of the automaton."""
    shares = np.asarray(law, np.float64)
    return replace(every_context(len(shares), 0), gamma=shares[None, None])


def shrunk(contexts: Contexts, own: WordCounts, strength: float) -> Contexts:
    """The laws of one group: its own counts beside so many imagined events that follow the model of all."""
    if strength <= 0:
        raise ValueError(f"the model of all weighs as much as a number of events above 0, not {strength}")
    counts = _table(own, contexts, len(contexts.gamma))
    known = contexts.gamma.sum(axis=2, keepdims=True) > 0
    totals = counts.sum(axis=2, keepdims=True)
    # where the model of all knows nothing, neither does the group, whose events are among all
    return replace(contexts, gamma=np.where(known, (counts + strength * contexts.gamma) / (totals + strength), 0.0))


def words_of(n_symbols: int, length: int) -> list[tuple[int, ...]]:
    """All words of a length, in order of their codes."""
    return list(itertools.product(range(n_symbols), repeat=length))


def _contexts(
    n: int,
    order: int,
    length: npt.NDArray[np.int64],
    code: npt.NDArray[np.int64],
    onward: npt.NDArray[np.int32],
) -> Contexts:
    ready_after = np.where(length == order, length, NEVER)
    nothing = np.zeros((1, len(length), n))
    return Contexts(n, length, code, onward, nothing, ready_after, np.arange(len(length), dtype=np.int32))


def _table(counts: WordCounts, contexts: Contexts, n_states: int) -> npt.NDArray[np.float64]:
    """[state, context, symbol]: how often a symbol came next."""
    table = np.zeros((n_states, contexts.n_contexts, counts.n_symbols))
    for length in range(contexts.depth + 1):
        low, high = np.searchsorted(contexts.length, [length, length + 1])
        rows = np.flatnonzero(counts.length == length + 1)
        known = contexts.code[low:high]
        before, symbol = np.divmod(counts.code[rows], counts.n_symbols)
        at = np.minimum(np.searchsorted(known, before), max(len(known) - 1, 0))
        there = known[at] == before if len(known) else np.zeros(len(rows), np.bool_)
        chosen = rows[there]
        np.add.at(table, (counts.state[chosen], low + at[there], symbol[there]), counts.count[chosen])
    return table


def _shares(table: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    totals = table.sum(axis=2, keepdims=True)
    return np.divide(table, totals, out=np.zeros_like(table), where=totals > 0)
