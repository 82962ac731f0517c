"""The most probable world in which a match ends at a time: the best way into every state instead of all of them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pyarrow as pa

from inkling.analysis.query.query import Query
from inkling.evaluators.query.probable_events import ProbableEvents
from inkling.evaluators.query.sets.live_sets import LiveSets, StepInProgress, StepStates, TooManySets, words_of
from inkling.evaluators.query.sets.steps import GroundingStep, GroundingSteps, StreamMove, StreamOutcome
from inkling.evaluators.query.sets.successors import Successors, needs_of
from inkling.kernels.query.live_sets import NEVER, alike
from inkling.logical.evaluate import ExpressionContext
from inkling.model.batch import Ints


@dataclass(frozen=True, slots=True)
class BestWorld:
    """How probable the world is up to its time, and its events: rows of the tables of their streams.

    Of what happens in keys that no part of the query looks at nothing is said.
    """

    probability: float | Fraction
    events: tuple[tuple[str, int], ...]


def most_probable_world(
    query: Query,
    events: ProbableEvents,
    predicates: Ints,
    tables: Mapping[str, pa.Table],
    context: ExpressionContext,
    time: int,
    *,
    cap: int = 20_000,
) -> BestWorld | None:
    """None if no match can end at that time. Raises `TooManySets` with more than `cap` states."""
    needs = needs_of(query, ())
    successors = Successors(query, needs, context)
    trail = _Trail()
    sets, path = LiveSets.at_first(events.is_exact), np.array([-1])
    for step in GroundingSteps(query, (), needs, lumps=False).of(events, predicates, tables):
        if step.time > time:
            break
        within = _Best(sets, step, successors, trail, path)
        for number in range(len(step.moves)):
            within.take(number)
            if within.n_states > cap:
                raise TooManySets
        if step.time == time:
            return _best_of(within.states, trail, events)
        sets, _ = within.finished(once=False)
        path = within.states.path
    return None


def _best_of(states: StepStates, trail: _Trail, events: ProbableEvents) -> BestWorld | None:
    ends = np.flatnonzero(states.done[:, 0] != NEVER)
    if not len(ends):
        return None
    best = max(ends.tolist(), key=lambda state: states.mass[state])
    sources = events.source[events.stream[events.group]]
    rows = trail.rows(int(states.path[best]))
    return BestWorld(states.mass[best], tuple((events.sources[sources[row]], int(events.row[row])) for row in rows))


class _Trail:
    """How states were reached: each node has the one before and the row that was chosen."""

    def __init__(self) -> None:
        self._first: list[int] = []
        self._before: list[Ints] = []
        self._row: list[int] = []
        self._n = 0

    def extended(self, path: Ints, row: int) -> Ints:
        self._first.append(self._n)
        self._before.append(path)
        self._row.append(row)
        self._n += len(path)
        return np.arange(self._n - len(path), self._n)

    def rows(self, node: int) -> list[int]:
        found = []
        while node >= 0:
            chunk = bisect_right(self._first, node) - 1
            if self._row[chunk] >= 0:
                found.append(self._row[chunk])
            node = int(self._before[chunk][node - self._first[chunk]])
        return found[::-1]


class _Best(StepInProgress):
    def __init__(self, sets: LiveSets, step: GroundingStep, successors: Successors, trail: _Trail, path: Ints) -> None:
        super().__init__(sets, step, successors)
        self._trail = trail
        self.states.path = path

    def after(self, part: StepStates, outcome: StreamOutcome, move: StreamMove) -> StepStates:
        after = super().after(part, outcome, move)
        after.path = self._trail.extended(part.path, outcome.row)
        return after

    def unite(self) -> None:
        number, first = alike(words_of(self.states))
        best = first.copy()
        for state, one in enumerate(number.tolist()):
            if self.states.mass[state] > self.states.mass[best[one]]:
                best[one] = state
        self.states = self.states.at(best)
