"""Operators of safe plans: their protocol, and the operators `Reg` and `Project` (Lahar, section 3.3.1).

An operator answers its part q of the query in one of two ways. As the topmost operator it gives points: P[q@t] for each
time t. Below another operator it gives a table: P[q[s, t]], the probability that q is true at least once from start s
to t, for each time t and each start s that the operator above asks for. Starts are the times of possible candidates of
the subgoal above; columns of a table stand for starts, rows for steps (the times of a block).

`Reg` computes its table with survivor vectors: for every start the distribution over automaton states in worlds without
a match since that start. The recursion printed in the paper is not used, because it is wrong. `Project` combines
independent groundings: P[q[s, t]] = 1 - Π(1 - P[q{x→d}[s, t]]).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from inkling.analysis.query.chain_automaton import ChainAutomaton
from inkling.analysis.query.query import Query
from inkling.evaluators.query.automaton.transitions import chain_tables
from inkling.evaluators.query.probable_events import Numbers
from inkling.evaluators.query.safe.joint_states import JointLayout, KindAlphabet, moved_rows, moves_of, started
from inkling.evaluators.query.safe.scope import StreamScope
from inkling.model.batch import Ints, Mask

OperatorState = Mapping[str, Any]
"""The state of an operator between two blocks: arrays and the states of child operators, by name."""

EVER = np.int64(-(2**62))
"""The start of a column that covers all times."""


class OperatorRun(Protocol):
    """An operator on one block, for fixed values of the variables that operators above it project.

    A run is asked either for points or for tables, for one piece of the block's steps after the other.
    """

    @property
    def errors(self) -> NDArray[np.float64]:
        """Per step, the most by which points may be too low."""

    @property
    def neglected(self) -> float:
        """The most by which a table may be too low."""

    def points(self, first: int, last: int) -> Numbers:
        """P[q@t] for the steps from `first` to `last` - 1."""

    def table(self, first: int, last: int, kept: Ints, made: Ints, starts: Ints) -> Numbers:
        """P[q[s, t]] for the steps from `first` to `last` - 1 (rows) and all starts (columns).

        Of the columns of the piece before, those in `kept` continue. New columns follow, which begin at the steps in
        `made`, at the times `starts`.
        """

    def possible(self, first: int, last: int) -> Mask:
        """Whether q can be true at each of some steps; called before `table` for the same steps."""

    def state(self) -> OperatorState: ...


class SafeOperator(Protocol):
    def run(self, scope: StreamScope, state: OperatorState | None) -> OperatorRun: ...


@dataclass(frozen=True, slots=True)
class MergedStates:
    """Classes of automaton states that differ only in whether a match has just ended."""

    chosen: Ints  # a state of each class
    of_state: Ints  # the class of each state

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
    """`Reg`, or `Project` over `Reg`: the automaton of the first subgoals, for all values of `variables`."""

    query: Query
    n_subgoals: int
    variables: tuple[str, ...]
    automaton: ChainAutomaton
    merged: MergedStates
    known: dict[bytes, KindAlphabet] = field(default_factory=dict, compare=False)

    @classmethod
    def of(cls, query: Query, n_subgoals: int, variables: Sequence[str], env: frozenset[str]) -> RegOperator:
        """Raises `TooManyStates` or `TooManySymbols`."""
        automaton = ChainAutomaton.of(query, n_subgoals, sorted(env))
        return cls(query, n_subgoals, tuple(variables), automaton, MergedStates.of(automaton))

    @property
    def n_states(self) -> int:
        return len(self.merged.chosen)

    def alphabet(self, predicates: Ints) -> KindAlphabet:
        """The alphabet of some predicate masks; kind 1 means that a match ends."""
        some = np.unique(predicates)
        key = some.tobytes()
        if key not in self.known:
            tables = chain_tables(self.automaton, some)
            delta = self.merged.of_state[tables.delta[self.merged.chosen]]
            hit = tables.hit[self.merged.chosen].astype(np.int64)
            self.known[key] = KindAlphabet(tables.predicates, tables.union.astype(np.int64), delta, hit, 2)
        return self.known[key]

    def run(self, scope: StreamScope, state: OperatorState | None) -> RegRun:
        return RegRun(self, scope, state)


class RegRun:
    """`full` has the probability of each joint state (f of the forward algorithm), `alive` the survivor vectors.

    The same without a match since the start of each column; `gone` has the probability of a match per grounding.
    """

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
        found = scope.by_values(leaf.variables, range(leaf.n_subgoals))
        self._layout, self._moves = moves_of(scope, *found, old, leaf.alphabet)
        self._base = self._layout.base
        self._full = started(self._layout, old, full)
        self._alive = moved_rows(alive, old.rows_in(self._layout), int(self._base[-1]))
        self._alive[self._base[len(old.groundings) : -1]] = 1
        self._gone = moved_rows(gone, np.arange(len(gone)), len(self._layout.groundings))
        self._hits: Mask = self._moves.kind == 1
        self.errors = np.zeros(len(scope.times))

    def points(self, first: int, last: int) -> Numbers:
        out = np.zeros(last - first, self._full.dtype)
        self._kernels.hits_at(first, last, self._moves, self._hits, self._base, self._full, out)
        return out

    def possible(self, first: int, last: int) -> Mask:
        out = np.zeros(last - first, self._full.dtype)
        self._kernels.hits_at(first, last, self._moves, self._hits, self._base, self._full.copy(), out)
        return out > 0

    def table(self, first: int, last: int, kept: Ints, made: Ints, starts: Ints) -> Numbers:
        n_columns = len(kept) + len(made)
        alive = np.zeros((len(self._alive), n_columns), self._alive.dtype)
        alive[:, : len(kept)] = self._alive[:, kept]
        gone = np.zeros((len(self._gone), n_columns), alive.dtype)
        gone[:, : len(kept)] = self._gone[:, kept]
        out = np.zeros((last - first, n_columns), alive.dtype)
        begun = np.concatenate([np.full(len(kept), first - 1), made]).astype(np.int64)
        self._kernels.survivors(first, last, self._moves, self._hits, self._base, self._full, alive, gone, begun, out)
        self._alive, self._gone = alive, gone
        return out

    def state(self) -> OperatorState:
        return {**self._layout.packed(), "full": self._full, "alive": self._alive, "gone": self._gone}


@dataclass(frozen=True, slots=True)
class ProjectOperator:
    """`Project` over an operator other than `Reg`: one run of the child per value of the variable."""

    child: SafeOperator
    variable: str
    n_subgoals: int

    def run(self, scope: StreamScope, state: OperatorState | None) -> ProjectRun:
        return ProjectRun(self, scope, state)


class ProjectRun:
    """Runs of the child by value; a value that first occurs in this block has had no match since any start."""

    def __init__(self, node: ProjectOperator, scope: StreamScope, state: OperatorState | None) -> None:
        self._dtype = scope.block.events.chance.dtype
        known = {} if state is None else {int(name): some for name, some in state["values"].items()}
        scopes = scope.divided(node.variable, range(node.n_subgoals))
        self._runs: dict[int, OperatorRun] = {
            value: node.child.run(scopes.get(value, scope.nothing()), known.get(value))
            for value in sorted({*known, *scopes})
        }
        self._fresh = set(scopes) - set(known)
        self.errors = np.zeros(len(scope.times))
        self._starts: Ints = np.empty(0, np.int64) if state is None else state["starts"]

    @property
    def neglected(self) -> float:
        return sum(run.neglected for run in self._runs.values())

    def points(self, first: int, last: int) -> Numbers:
        left = np.ones(last - first, self._dtype)
        for run in self._runs.values():
            left *= 1 - run.points(first, last)
            self.errors[first:last] += run.errors[first:last]
        return 1 - left

    def possible(self, first: int, last: int) -> Mask:
        found = np.zeros(last - first, bool)
        for run in self._runs.values():
            found |= run.possible(first, last)
        return found

    def table(self, first: int, last: int, kept: Ints, made: Ints, starts: Ints) -> Numbers:
        self._starts = np.concatenate([self._starts[kept], starts])
        left = np.ones((last - first, len(self._starts)), self._dtype)
        for value, run in self._runs.items():
            if value in self._fresh:  # asks for all columns anew
                old = np.concatenate([np.full(len(kept), first), made]).astype(np.int64)
                left *= 1 - run.table(first, last, np.empty(0, np.int64), old, self._starts)
            else:
                left *= 1 - run.table(first, last, kept, made, starts)
        self._fresh = set()
        return 1 - left

    def state(self) -> OperatorState:
        return {"values": {str(value): run.state() for value, run in self._runs.items()}, "starts": self._starts}
