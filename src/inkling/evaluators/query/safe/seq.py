"""The operator `Seq` for independent streams: q = q' ; g, where g reads no stream of q' (Lahar, section 3.3.1).

q is true at t if g accepts an event at t and q' was true since the latest earlier candidate of g. (For a Kleene plus:
since the latest rejected candidate.) Such a candidate is called a cut. With p_r the probability of a cut at r,

    P[q@t] = P[g accepts at t] · Σ over s < t of P[the latest cut before t is at s] · P[q'[s, t - 1]]

so the child is asked for one start s per time with a possible cut, as long as s may still be the latest cut. The sums
are computed column by column in O(1) per start and time, not by the nested integrals of the paper.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inkling.analysis.query.query import Query, accepted, candidate
from inkling.evaluators.query.probable_events import Numbers
from inkling.evaluators.query.safe.operators import EVER, OperatorRun, OperatorState, SafeOperator
from inkling.evaluators.query.safe.scope import StreamScope
from inkling.model.batch import Ints, Mask


@dataclass(frozen=True, slots=True)
class SeqOperator:
    """q' ; g for independent g. Starts of total probability up to `tolerance` may be neglected.

    `since_ever`: the operator above asks only for the start EVER.
    """

    query: Query
    child: SafeOperator
    subgoal: int
    tolerance: float = 0.0
    since_ever: bool = False

    def run(self, scope: StreamScope, state: OperatorState | None) -> SeqRun:
        return SeqRun(self, scope, state)


class ChildTable:
    """Asks the child for its table, with one column per possible cut."""

    _scope: StreamScope
    _child: OperatorRun
    _fresh: bool  # whether the child was not asked yet
    _starts: Ints  # times of the child's columns
    _latest: Numbers  # the last row of the child's table
    _mine: Ints  # starts of the columns that are asked for
    _held: Numbers  # the last row of the table of these columns

    def _resume(self, state: OperatorState, held: Numbers) -> None:
        """Continues with the part of a state that `_kept` gives; `held` is in the present order of rows."""
        self._starts, self._latest, self._mine, self._held = state["starts"], state["latest"], state["mine"], held
        self._fresh = bool(state["fresh"][0])

    def _kept(self) -> OperatorState:
        return {
            "child": self._child.state(),
            "starts": self._starts,
            "latest": self._latest,
            "mine": self._mine,
            "held": self._held,
            "fresh": np.array([self._fresh]),
        }

    def _asked(self, first: int, last: int, kept: Ints, cuts: Ints) -> tuple[Numbers, Ints]:
        """The child's table, one step late (row i is that of step i - 1), and the step at which each column begins."""
        begins = np.array([EVER - 1] if self._fresh else [], np.int64)
        new = np.concatenate([begins, self._scope.times[cuts]])
        made = np.concatenate([np.full(len(begins), first), cuts]).astype(np.int64)
        found = self._child.table(first, last, kept, made, np.maximum(new, EVER))
        child = one_step_late(found, self._latest[kept])
        self._latest = found[-1]
        self._starts = np.concatenate([self._starts[kept], new])
        self._fresh = False
        return child, np.concatenate([np.full(len(kept) + len(begins), first - 1), cuts]).astype(np.int64)


def one_step_late(table: Numbers, before: Numbers) -> Numbers:
    """A table in which row i is that of step i - 1; the first columns of the row before the first step are given."""
    late = np.zeros_like(table)
    late[0, : len(before)] = before
    late[1:] = table[:-1]
    return late


