"""The operator `GroupSeq`: q = q' ; g, where g may read streams of q', or many Markovian streams.

Not in the paper. Fix i, the time of the latest candidate of g before t. There must be a candidate at i, none after i,
an accepted one at t, and q' must be true from i to t - 1. "No candidate", "none accepted" and "q' is not true" are each
conjunctions over groundings, which are independent, so their probabilities multiply. Inclusion and exclusion over the
three conditions that are complements gives up to eight signed products (ways) per i:

    P[q@t] = Σ over i < t, Σ over α, β, γ in {0, 1} of (-1)^(α+β+γ) · Π over groundings of Φ(i, t; α, β, γ)

Terms cancel, so the absolute error is about 1e-16 times their number.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from inkling.analysis.query.query import Query, accepted, candidate
from inkling.evaluators.query.automaton.transitions import closed, unions
from inkling.evaluators.query.probable_events import Numbers
from inkling.evaluators.query.safe.joint_states import JointLayout, KindAlphabet, moved_rows, moves_of, started
from inkling.evaluators.query.safe.operators import EVER, OperatorState, RegOperator, SafeOperator
from inkling.evaluators.query.safe.scope import StreamScope
from inkling.evaluators.query.safe.seq import PointsOnly, one_step_late
from inkling.evaluators.query.safe.seq_markov import subgoal_symbols
from inkling.model.batch import Ints
from inkling.model.hashes import Hashes, combined

ROUNDED = 1e-13
"""Probabilities below this are the rounding error of terms that cancel."""


@dataclass(frozen=True, slots=True)
class GroupSeqOperator:
    """The subgoals of `leaf`, then a last one that may read their streams."""

    query: Query
    leaf: RegOperator
    subgoal: int
    tolerance: float = 0.0
    known: dict[bytes, KindAlphabet] = field(default_factory=dict, compare=False)

    @property
    def n_states(self) -> int:
        return self.leaf.n_states

    @property
    def child(self) -> SafeOperator | None:
        return None

    def groundings(self, scope: StreamScope) -> tuple[Ints, Hashes, Ints]:
        """Streams by the variables of the leaf; a stream that only the last subgoal reads is a grounding of its own."""
        streams, groundings, masks = scope.by_values(self.leaf.variables, range(self.leaf.n_subgoals))
        last = np.unique(scope.streams[self.subgoal])
        masks = np.where(np.isin(streams, last), masks | (3 << (2 * self.subgoal)), masks)
        others = np.setdiff1d(last, streams)
        alone = combined(np.ones(len(others), np.uint64), scope.block.events.name[others])
        return (
            np.concatenate([streams, others]),
            np.concatenate([groundings, alone]),
            np.concatenate([masks, np.full(len(others), 3 << (2 * self.subgoal), np.int64)]),
        )

    def alphabet(self, predicates: Ints) -> KindAlphabet:
        """Transitions of the leaf; kind: 0 no candidate, 1 rejected, 2 accepted, plus 3 if the leaf has a match."""
        some = np.unique(predicates)
        key = some.tobytes()
        if key not in self.known:
            symbols = closed(some)
            before = symbols & (candidate(self.subgoal) - 1)
            leaf = self.leaf.alphabet(before)
            mine = np.searchsorted(leaf.predicates, before)
            kind = ((symbols & candidate(self.subgoal)) != 0).astype(np.int64) + (
                (symbols & accepted(self.subgoal)) != 0
            )
            union = np.searchsorted(symbols, unions(symbols)).astype(np.int64)
            self.known[key] = KindAlphabet(symbols, union, leaf.delta[:, mine], kind + 3 * leaf.kind[:, mine], 6)
        return self.known[key]

    def run(self, scope: StreamScope, state: OperatorState | None) -> GroupSeqRun:
        return GroupSeqRun(self, scope, state)


@dataclass(frozen=True, slots=True)
class SeqManyOperator:
    """A last subgoal over many Markovian streams, none of which its child reads; each stream is a grounding."""

    query: Query
    child: SafeOperator
    subgoal: int
    tolerance: float = 0.0

    @property
    def n_states(self) -> int:
        return 1

    def groundings(self, scope: StreamScope) -> tuple[Ints, Hashes, Ints]:
        streams = scope.streams[self.subgoal]
        masks = np.full(len(streams), 3 << (2 * self.subgoal), np.int64)
        return streams, scope.block.events.name[streams], masks

    def alphabet(self, predicates: Ints) -> KindAlphabet:
        return subgoal_symbols(self.subgoal)(predicates)

    def run(self, scope: StreamScope, state: OperatorState | None) -> GroupSeqRun:
        return GroupSeqRun(self, scope, state)


class GroupSeqRun(PointsOnly):
    """`ways[w, row, i]` has the probability of a joint state and of the conditions of way w since start i."""

    def __init__(
        self, node: GroupSeqOperator | SeqManyOperator, scope: StreamScope, state: OperatorState | None
    ) -> None:
        self._node, self._scope, self._kernels = node, scope, scope.block.kernels
        self._repeated = node.query.subgoals[node.subgoal].repeated
        dtype = scope.block.events.chance.dtype
        n_ways = 4 if node.child is None else 2
        old = JointLayout.empty(node.n_states) if state is None else JointLayout.unpacked(state, node.n_states)
        self._child = None if node.child is None else node.child.run(scope, None if state is None else state["child"])
        state = state or {
            "full": np.empty(0, dtype),
            "ways": np.empty((n_ways, 0, 0), dtype),
            "starts": np.empty(0, np.int64),
            "latest": np.empty(0, dtype),
            "lost": np.zeros(1),
            "fresh": np.ones(1, bool),
        }
        if len(old.groundings):
            smaller = old.possible(state["full"])
            rows, n_rows = old.rows_in(smaller), int(smaller.base[-1])
            full, ways = moved_rows(state["full"], rows, n_rows), moved_rows(state["ways"], rows, n_rows, 1)
            old = smaller
        else:
            full, ways = state["full"], state["ways"]
        self._layout, self._moves = moves_of(scope, *node.groundings(scope), old, node.alphabet)
        self._base = self._layout.base
        self._full = started(self._layout, old, full)
        self._ways = moved_rows(ways, old.rows_in(self._layout), len(self._full), 1)
        self._ways[:, self._base[len(old.groundings) : -1]] = 1
        self._starts: Ints = state["starts"]
        self._ways[1::2, :, self._starts == EVER] = 0  # there is no candidate before all times
        self._latest: Numbers = state["latest"]
        self._fresh = bool(state["fresh"][0])
        self._lost = float(state["lost"][0])
        self.errors = np.zeros(len(scope.times))

    def points(self, first: int, last: int) -> Numbers:
        kept = self._still_asked()
        steps = self._moves.steps_where(self._moves.kind % 3 > 0)
        cuts = steps[(steps >= first) & (steps < last) & (not self._repeated)]
        begins = int(self._fresh)
        old = len(kept) + begins
        ways = np.zeros((len(self._ways), len(self._full), old + len(cuts)), self._full.dtype)
        ways[:, :, : len(kept)] = self._ways[:, :, kept]
        if begins:
            ways[::2, :, 0] = self._full
        sums = np.zeros((len(ways), len(self._layout.groundings), ways.shape[2]), ways.dtype)
        if sums.size:
            np.add.reduceat(ways, self._base[:-1], axis=1, out=sums)
        child = self._asked(first, last, kept, cuts)
        made = np.concatenate([np.full(old, first - 1), cuts]).astype(np.int64)
        out = np.zeros(last - first, ways.dtype)
        if len(self._layout.groundings):
            self._kernels.grouped_after(
                first,
                last,
                self._moves,
                self._base,
                made,
                self._full,
                ways,
                sums,
                child,
                self._child is not None,
                self._repeated,
                out,
            )
        self._ways, self._fresh = ways, False
        self.errors[first:last] = self._lost + (0.0 if self._child is None else self._child.neglected)
        return out if out.dtype == object else np.where(out < ROUNDED, 0.0, out)

    def state(self) -> OperatorState:
        return {
            **self._layout.packed(),
            **({} if self._child is None else {"child": self._child.state()}),
            "full": self._full,
            "ways": self._ways,
            "starts": self._starts,
            "latest": self._latest,
            "lost": np.array([self._lost]),
            "fresh": np.array([self._fresh]),
        }

    def _still_asked(self) -> Ints:
        """Starts that can still be the latest candidate; earlier ones are neglected."""
        n_columns = self._ways.shape[2]
        if not n_columns or not len(self._layout.groundings):
            return np.arange(n_columns)
        left = np.multiply.reduce(np.add.reduceat(self._ways[0], self._base[:-1], axis=0), axis=0)
        tolerance = Fraction(self._node.tolerance) if left.dtype == object else self._node.tolerance
        gone = np.flatnonzero(left <= tolerance)
        if not len(gone):
            return np.arange(n_columns)
        self._lost = float(left[gone[-1]])  # of all starts up to this one, those that went before included
        return np.arange(gone[-1] + 1, n_columns)

    def _asked(self, first: int, last: int, kept: Ints, cuts: Ints) -> Numbers:
        """The child's table, one step late: row i is that of step i - 1."""
        begins = np.array([EVER] if self._fresh else [], np.int64)
        new = np.concatenate([begins, self._scope.times[cuts]])
        self._starts = np.concatenate([self._starts[kept], new])
        if self._child is None:
            return np.empty((0, 0), self._full.dtype)
        made = np.concatenate([np.full(len(begins), first), cuts]).astype(np.int64)
        found = self._child.table(first, last, kept, made, new)
        child = one_step_late(found, self._latest[kept])
        self._latest = found[-1]
        return child
