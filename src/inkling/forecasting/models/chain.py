"""The Markov chain over pairs of a state of the automaton and a context of the model.

Alevizos et al. call it the embedding of a probabilistic suffix automaton in a deterministic symbolic automaton. Only
reachable pairs are states of the chain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from inkling.automata.dfa import Dfa
from inkling.automata.guards import RESET
from inkling.forecasting.models.contexts import Contexts
from inkling.forecasting.models.counts import Histories, check_codes
from inkling.kernels.forecast import chains as kernel
from inkling.kernels.forecast.chains import FollowTables

MOST_STATES = 5_000_000


def moves(dfa: Dfa) -> npt.NDArray[np.int32]:
    """[state, symbol]: the transitions of an automaton, without the symbol for resets."""
    symbols = np.arange(len(dfa.columns)) != RESET
    return np.ascontiguousarray(dfa.delta[:, dfa.columns[symbols]], np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class MarkovChain:
    """State 0 is the beginning of a key; every reachable pair is a state, however improbable.

    In Alevizos et al., ``target`` and ``weight`` are the transition matrix Π, and ``final`` marks the final states.
    """

    contexts: Contexts
    state: npt.NDArray[np.int32]  # of the automaton
    context: npt.NDArray[np.int32]
    index: npt.NDArray[np.int32]  # [automaton's state, context]; -1 if the pair is unreachable
    target: npt.NDArray[np.int32]  # [state of the chain, symbol]
    weight: npt.NDArray[np.float64]  # [state of the chain, symbol]: its probability; zeros where nothing is known
    final: npt.NDArray[np.bool_]
    distance: npt.NDArray[np.int32]  # events to the nearest final state of the automaton: 0 there, -1 if there is none

    @classmethod
    def of(
        cls,
        delta: npt.NDArray[np.int32],
        final: npt.NDArray[np.bool_],
        contexts: Contexts,
        also: Sequence[tuple[int, int]] = (),
    ) -> MarkovChain:
        """The chain of all pairs that are reachable from the beginning, and from the pairs in ``also``."""
        n_states, n_symbols = delta.shape
        if n_symbols != contexts.n_symbols:
            raise ValueError(f"the automaton reads {n_symbols} symbols, the model {contexts.n_symbols}")
        if len(contexts.gamma) not in (1, n_states):
            raise ValueError(f"the automaton has {n_states} states, the model {len(contexts.gamma)}")
        n_contexts = contexts.n_contexts
        reached = np.zeros(n_states * n_contexts, np.bool_)
        fresh = np.unique([0, *(state * n_contexts + context for state, context in also)])
        n_reached = 0
        while len(fresh):
            reached[fresh] = True
            n_reached += len(fresh)
            if n_reached > MOST_STATES:
                raise ValueError(
                    f"{n_states} states of the automaton in {n_contexts} contexts make a chain of more than "
                    f"{MOST_STATES} states; use a smaller order"
                )
            state, context = np.divmod(fresh, n_contexts)
            onward = delta[state].astype(np.int64) * n_contexts + contexts.next[context]
            fresh = np.unique(onward[~reached[onward]])
        pairs = np.flatnonzero(reached)
        index = np.full(n_states * n_contexts, -1, np.int32)
        index[pairs] = np.arange(len(pairs))
        state, context = np.divmod(pairs, n_contexts)
        onward = delta[state].astype(np.int64) * n_contexts + contexts.next[context]
        law = state if len(contexts.gamma) > 1 else np.zeros_like(state)
        return cls(
            contexts,
            state.astype(np.int32),
            context.astype(np.int32),
            index.reshape(n_states, n_contexts),
            index[onward],
            np.ascontiguousarray(contexts.gamma[law, context]),
            np.asarray(final, np.bool_)[state],
            distances(delta, final)[state],
        )

    @classmethod
    def of_dfa(cls, dfa: Dfa, contexts: Contexts) -> MarkovChain:
        return cls.of(moves(dfa), dfa.final, contexts)

    @property
    def n_states(self) -> int:
        return len(self.state)

    @property
    def n_symbols(self) -> int:
        return int(self.target.shape[1])

    @property
    def known(self) -> npt.NDArray[np.bool_]:
        """States with a distribution of the next symbol."""
        return np.asarray(self.weight.sum(axis=1) > 0)

    def at(self, state: int, history: tuple[int, ...]) -> int:
        """The state of the chain for a state of the automaton and a history."""
        return int(self.index[state, self.contexts.after(history)])

    def follow_tables(self) -> FollowTables:
        return FollowTables(
            self.target,
            self.state,
            self.contexts.ready_after[self.context],
            self.contexts.length[self.context],
            self.index,
            self.contexts.next,
        )

    def follow(
        self,
        symbols: npt.NDArray[np.int32],
        segments: npt.NDArray[np.int64],
        histories: Histories,
        *,
        memory: int,
        early: bool = False,
    ) -> npt.NDArray[np.int32]:
        """The state of the chain after each row, rows sorted by key; -1 where no forecast can be made.

        ``histories`` have the last ``memory`` symbols, at least as many as the order of the model. They continue from
        one call to the next and are changed in place. At the beginning of a key, a state is used only once the unknown
        past cannot lead to another context, unless ``early``.
        """
        if memory < self.contexts.depth:
            raise ValueError(f"the model looks back {self.contexts.depth} events, only {memory} are carried")
        check_codes(self.n_symbols, memory + 1)
        found = np.empty(len(symbols), np.int32)
        kernel.follow(
            self.follow_tables(),
            np.ascontiguousarray(symbols, np.int32),
            np.ascontiguousarray(segments, np.int64),
            memory,
            early,
            histories.state,
            histories.code,
            histories.events,
            found,
        )
        return found


def distances(delta: npt.NDArray[np.int32], final: npt.NDArray[np.bool_]) -> npt.NDArray[np.int32]:
    """The length of the shortest path from each state to a final state: 0 for final states, -1 if there is none."""
    away = np.where(final, 0, -1).astype(np.int32)
    for steps in range(1, len(delta) + 1):
        near = (away < 0) & (away[delta] == steps - 1).any(axis=1)
        if not near.any():
            break
        away[near] = steps
    return away
