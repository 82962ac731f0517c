"""The engine of safe queries: the operators of a safe plan, one run per grounding (Lahar, section 3.3).

    R(x); S(x); T(y)    →  SeqOperator(RegOperator for all x, subgoal T)

Operators must keep one number per start that can still matter, so a stream has bounded state only if starts expire:
either a candidate is certain, or the probability of a start falls below `tolerance` and is neglected. Answers are then
too low by at most their `error`. The start of an answer is its own time, because operators do not know starts.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.analysis.query.plans import GroupSeqPlan, LastWinsPlan, ProjectPlan, RegPlan, SafePlan, SeqPlan
from inkling.analysis.query.query import Query
from inkling.analysis.query.strategy import is_one_stream
from inkling.evaluators.query.answers import Answers, joined
from inkling.evaluators.query.groundings import StateByGrounding
from inkling.evaluators.query.probable_events import Numbers, ProbableEvents
from inkling.evaluators.query.safe import group, seq, seq_markov
from inkling.evaluators.query.safe.operators import EVER, OperatorState, ProjectOperator, RegOperator, SafeOperator
from inkling.evaluators.query.safe.scope import SafeBlock, StreamScope, scopes_of
from inkling.kernels.query.intervals import any_within, covered, hits_at, next_after, next_within, survivors, tails_of
from inkling.kernels.query.moves import moves_of_cells
from inkling.kernels.query.seq_markov import (
    chained_after,
    chained_any_within,
    chained_possible,
    chained_within,
    grouped_after,
)
from inkling.model.batch import Ints, Mask

COMPILED = SimpleNamespace(
    any_within=any_within,
    chained_after=chained_after,
    chained_any_within=chained_any_within,
    chained_possible=chained_possible,
    chained_within=chained_within,
    covered=covered,
    grouped_after=grouped_after,
    hits_at=hits_at,
    moves_of_cells=moves_of_cells,
    next_after=next_after,
    next_within=next_within,
    survivors=survivors,
    tails_of=tails_of,
)

SHORTEST, LONGEST = 32, 256
"""Length of the pieces of a block, in steps; starts that no longer matter are dropped after each piece."""

MOST_ROWS = 1 << 19
"""The most rows whose moves are in memory at once."""


@dataclass(frozen=True, slots=True)
class SafeState(StateByGrounding):
    """The state of the operators, per grounding."""

    groundings: Mapping[int, OperatorState]

    @property
    def n_states(self) -> int:
        """How many numbers the state has."""
        return sum(map(_size, self.groundings.values()))


def _size(some: Mapping[str, Any] | np.ndarray) -> int:
    """How many numbers there are in nested mappings of arrays."""
    return sum(map(_size, some.values())) if isinstance(some, Mapping) else np.size(some)


@dataclass(frozen=True)
class Safe:
    """A query and its safe plan. Groundings are by the variables of the head and those projected outermost.

    `ever` asks for the time of the first match; every possible time of a match is reported, also with probability 0.
    `tolerance` is the probability that each operator may neglect at each time.
    """

    query: Query
    plan: SafePlan
    ever: bool = False
    tolerance: float = 0.0
    pieces: tuple[int, int] = (SHORTEST, LONGEST)
    most_rows: int = MOST_ROWS
    kernels: SimpleNamespace = field(default_factory=lambda: COMPILED)

    @cached_property
    def variables(self) -> tuple[str, ...]:
        return (*sorted(self.query.head), *_projected(self.plan)[0])

    @cached_property
    def top(self) -> SafeOperator:
        """Raises `TooManyStates` or `TooManySymbols`."""
        inner = _projected(self.plan)[1]
        return operator_of(
            self.query,
            inner,
            frozenset(self.variables),
            tolerance=self.tolerance,
            within=self.ever,
            since_ever=self.ever,
        )

    def start(self) -> SafeState:
        return SafeState({})

    def advance(
        self, state: SafeState, events: ProbableEvents, predicates: Ints, tables: Mapping[str, pa.Table] | None = None
    ) -> tuple[SafeState, Answers]:
        """The state and the answers after a block of complete times. Raises `TooManyValues`."""
        after: dict[int, OperatorState] = dict(state.groundings)
        parts = [Answers.exactly(np.empty(0, np.uint64), np.empty(0, np.int64), np.empty(0, events.chance.dtype))]
        for block in SafeBlock.of(self.query, events, predicates, self.kernels).windows(self.most_rows):
            for grounding, scope in scopes_of(block, self.variables).items():
                after[grounding], chances, possible, errors = self._advanced(after.get(grounding), scope)
                some = np.flatnonzero(possible)
                time = scope.times[some]
                chance = chances[some] if events.is_exact else np.minimum(chances[some], 1.0)
                parts.append(Answers(np.full(len(some), grounding, np.uint64), time, chance, time, errors[some]))
        return SafeState(after), joined(parts)

    def _advanced(
        self, state: OperatorState | None, scope: StreamScope
    ) -> tuple[OperatorState, Numbers, Mask, NDArray[np.float64]]:
        """The state after a block of one grounding, probabilities per step, which steps are emitted, and errors."""
        run = self.top.run(scope, None if state is None else state["run"])
        pieces = list(self._pieces(len(scope.times)))
        if not self.ever:
            found = np.concatenate([run.points(first, last) for first, last in pieces])
            return {"run": run.state()}, found, np.asarray(found > 0, bool), run.errors
        seen = [np.zeros(1, scope.block.events.chance.dtype) if state is None else state["seen"]]
        possible = []
        for first, last in pieces:
            possible.append(run.possible(first, last))
            begins = np.full(int(state is None and first == 0), first)
            table = run.table(first, last, np.arange(1 - len(begins)), begins, np.full(len(begins), EVER))
            seen.append(table[:, 0])
        so_far = np.concatenate(seen)
        return {"run": run.state(), "seen": so_far[-1:]}, np.diff(so_far), np.concatenate(possible), run.errors

    def _pieces(self, n_steps: int) -> Iterator[tuple[int, int]]:
        shortest, longest = self.pieces
        first = 0
        while first < n_steps:
            last = min(n_steps, first + min(longest, max(shortest, first // 4)))
            yield first, last
            first = last


def _projected(plan: SafePlan) -> tuple[list[str], SafePlan]:
    """The variables that are projected outermost, and the plan below."""
    variables: list[str] = []
    while isinstance(plan, ProjectPlan):
        variables.append(plan.variable)
        plan = plan.child
    return variables, plan


def operator_of(
    query: Query,
    plan: SafePlan,
    env: frozenset[str],
    *,
    tolerance: float = 0.0,
    within: bool = False,
    since_ever: bool = False,
) -> SafeOperator:
    """The operators of a plan. `within`: the operator above asks for tables; `since_ever`: only for the start EVER."""
    match plan:
        case RegPlan(n_subgoals=n):
            return RegOperator.of(query, n, (), env)
        case ProjectPlan():
            leaf = _leaf(query, plan, env)
            if leaf is not None:
                return leaf
            child = operator_of(
                query, plan.child, env | {plan.variable}, tolerance=tolerance, within=within, since_ever=since_ever
            )
            return ProjectOperator(child, plan.variable, _n_subgoals(plan))
        case SeqPlan(child=before, subgoal=number):
            ever = within and (since_ever or query.subgoals[number].repeated)
            child = operator_of(query, before, env, tolerance=tolerance, within=True, since_ever=ever)
            if not query.source(number).markov:
                return seq.SeqOperator(query, child, number, tolerance, since_ever)
            if within or query.subgoals[number].repeated or is_one_stream(query, number, env):
                return seq_markov.SeqMarkovOperator(query, child, number, tolerance, since_ever)
            return group.SeqManyOperator(query, child, number, tolerance)
        case LastWinsPlan(child=before, subgoal=number):
            return seq.LastWinsOperator(operator_of(query, before, env, tolerance=tolerance), number)
        case GroupSeqPlan(child=before, subgoal=number):
            leaf = _leaf(query, before, env)
            assert leaf is not None
            return group.GroupSeqOperator(query, leaf, number, tolerance)


def _leaf(query: Query, plan: SafePlan, env: frozenset[str]) -> RegOperator | None:
    variables, inner = _projected(plan)
    if not isinstance(inner, RegPlan):
        return None
    return RegOperator.of(query, inner.n_subgoals, variables, env | frozenset(variables))


def _n_subgoals(plan: SafePlan) -> int:
    match plan:
        case RegPlan(n_subgoals=n):
            return n
        case ProjectPlan(child=child):
            return _n_subgoals(child)
        case SeqPlan(subgoal=number) | LastWinsPlan(subgoal=number) | GroupSeqPlan(subgoal=number):
            return number + 1
