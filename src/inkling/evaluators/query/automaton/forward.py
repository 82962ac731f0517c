"""The forward pass per key: the distribution over states of an automaton after each time (Lahar, section 3.1.2).

Streams are independent of each other, so each stream has a forward pass of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np

from inkling.evaluators.query.automaton.regular import COMPILED, ForwardState, RunSizes, forward_pass
from inkling.evaluators.query.automaton.transitions import SymbolTables
from inkling.evaluators.query.probable_events import NULL_KEY, Mask, Numbers, ProbableEvents
from inkling.kernels.query.forward import NEVER, Ends, Steps
from inkling.model.batch import Ints

NO_RUNS = RunSizes(1, 1)


@dataclass(frozen=True, slots=True)
class ForwardByKey:
    """Per group: the probability that a match ends there, its earliest start, the row that it ends with."""

    after: ForwardState
    out: Numbers
    start: Ints  # NEVER where none can end
    last: Ints
    belief: Numbers  # [group, state], if that was asked for


def nothing_seen(n_states: int, runs: RunSizes) -> ForwardState:
    none = np.empty(0, np.uint64)
    begun = np.empty((0, runs.n_rows, runs.n_runs), np.int64)
    return ForwardState(none, np.zeros(1, np.int64), none, np.empty((0, n_states)), begun)


def whole_keys(events: ProbableEvents) -> Mask:
    """Which streams have all of their key; those that have not belong to no partition."""
    missing = [codes == NULL_KEY for codes in events.keys.values()]
    return ~np.logical_or.reduce(missing) if missing else np.ones(events.n_streams, bool)


def forward_by_key(
    state: ForwardState,
    events: ProbableEvents,
    tables: SymbolTables,
    symbol: Ints,
    runs: RunSizes,
    *,
    restart: bool = False,
    ever: bool = False,
    keeps_belief: bool = False,
    kernels: SimpleNamespace = COMPILED,
) -> ForwardByKey:
    """Propagate the probabilities of states over the groups of all streams, each of which has its own."""
    first = np.searchsorted(events.stream, np.arange(events.n_streams + 1))
    n = events.n_groups
    ends = Ends(
        np.zeros(n, events.chance.dtype),
        np.full(n, NEVER),
        np.full(n, -1),
        np.zeros(0, events.chance.dtype),
        np.zeros((n if keeps_belief else 0, len(tables.delta)), events.chance.dtype),
    )
    steps = Steps(first, np.arange(n + 1), np.arange(n), events.time)
    # rows of an independent stream are taken one by one too, because one of them is reported
    after = forward_pass(
        state, events.name, events, steps, np.ones(n, bool), tables, symbol, ends, _longest(events, first), runs,
        is_markov=bool(events.markov.any()), ever=ever, restart=restart, kernels=kernels,
    )  # fmt: skip
    return ForwardByKey(after, ends.chance, ends.start, ends.last, ends.belief)


def _longest(events: ProbableEvents, first: Ints) -> Ints:
    """The most values that a group of each stream leads to."""
    if not events.n_groups:
        return np.zeros(0, np.int64)
    return np.maximum.reduceat(np.diff(events.offsets), first[:-1])