class SeqRun(ChildTable):
    def __init__(self, node: SeqOperator, scope: StreamScope, state: OperatorState | None) -> None:
        self._node, self._scope, self._kernels = node, scope, scope.block.kernels
        self._repeated = node.query.subgoals[node.subgoal].repeated
        self._match, self._taken = match_chances(scope, node.subgoal)
        self._cut = self._match - self._taken if self._repeated else self._match
        self._child = node.child.run(scope, None if state is None else state["child"])
        dtype = self._match.dtype
        none = np.empty(0, dtype)
        state = state or {
            "starts": np.empty(0, np.int64),
            "chances": none,
            "passed": none,
            "latest": none,
            "lost": np.zeros(1),
            "neglected": np.zeros(1),
            "mine": np.empty(0, np.int64),
            "held": none,
            "fresh": np.ones(1, bool),
            "seen": np.array([EVER - 1, EVER]),
        }
        self._resume(state, state["held"])
        self._chances: Numbers = state["chances"]  # of an event that ends waiting, at each start
        self._passed: Numbers = state["passed"]  # that waiting continues over it
        self._lost: NDArray[np.float64] = state["lost"]  # the chance of starts that are neglected
        self._neglected: NDArray[np.float64] = state["neglected"]  # the most that it can be in a table
        # when the child can have been satisfied last, and what certainly ended waiting
        self._seen: Ints = state["seen"]
        self.errors = np.zeros(len(scope.times))

    @property
    def neglected(self) -> float:
        return float(self._neglected[0]) + self._child.neglected

    def points(self, first: int, last: int) -> Numbers:
        cumulated = np.cumsum(self._chances)
        kept = np.flatnonzero(cumulated > self._tolerance(cumulated) - self._spent(cumulated))
        if len(kept) < len(self._starts) and len(kept):
            self._lost = self._lost + float(cumulated[kept[0] - 1])
        cuts = first + np.flatnonzero(self._cut[first:last] != 0)
        child, made = self._asked(first, last, kept, cuts)
        weights = self._grown(self._chances, kept, len(made))
        out = np.zeros(last - first, weights.dtype)
        self._kernels.next_after(first, last, self._cut, self._taken, made, weights, child, out)
        self._chances = weights
        self._add_errors(first, last)
        return out

    def possible(self, first: int, last: int) -> Mask:
        times = self._scope.times[first:last]
        satisfied = np.where(self._child.possible(first, last), times, EVER - 1)
        ended = np.where(self._cut[first:last] == 1, times, EVER)
        latest = [np.maximum.accumulate(np.append(*both)) for both in zip(self._seen, (satisfied, ended), strict=True)]
        self._seen = np.array([latest[0][-1], latest[1][-1]])
        return np.asarray(self._taken[first:last] != 0, bool) & (latest[0][:-1] >= latest[1][:-1])

    def table(self, first: int, last: int, kept: Ints, made: Ints, starts: Ints) -> Numbers:
        self._mine = np.concatenate([self._mine[kept], starts])
        held = np.zeros(len(self._mine), self._match.dtype)
        held[: len(kept)] = self._held[kept]
        mine_made = np.concatenate([np.full(len(kept), first - 1), made]).astype(np.int64)
        out = np.zeros((last - first, len(held)), held.dtype)
        if self._repeated:
            child, _ = self._asked(first, last, np.arange(len(self._starts)), np.empty(0, np.int64))
            self._kernels.any_within(first, last, self._match, child[:, 0], mine_made, held, out)
        else:
            old = self._still_asked(starts)
            cuts = first + np.flatnonzero(self._match[first:last] != 0)
            if self._node.since_ever:
                cuts = cuts[:0]
            begins = np.ones(int(self._fresh), held.dtype)
            child, made_columns = self._asked(first, last, old, cuts)
            chances = np.concatenate([self._chances[old], begins, self._match[cuts]])
            passed = np.concatenate([self._passed[old], 1 - begins, 1 - self._match[cuts]])
            self._chances, self._passed = chances, passed
            self._kernels.next_within(
                first,
                last,
                self._match,
                made_columns,
                self._starts,
                chances,
                passed,
                child,
                mine_made,
                self._mine,
                held,
                out,
            )
        self._held = held
        return out

    def state(self) -> OperatorState:
        return {
            **self._kept(),
            "chances": self._chances,
            "passed": self._passed,
            "lost": self._lost,
            "neglected": self._neglected,
            "seen": self._seen,
        }

    def _grown(self, weights: Numbers, kept: Ints, n_columns: int) -> Numbers:
        grown = np.zeros(n_columns, self._match.dtype)
        grown[: len(kept)] = weights[kept]
        if not len(weights):
            grown[:1] = 1  # no cut yet
        return grown

    def _still_asked(self, starts: Ints) -> Ints:
        """Columns of the child that can still matter for one of the starts that the operator above asks for."""
        if not len(self._starts):
            return np.empty(0, np.int64)
        mine = self._mine[: len(self._mine) - len(starts)]
        segment = np.searchsorted(mine, self._starts, side="right")
        tail = np.zeros(len(segment), self._passed.dtype)
        self._kernels.tails_of(segment, self._passed, tail)
        gone = np.asarray(tail <= self._tolerance(tail), bool)
        if np.any(tail[gone] != 0):
            self._neglected = np.array([self._node.tolerance])
        passed = self._passed.copy()
        for one in np.flatnonzero(gone):
            passed[one + 1] *= passed[one]
        self._passed = passed
        return np.flatnonzero(~gone)

    def _tolerance(self, like: Numbers) -> Any:
        return Fraction(self._node.tolerance) if like.dtype == object else self._node.tolerance

    def _spent(self, like: Numbers) -> Any:
        """The neglected probability that still matters."""
        return Fraction(float(self._lost[0])) if like.dtype == object else self._lost[0]

    def _add_errors(self, first: int, last: int) -> None:
        """Add to `errors` the most by which answers of these steps may be too low."""
        self.errors[first:last] = self._child.neglected
        if self._lost[0] == 0:
            return
        on = np.cumprod(np.append(1.0, 1.0 - self._cut[first:last].astype(float)))
        self.errors[first:last] += self._lost[0] * on[:-1]
        self._lost = self._lost * on[-1]


