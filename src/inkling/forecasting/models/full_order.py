"""Full-order Markov models: the distribution of the next symbol, by state of the automaton and the last m symbols.

Ntoulias et al., section 3.2, and Alevizos et al.: maximum likelihood, without smoothing.
"""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from inkling.forecasting.models.contexts import NEVER, Contexts, aho_corasick
from inkling.forecasting.models.counts import WordCounts


def full_contexts(counts: WordCounts, n_states: int) -> Contexts:
    """The maximum-likelihood model; its contexts are the words of ``order`` symbols that were seen.

    Shorter words occur at the beginning of a key. They have distributions of their own, but are never ready.
    """
    n, order = counts.n_symbols, counts.order
    length = counts.length.astype(np.int64)
    before, before_code = length - 1, counts.code // n
    kept = np.minimum(length, order)
    after_code = counts.code % np.int64(n) ** kept
    automaton = aho_corasick(n, np.concatenate([before, kept]), np.concatenate([before_code, after_code]))
    contexts = _contexts(n, order, automaton.length, automaton.code, automaton.next)
    return replace(contexts, gamma=_shares(_table(counts, contexts, n_states)))


def every_context(n_symbols: int, order: int) -> Contexts:
    """All words of at most ``order`` symbols, with unknown distributions."""
    codes = np.arange(n_symbols**order, dtype=np.int64)
    automaton = aho_corasick(n_symbols, np.full(len(codes), order, np.int64), codes)
    return _contexts(n_symbols, order, automaton.length, automaton.code, automaton.next)


def independent(law: npt.ArrayLike) -> Contexts:
    """A model of order 0: one distribution for every state of the automaton."""
    shares = np.asarray(law, np.float64)
    return replace(every_context(len(shares), 0), gamma=shares[None, None])


def shrunk(contexts: Contexts, own: WordCounts, strength: float) -> Contexts:
    """The model of one group: its own counts, plus ``strength`` imaginary events that follow the model of all."""
    if strength <= 0:
        raise ValueError(f"the weight of the overall model must be a number of events above 0, found {strength}")
    counts = _table(own, contexts, len(contexts.gamma))
    known = contexts.gamma.sum(axis=2, keepdims=True) > 0
    totals = counts.sum(axis=2, keepdims=True)
    # where the model of all knows nothing, neither does the group, whose events are among all
    return replace(contexts, gamma=np.where(known, (counts + strength * contexts.gamma) / (totals + strength), 0.0))


def _contexts(
    n: int, order: int, length: npt.NDArray[np.int64], code: npt.NDArray[np.int64], onward: npt.NDArray[np.int32]
) -> Contexts:
    ready_after = np.where(length == order, length, NEVER)
    nothing = np.zeros((1, len(length), n))
    return Contexts(n, length, code, onward, nothing, ready_after, np.arange(len(length), dtype=np.int32))


def _table(counts: WordCounts, contexts: Contexts, n_states: int) -> npt.NDArray[np.float64]:
    """[state, context, symbol]: the count of the next symbol."""
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
