"""The first stages of a query for all values of some variables: when they are satisfied, and since when they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from inkling.analysis.query.chain_automaton import ChainAutomaton
from inkling.analysis.query.query import Query
from inkling.evaluators.query.automaton.transitions import chain_tables
from inkling.evaluators.query.probable_events import Mask, Numbers
from inkling.evaluators.query.safe.layout import JointLayout, moved_rows
from inkling.evaluators.query.safe.moves import JointMoves, KindAlphabet, moves_of, started
from inkling.evaluators.query.safe.scope import StreamScope
from inkling.model.batch import Ints

OperatorState = Mapping[str, Any]
"""Arrays, and such mappings, by name: what an operator knows between two blocks."""

EVER = np.int64(-(2**62))
"""The start of a column that looks at all times."""


class OperatorRun(Protocol):
    """An operator at work on a block, for fixed values of the variables around it.

    It is asked for points or for a table, always the same, over the steps of the block one piece after the other.
    """

    @property
    def errors(self) -> NDArray[np.float64]:
        """Per step, by how much points may be too low."""

    @property
    def neglected(self) -> float:
        """By how much a table may be too low."""

    def points(self, first: int, last: int) -> Numbers:
        """How probable it is to be satisfied at each of some steps."""

    def table(self, first: int, last: int, kept: Ints, made: Ints, starts: Ints) -> Numbers:
        """How probable it is to have been satisfied since each start, by step and start.

        Of the columns before only those in `kept` are still asked for; new ones begin before the steps in `made`.
        """

    def possible(self, first: int, last: int) -> Mask:
        """Whether it can be satisfied at each of some steps; asked for before their table."""

    def carried(self) -> OperatorState: ...


class SafeOperator(Protocol):
    """Part of a plan."""

    def begun(self, scope: StreamScope, state: OperatorState | None) -> OperatorRun: ...


@dataclass(frozen=True, slots=True)
class MergedStates:
    """States of an automaton that differ only in whether a match has just ended are one."""

    chosen: Ints  # a state of each class
    of_state: Ints

    @classmethod
    def of(cls, automaton: ChainAutomaton) -> MergedStates:
        delta, final = automaton.dfa.delta, automaton.dfa.final
        of_state = np.zeros(len(delta), np.int64)
        while True:
            signature = np.column_stack([of_state, of_state[delta], final[delta]])
            _, chosen, refined = np.unique(signature, axis=0, return_index=True, return_inverse=True)
            if len(chosen) == of_state.max() + 1:
                break
            of_state = refined.ravel()
        _, chosen, of_state = np.unique(of_state, return_index=True, return_inverse=True)
        order = np.argsort(chosen)  # the class of state 0 comes first
        return cls(chosen[order], np.argsort(order)[of_state.ravel()])


@dataclass(frozen=True, slots=True)
class RegOperator:
    """The first stages, for all values of `variables`."""

    query: Query
    n_stages: int
    variables: tuple[str, ...]
    automaton: ChainAutomaton
    merged: MergedStates
    known: dict[bytes, KindAlphabet] = field(default_factory=dict, compare=False)

    @classmethod
    def of(cls, query: Query, n_stages: int, variables: Sequence[str], env: frozenset[str]) -> RegOperator:
        """Raises `TooManyStates` or `TooManySymbols`."""
        automaton = ChainAutomaton.of(query, n_stages, sorted(env))
        return cls(query, n_stages, tuple(variables), automaton, MergedStates.of(automaton))

    @property
    def n_states(self) -> int:
        return len(self.merged.chosen)

    def alphabet(self, predicates: Ints) -> KindAlphabet:
        """The alphabet of some predicate masks; the kind says whether a match ends."""
        some = np.unique(predicates)
        key = some.tobytes()
        if key not in self.known:
            tables = chain_tables(self.automaton, some)
            delta = self.merged.of_state[tables.delta[self.merged.chosen]]
            hit = tables.hit[self.merged.chosen].astype(np.int64)
            self.known[key] = KindAlphabet(tables.predicates, tables.union.astype(np.int64), delta, hit, 2)
        return self.known[key]

    def begun(self, scope: StreamScope, state: OperatorState | None) -> RegRun:
        return RegRun(self, scope, state)


class RegRun:
    neglected = 0.0

    def __init__(self, leaf: RegOperator, scope: StreamScope, state: OperatorState | None) -> None:
        dtype = scope.block.events.chance.dtype
        self._kernels = scope.block.kernels
        old, full = JointLayout.empty(leaf.n_states), np.empty(0, dtype)
        alive: Numbers = np.empty((0, 0), dtype)
        gone: Numbers = np.empty((0, 0), dtype)
        if state is not None:
            stored = JointLayout.unpacked(state, leaf.n_states)
            old = stored.possible(state["full"])
            shrunk = stored.rows_in(old)
            n_rows = int(old.base[-1])
            full, alive = moved_rows(state["full"], shrunk, n_rows), moved_rows(state["alive"], shrunk, n_rows)
            gone = state["gone"]
        found = scope.by_values(leaf.variables, range(leaf.n_stages))
        self._layout, self._moves = moves_of(scope, *found, old, leaf.alphabet)
        self._base = self._layout.base
        self._full = started(self._layout, old, full)
        self._alive = moved_rows(alive, old.rows_in(self._layout), int(self._base[-1]))
        self._alive[self._base[len(old.units) : -1]] = 1
        self._gone = moved_rows(gone, np.arange(len(gone)), len(self._layout.units))
        self._hits: Mask = self._moves.kind == 1
        self.errors = np.zeros(len(scope.times))

    def points(self, first: int, last: int) -> Numbers:
        out = np.zeros(last - first, self._full.dtype)
        self._kernels.hits_at(first, last, *arrays(self._moves), self._hits, self._base, self._full, out)
        return out

    def possible(self, first: int, last: int) -> Mask:
        out = np.zeros(last - first, self._full.dtype)
        self._kernels.hits_at(first, last, *arrays(self._moves), self._hits, self._base, self._full.copy(), out)
        return out > 0

    def table(self, first: int, last: int, kept: Ints, made: Ints, starts: Ints) -> Numbers:
        n_columns = len(kept) + len(made)
        alive = np.zeros((len(self._alive), n_columns), self._alive.dtype)
        alive[:, : len(kept)] = self._alive[:, kept]
        gone = np.zeros((len(self._gone), n_columns), alive.dtype)
        gone[:, : len(kept)] = self._gone[:, kept]
        out = np.zeros((last - first, n_columns), alive.dtype)
        begun = np.concatenate([np.full(len(kept), first - 1), made]).astype(np.int64)
        self._kernels.survivors(
            first, last, *arrays(self._moves), self._hits, self._base, self._full, alive, gone, begun, out
        )
        self._alive, self._gone = alive, gone
        return out

    def carried(self) -> OperatorState:
        return {**self._layout.packed(), "full": self._full, "alive": self._alive, "gone": self._gone}


def arrays(moves: JointMoves) -> tuple[NDArray[Any], ...]:
    """As kernels take them."""
    return moves.step_cells, moves.cell_unit, moves.offsets, moves.source, moves.target, moves.weight