def match_chances(scope: StreamScope, subgoal: int) -> tuple[Numbers, Numbers]:
    """Per step, the probabilities that a subgoal has a candidate, and that it has an accepted one."""
    block, events = scope.block, scope.block.events
    groups = block.groups(scope.streams[subgoal])
    rows = block.rows(groups)
    group = np.repeat(np.arange(len(groups)), events.offsets[groups + 1] - events.offsets[groups])
    steps = scope.steps_of(groups)
    found = []
    for bit in (candidate(subgoal), accepted(subgoal)):
        fits = (block.predicates[rows] & bit) != 0
        mass = np.zeros(len(groups), events.chance.dtype)
        np.add.at(mass, group[fits], events.chance[rows[fits]])
        if not events.is_exact:
            mass = np.where(mass > 1.0 - 1e-12, 1.0, mass)
        found.append(_any_of(mass, steps, len(scope.times)))
    return found[0], found[1]


def _any_of(chances: Numbers, steps: Ints, n_steps: int) -> Numbers:
    """Per step, the probability of at least one of independent events: 1 - Π(1 - p)."""
    if chances.dtype == object:
        none = np.ones(n_steps, object)
        np.multiply.at(none, steps, 1 - chances)
        return 1 - none
    logs = np.zeros(n_steps)
    with np.errstate(divide="ignore"):
        np.add.at(logs, steps, np.log1p(-chances))
    return -np.expm1(logs)


@dataclass(frozen=True, slots=True)
class LastWinsOperator:
    """A last subgoal for which every event that the subgoal before accepts is a candidate.

    A match must continue from the latest candidate, so the state is one number Z, with Z_0 = 0:
    P[q@t] = P[accepted at t] · Z_{t-1}, and Z_t = P[no candidate at t] · Z_{t-1} + P[q'@t].
    """

    child: SafeOperator
    subgoal: int

    def run(self, scope: StreamScope, state: OperatorState | None) -> LastWinsRun:
        return LastWinsRun(self, scope, state)


class PointsOnly:
    """The common part of operators of a last subgoal, above which no operator asks for tables."""

    neglected = 0.0

    def possible(self, first: int, last: int) -> Mask:
        raise NotImplementedError("a last subgoal has points only")

    def table(self, first: int, last: int, kept: Ints, made: Ints, starts: Ints) -> Numbers:
        raise NotImplementedError("a last subgoal has points only")


class LastWinsRun(PointsOnly):
    def __init__(self, node: LastWinsOperator, scope: StreamScope, state: OperatorState | None) -> None:
        self._kernels = scope.block.kernels
        self._match, self._taken = match_chances(scope, node.subgoal)
        self._child = node.child.run(scope, None if state is None else state["child"])
        self.errors = np.zeros(len(scope.times))
        self._latest: Numbers = np.zeros(1, self._match.dtype) if state is None else state["latest"]
        self._too_low = np.zeros(1) if state is None else state["too_low"]

    def points(self, first: int, last: int) -> Numbers:
        out = np.zeros(last - first, self._match.dtype)
        satisfied = self._child.points(first, last)
        match, taken = self._match[first:last], self._taken[first:last]
        self._latest = np.array([self._kernels.covered(match, taken, satisfied, self._latest[0], out)], out.dtype)
        missing = self._child.errors[first:last]
        if missing.any() or self._too_low[0]:
            plain = (match.astype(float), taken.astype(float), missing, self._too_low[0], self.errors[first:last])
            self._too_low = np.array([self._kernels.covered(*plain)])
        return out

    def state(self) -> OperatorState:
        return {"child": self._child.state(), "latest": self._latest, "too_low": self._too_low}
