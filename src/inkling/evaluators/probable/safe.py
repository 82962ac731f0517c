"""Safe queries: answered by operators on intervals of time, for each value of the variables around them.

The start of an answer is its own time: how early a match began is told by chains of states only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

from inkling.analysis.probable.plans import Chain, Cover, Follow, Group, Plan, Project
from inkling.analysis.probable.query import Query
from inkling.evaluators.probable import cover, follow, follow_chained, grouped
from inkling.evaluators.probable.answers import Answers
from inkling.evaluators.probable.ground import Ground, Numbers
from inkling.evaluators.probable.intervals import EVER, Carried, Leaf, Operator, Run
from inkling.evaluators.probable.projected import Projected
from inkling.evaluators.probable.scope import Binding, Block, Scope, closest, scopes_of, unit_names
from inkling.kernels.probable_intervals import (
    any_within,
    covered,
    hits_at,
    next_after,
    next_within,
    survivors,
    tails_of,
)
from inkling.kernels.probable_moves import moves_of_cells
from inkling.kernels.probable_waits import chained_after, chained_any_within, chained_within, grouped_after
from inkling.logical.plan import Per
from inkling.model.batch import Ints

COMPILED = SimpleNamespace(
    any_within=any_within,
    chained_after=chained_after,
    chained_any_within=chained_any_within,
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

SafeState = Mapping[Binding, Carried]
"""What is known of each binding of the variables, and of those that leave some open."""


@dataclass(frozen=True, slots=True)
class Safe:
    """A query and its plan; answers are told by the values of `variables`, which are independent where they are projected.

    `spare` is the chance that may be neglected at each time, and by which answers may be too low.
    """

    query: Query
    variables: tuple[str, ...]
    top: Operator
    spare: float
    pieces: tuple[int, int] = (SHORTEST, LONGEST)
    kernels: SimpleNamespace = field(default_factory=lambda: COMPILED)

    @classmethod
    def of(cls, query: Query, plan: Plan, *, spare: float = 0.0, **others: Any) -> Safe:
        """Raises `TooManyStates` or `TooManySymbols`."""
        outer: list[str] = []
        while isinstance(plan, Project):
            outer.append(plan.variable)
            plan = plan.child
        env = query.head | frozenset(outer)
        ever = query.per is Per.VALUES
        top = operator_of(query, plan, env, spare=spare, within=ever, since_ever=ever)
        return cls(query, (*sorted(query.head), *outer), top, spare, **others)

    def start(self) -> SafeState:
        return {}

    def advance(self, state: SafeState, ground: Ground, words: Ints) -> tuple[SafeState, Answers]:
        """Take in complete times, later than all before. Raises `TooManyValues`."""
        block = Block.of(self.query, ground, words, self.kernels)
        after: dict[Binding, Carried] = dict(state)
        told: list[tuple[Binding, Ints, Numbers, np.ndarray]] = []
        for binding, scope in sorted(scopes_of(block, self.variables, state).items(), key=repr):
            before = closest(binding, state)
            run = self.top.begun(scope, None if before is None else state[before]["run"])
            if self.query.per is Per.VALUES:
                seen = np.zeros(1, ground.chance.dtype) if before is None else state[before]["seen"]
                table = np.concatenate(list(self._tables(run, scope, is_new=before is None)))
                found = np.diff(np.concatenate([seen, table[:, 0]]))
                after[binding] = {"run": run.carried(), "seen": table[-1:, 0]}
            else:
                found = np.concatenate(list(self._points(run, scope)))
                after[binding] = {"run": run.carried()}
            errors = getattr(run, "errors", None)
            if None not in binding:
                told.append((binding, scope.times, found, np.zeros(len(found)) if errors is None else errors))
        return after, self._answers(told, ground)

    def _points(self, run: Run, scope: Scope) -> Iterator[Numbers]:
        for first, last in self._cut(len(scope.times)):
            yield run.points(first, last)

    def _tables(self, run: Run, scope: Scope, *, is_new: bool) -> Iterator[Numbers]:
        for first, last in self._cut(len(scope.times)):
            begins = is_new and first == 0
            made, starts = np.full(int(begins), first, np.int64), np.full(int(begins), EVER)
            yield run.table(first, last, np.arange(1 - len(made)), made, starts)

    def _cut(self, n_steps: int) -> Iterator[tuple[int, int]]:
        shortest, longest = self.pieces
        first = 0
        while first < n_steps:
            last = min(n_steps, first + min(longest, max(shortest, first // 4)))
            yield first, last
            first = last

    def _answers(self, told: list[tuple[Binding, Ints, Numbers, np.ndarray]], ground: Ground) -> Answers:
        units, times, chances, errors = [], [], [], []
        for binding, time, found, error in told:
            some = np.flatnonzero(found > 0)
            codes = [np.array([value], np.uint64) for value in binding]
            units.append(np.repeat(unit_names(codes, 1), len(some)))
            times.append(time[some])
            chances.append(found[some] if ground.is_exact else np.minimum(found[some], 1.0))
            errors.append(error[some])
        if not told:
            none = np.empty(0, np.int64)
            return Answers.exactly(np.empty(0, np.uint64), none, np.empty(0, ground.chance.dtype))
        time = np.concatenate(times)
        return Answers(np.concatenate(units), time, np.concatenate(chances), time, np.concatenate(errors))


def operator_of(
    query: Query,
    plan: Plan,
    env: frozenset[str],
    *,
    spare: float = 0.0,
    within: bool = False,
    since_ever: bool = False,
) -> Operator:
    """The operators of a plan. `within` says that tables are asked for, `since_ever` that their only start is ever."""
    match plan:
        case Chain(n_stages=n):
            return Leaf.of(query, n, (), env)
        case Project():
            leaf = _leaf(query, plan, env)
            if leaf is not None:
                return leaf
            child = operator_of(
                query, plan.child, env | {plan.variable}, spare=spare, within=within, since_ever=since_ever
            )
            return Projected(child, plan.variable, _n_stages(plan))
        case Follow(child=before, stage=number):
            ever = within and (since_ever or query.stages[number].repeated)
            child = operator_of(query, before, env, spare=spare, within=True, since_ever=ever)
            if not query.source(number).markov:
                return follow.Follow(query, child, number, spare, since_ever)
            if within or query.stages[number].repeated or _is_one_stream(query, number, env):
                return follow_chained.FollowChained(query, child, number, spare, since_ever)
            return grouped.FollowMany(query, child, number, spare)
        case Cover(child=before, stage=number):
            return cover.Cover(operator_of(query, before, env, spare=spare), number)
        case Group(child=before, stage=number):
            leaf = _leaf(query, before, env)
            assert leaf is not None
            return grouped.Grouped(query, leaf, number, spare)


def _leaf(query: Query, plan: Plan, env: frozenset[str]) -> Leaf | None:
    variables: list[str] = []
    while isinstance(plan, Project):
        variables.append(plan.variable)
        plan = plan.child
    if not isinstance(plan, Chain):
        return None
    return Leaf.of(query, plan.n_stages, variables, env | frozenset(variables))


def _n_stages(plan: Plan) -> int:
    match plan:
        case Chain(n_stages=n):
            return n
        case Project(child=child):
            return _n_stages(child)
        case Follow(stage=number) | Cover(stage=number) | Group(stage=number):
            return number + 1


def _is_one_stream(query: Query, number: int, env: frozenset[str]) -> bool:
    """Whether given values of variables leave one key of a stage's stream."""
    known = set(query.stages[number].constants)
    for name in env:
        known |= query.variable(name).columns_in(number)
    return set(query.source(number).key) <= known


def interval_table(
    query: Query, plan: Plan, ground: Ground, words: Ints, kernels: SimpleNamespace = COMPILED
) -> dict[tuple[int, int], Any]:
    """How probable it is that a query without free variables is satisfied between two times, by these times."""
    block = Block.of(query, ground, words, kernels)
    scopes = scopes_of(block, (), ())
    if not scopes:
        return {}
    scope = scopes[()]
    run = operator_of(query, plan, frozenset(), within=True).begun(scope, None)
    steps, times = np.arange(len(scope.times)), scope.times
    found = run.table(0, len(steps), steps[:0], steps, times)
    return {(int(times[i]), int(times[j])): found[j, i] for i in steps for j in steps if i <= j}
