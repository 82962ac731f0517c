"""The operator `Seq` for Markovian streams: q = q' ; g, where g reads no stream of q' (Lahar, section 3.3.1).

As in `seq`, but the joint value of the streams of g belongs to the state: for every start the joint probability of the
value and of a latest cut at that start. There is one layout of joint values, because all streams of g move together.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from inkling.analysis.query.query import Query
from inkling.evaluators.query.probable_events import Numbers
from inkling.evaluators.query.safe.joint_states import JointLayout, KindAlphabet, moved_rows, moves_of, started
from inkling.evaluators.query.safe.operators import OperatorState, SafeOperator
from inkling.evaluators.query.safe.scope import StreamScope
from inkling.evaluators.query.safe.seq import ChildTable
from inkling.kernels.query.seq_markov import ChildColumns
from inkling.model.batch import Ints, Mask

NONE, REJECTED, ACCEPTED = 0, 1, 2


@dataclass(frozen=True, slots=True)
class SeqMarkovOperator:
    query: Query
    child: SafeOperator
    subgoal: int
    tolerance: float = 0.0
    since_ever: bool = False

    def run(self, scope: StreamScope, state: OperatorState | None) -> SeqMarkovRun:
        return SeqMarkovRun(self, scope, state)


class SeqMarkovRun(ChildTable):
    def __init__(self, node: SeqMarkovOperator, scope: StreamScope, state: OperatorState | None) -> None:
        self._node, self._scope, self._kernels = node, scope, scope.block.kernels
        self._repeated = node.query.subgoals[node.subgoal].repeated
        dtype = scope.block.events.chance.dtype
        self._child = node.child.run(scope, None if state is None else state["child"])
        old = JointLayout.empty(1) if state is None else JointLayout.unpacked(state, 1)
        state = state or {
            "full": np.empty(0, dtype),
            "weights": np.empty((0, 0), dtype),
            "landed": np.empty((0, 0), dtype),
            "waited": np.empty((0, 0, 0), dtype),
            "free": np.empty((0, 0, 0), dtype),
            "held": np.empty((0, 0), dtype),
            "starts": np.empty(0, np.int64),
            "latest": np.empty(0, dtype),
            "dust": np.empty(0, dtype),
            "mine": np.empty(0, np.int64),
            "fresh": np.ones(1, bool),
            "waits": np.empty(0, bool),
        }
        streams = scope.streams[node.subgoal]
        masks = np.full(len(streams), 3 << (2 * node.subgoal), np.int64)
        layout, self._moves = moves_of(
            scope, streams, np.zeros(len(streams), np.uint64), masks, old, subgoal_symbols(node.subgoal)
        )
        if not len(layout.groundings):  # no stream of the subgoal yet
            none = np.empty(0, np.uint64)
            layout = layout.grown(np.zeros(1, np.uint64), none, none, [])
        self._layout = layout
        self._full = started(layout, old, state["full"])
        rows, n_rows = old.rows_in(layout), int(layout.base[-1])
        self._weights = moved_rows(state["weights"], rows, n_rows)  # [value, column of the child]
        self._landed = moved_rows(state["landed"], rows, n_rows, 1)
        self._waited = moved_rows(moved_rows(state["waited"], rows, n_rows, 1), rows, n_rows, 2)
        self._free = moved_rows(moved_rows(state["free"], rows, n_rows, 1), rows, n_rows, 2)
        self._resume(state, moved_rows(state["held"], rows, n_rows))
        self._waits: Mask = moved_rows(state["waits"], rows, n_rows)  # values that there can be while the subgoal waits
        self._dust = moved_rows(state["dust"], rows, n_rows)  # the chance of each value with a start that is neglected
        self.errors = np.zeros(len(scope.times))

    @property
    def neglected(self) -> float:
        return self._child.neglected

    def points(self, first: int, last: int) -> Numbers:
        cumulated = np.cumsum(self._weights.sum(axis=0)) + self._dust.sum()
        kept = np.flatnonzero(cumulated > _tolerance(self._node.tolerance, cumulated))
        if len(kept) < len(self._starts) and len(kept):
            self._dust = self._dust + self._weights[:, : kept[0]].sum(axis=1)
        neglected = float(self._dust.sum())
        cuts = np.array([False, True, not self._repeated])
        child, made = self._asked(first, last, kept, self._cuts(first, last, cuts))
        weights = np.zeros((len(self._full), len(made)), self._full.dtype)
        weights[:, : len(kept)] = self._weights[:, kept]
        if not self._weights.shape[1]:
            weights[0, 0] = 1
        out = np.zeros(last - first, weights.dtype)
        weights = np.column_stack([self._dust, weights])
        child = np.column_stack([np.zeros(len(child), child.dtype), child])
        made = np.append(first - 1, made)
        self._kernels.chained_after(first, last, self._moves, cuts, made, self._full, weights, child, out)
        self._dust, self._weights = weights[:, 0].copy(), np.ascontiguousarray(weights[:, 1:])
        self.errors[first:last] = neglected + self._child.neglected
        return out

    def possible(self, first: int, last: int) -> Mask:
        out, can_be = np.zeros(last - first, bool), np.asarray(self._full != 0, bool)
        satisfied = self._child.possible(first, last)
        cuts = np.array([False, True, not self._repeated])
        self._kernels.chained_possible(first, last, self._moves, cuts, can_be, self._waits, satisfied, out)
        return out

    def table(self, first: int, last: int, kept: Ints, made: Ints, starts: Ints) -> Numbers:
        self._mine = np.concatenate([self._mine[kept], starts])
        mine_made = np.concatenate([np.full(len(kept), first - 1), made]).astype(np.int64)
        n_rows, n_mine = len(self._full), len(self._mine)
        held = np.zeros((n_rows, n_mine), self._full.dtype)
        held[:, : len(kept)] = self._held[:, kept]
        out = np.zeros((last - first, n_mine), held.dtype)
        old = np.arange(len(self._starts))
        if self._repeated:
            child, _ = self._asked(first, last, old, np.empty(0, np.int64))
            self._kernels.chained_any_within(first, last, self._moves, self._full, child[:, 0], mine_made, held, out)
        else:
            fresh = self._fresh
            cuts = self._cuts(first, last, np.array([False, True, True]))
            child, made_columns = self._asked(first, last, old, cuts)
            n = len(made_columns)
            self._landed = moved_rows(self._landed, np.arange(len(self._landed)), n)
            self._waited = moved_rows(self._waited, np.arange(len(self._waited)), n)
            self._free = moved_rows(self._free, np.arange(len(self._free)), n)
            if fresh:
                self._landed[0] = self._full
                self._free[0] = np.eye(n_rows, dtype=np.int64)
            # as `next_within` for independent events, but on rows of values in place of single chances
            self._kernels.chained_within(
                first,
                last,
                self._moves,
                ChildColumns(made_columns, self._starts, self._landed, self._waited, self._free),
                self._full,
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
            **self._layout.packed(),
            **self._kept(),
            "full": self._full,
            "weights": self._weights,
            "landed": self._landed,
            "waited": self._waited,
            "free": self._free,
            "dust": self._dust,
            "waits": self._waits,
        }

    def _cuts(self, first: int, last: int, cuts: np.ndarray) -> Ints:
        steps = self._moves.steps_where(cuts[self._moves.kind])
        return steps[(steps >= first) & (steps < last)]


def subgoal_symbols(subgoal: int) -> Any:
    """The alphabet of one subgoal, as a function of predicate masks: no candidate, a rejected or an accepted one."""
    bit = 1 << (2 * subgoal)
    larger = np.maximum.outer(np.arange(3), np.arange(3))
    kinds = np.array([[NONE, REJECTED, ACCEPTED]])
    alphabet = KindAlphabet(np.array([0, bit, 3 * bit]), larger, np.zeros((1, 3), np.int64), kinds, 3)
    return lambda predicates: alphabet


def _tolerance(tolerance: float, like: Numbers) -> Any:
    return Fraction(tolerance) if like.dtype == object else tolerance
