"""Safe queries: answered by operators on intervals of time, for each value of the variables around them.

The start of an answer is its own time: only chains of states know how early a match began.
"""

from __future__ import annotations

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
from inkling.evaluators.query.probable_events import Mask, Numbers, ProbableEvents
from inkling.evaluators.query.safe import group, seq, seq_markov
from inkling.evaluators.query.safe.intervals import EVER, OperatorRun, OperatorState, RegOperator, SafeOperator
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
from inkling.model.batch import Ints

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
"""Pieces of a block, in steps: after each, starts are dropped that no longer count."""

MOST_ROWS = 1 << 19
"""Rows whose moves are held at a time."""


@dataclass(frozen=True, slots=True)
class SafeState:
    """What the operators know of each unit."""

    units: Mapping[int, OperatorState]

    @property
    def n_states(self) -> int:
        """How many numbers are remembered."""
        return sum(map(_size, self.units.values()))


def _size(some: Mapping[str, Any] | np.ndarray) -> int:
    """How many numbers stand in arrays inside of mappings."""
    return sum(map(_size, some.values())) if isinstance(some, Mapping) else np.size(some)


@dataclass(frozen=True)
class Safe:
    """A query and its plan. Answers are identified by the values of the head's variables and of those projected last.

    `ever` asks for the first time at which it is satisfied; times at which it can be are reported even
    where that cannot be the first. `spare` is the chance that may be neglected at each time by
    each operator, and by which answers are too low then.
    """

    query: Query
    plan: SafePlan
    ever: bool = False
    spare: float = 0.0
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
            self.query, inner, frozenset(self.variables), spare=self.spare, within=self.ever, since_ever=self.ever
        )

    def start(self) -> SafeState:
        return SafeState({})

    def advance(
        self, state: SafeState, events: ProbableEvents, predicates: Ints, tables: Mapping[str, pa.Table] | None = None
    ) -> tuple[SafeState, Answers]:
        """Ingest complete times, later than all before. Raises `TooManyValues`."""
        after: dict[int, OperatorState] = dict(state.units)
        parts = [Answers.exactly(np.empty(0, np.uint64), np.empty(0, np.int64), np.empty(0, events.chance.dtype))]
        for block in SafeBlock.of(self.query, events, predicates, self.kernels).windows(self.most_rows):
            for unit, scope in scopes_of(block, self.variables).items():
                after[unit], chances, possible, errors = self._advanced(after.get(unit), scope)
                some = np.flatnonzero(possible)
                time = scope.times[some]
                chance = chances[some] if events.is_exact else np.minimum(chances[some], 1.0)
                parts.append(Answers(np.full(len(some), unit, np.uint64), time, chance, time, errors[some]))
        return SafeState(after), joined(parts)

    def _advanced(
        self, state: OperatorState | None, scope: StreamScope
    ) -> tuple[OperatorState, Numbers, Mask, NDArray[np.float64]]:
        """What is known then, chances of all steps, which of them are emitted, and errors."""
        run = self.top.begun(scope, None if state is None else state["run"])
        pieces = list(self._pieces(len(scope.times)))
        if not self.ever:
            found = np.concatenate([run.points(first, last) for first, last in pieces])
            return {"run": run.carried()}, found, np.asarray(found > 0, bool), run.errors
        seen = [np.zeros(1, scope.block.events.chance.dtype) if state is None else state["seen"]]
        possible = []
        for first, last in pieces:
            possible.append(run.possible(first, last))
            begins = np.full(int(state is None and first == 0), first)
            table = run.table(first, last, np.arange(1 - len(begins)), begins, np.full(len(begins), EVER))
            seen.append(table[:, 0])
        so_far = np.concatenate(seen)
        return {"run": run.carried(), "seen": so_far[-1:]}, np.diff(so_far), np.concatenate(possible), run.errors

    def _pieces(self, n_steps: int) -> Iterator[tuple[int, int]]:
        shortest, longest = self.pieces
        first = 0
        while first < n_steps:
            last = min(n_steps, first + min(longest, max(shortest, first // 4)))
            yield first, last
            first = last


def _projected(plan: SafePlan) -> tuple[list[str], SafePlan]:
    """The variables that are projected last, and the plan for their values."""
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
    spare: float = 0.0,
    within: bool = False,
    since_ever: bool = False,
) -> SafeOperator:
    """The operators of a plan. `within` says that tables are asked for, `since_ever` that their only start is ever."""
    match plan:
        case RegPlan(n_stages=n):
            return RegOperator.of(query, n, (), env)
        case ProjectPlan():
            leaf = _leaf(query, plan, env)
            if leaf is not None:
                return leaf
            child = operator_of(
                query, plan.child, env | {plan.variable}, spare=spare, within=within, since_ever=since_ever
            )
            return ProjectOperator(child, plan.variable, _n_stages(plan))
        case SeqPlan(child=before, stage=number):
            ever = within and (since_ever or query.stages[number].repeated)
            child = operator_of(query, before, env, spare=spare, within=True, since_ever=ever)
            if not query.source(number).markov:
                return seq.SeqOperator(query, child, number, spare, since_ever)
            if within or query.stages[number].repeated or is_one_stream(query, number, env):
                return seq_markov.SeqMarkovOperator(query, child, number, spare, since_ever)
            return group.SeqManyOperator(query, child, number, spare)
        case LastWinsPlan(child=before, stage=number):
            return seq.LastWinsOperator(operator_of(query, before, env, spare=spare), number)
        case GroupSeqPlan(child=before, stage=number):
            leaf = _leaf(query, before, env)
            assert leaf is not None
            return group.GroupSeqOperator(query, leaf, number, spare)


def _leaf(query: Query, plan: SafePlan, env: frozenset[str]) -> RegOperator | None:
    variables, inner = _projected(plan)
    if not isinstance(inner, RegPlan):
        return None
    return RegOperator.of(query, inner.n_stages, variables, env | frozenset(variables))


def _n_stages(plan: SafePlan) -> int:
    match plan:
        case RegPlan(n_stages=n):
            return n
        case ProjectPlan(child=child):
            return _n_stages(child)
        case SeqPlan(stage=number) | LastWinsPlan(stage=number) | GroupSeqPlan(stage=number):
            return number + 1


@dataclass(frozen=True, slots=True)
class ProjectOperator:
    """For operators that are more than a chain of states, value by value."""

    child: SafeOperator
    variable: str
    n_stages: int

    def begun(self, scope: StreamScope, state: OperatorState | None) -> ProjectRun:
        return ProjectRun(self, scope, state)


class ProjectRun:
    def __init__(self, node: ProjectOperator, scope: StreamScope, state: OperatorState | None) -> None:
        self._dtype = scope.block.events.chance.dtype
        known = {} if state is None else {int(name): some for name, some in state["values"].items()}
        scopes = scope.divided(node.variable, range(node.n_stages))
        self._runs: dict[int, OperatorRun] = {
            value: node.child.begun(scopes.get(value, scope.nothing()), known.get(value))
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
            if value in self._fresh:  # of which nothing has happened since any start
                old = np.concatenate([np.full(len(kept), first), made]).astype(np.int64)
                left *= 1 - run.table(first, last, np.empty(0, np.int64), old, self._starts)
            else:
                left *= 1 - run.table(first, last, kept, made, starts)
        self._fresh = set()
        return 1 - left

    def carried(self) -> OperatorState:
        return {"values": {str(value): run.carried() for value, run in self._runs.items()}, "starts": self._starts}
