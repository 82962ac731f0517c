"""Any query, exactly: what may be going on is carried along state by state, and sampled where that grows too large."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from inkling.analysis.query.query import Query
from inkling.evaluators.query.answers import Answers
from inkling.evaluators.query.probable_events import ProbableEvents
from inkling.evaluators.query.sets.live_sets import Completed, LiveSets, TooManySets, advanced
from inkling.evaluators.query.sets.needs import needs_of
from inkling.evaluators.query.sets.sampled import SampledWorlds, WorldSampler, sampled_after, sampled_from
from inkling.evaluators.query.sets.steps import GroundingStep, GroundingSteps
from inkling.evaluators.query.sets.successors import Successors
from inkling.kernels.query.live_sets import NEVER
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.plan import Per
from inkling.model.batch import Ints

MOST_STATES = 20_000
"""With that many, a stream takes some 25 ms for every time; the next stream of three values may triple their number."""


@dataclass(frozen=True, slots=True)
class UniversalState:
    """What may be going on in each unit that is not as at first."""

    units: Mapping[int, LiveSets | SampledWorlds]

    @property
    def n_states(self) -> int:
        """Of the largest unit that is carried along exactly."""
        return max((one.n_states for one in self.units.values() if isinstance(one, LiveSets)), default=1)

    @property
    def n_sampled(self) -> int:
        return sum(isinstance(one, SampledWorlds) for one in self.units.values())


class Universal:
    """Answers per value of the given variables, by which units of streams are independent of each other.

    A unit with more than `cap` states at some time is sampled from then on. With PER VALUES, the chance at a time is
    that of worlds whose first match ends then, and may be 0 where only others can have one.
    """

    def __init__(
        self,
        query: Query,
        variables: Sequence[str],
        context: ExpressionContext,
        *,
        cap: int = MOST_STATES,
        sampling: WorldSampler | None = None,
    ) -> None:
        needs = needs_of(query, variables)
        self._cap, self._sampling = cap, sampling or WorldSampler()
        self._once = query.per is Per.VALUES
        self._successors = Successors(query, needs, context)
        self._steps = GroundingSteps(query, variables, needs, lumps=True)

    def start(self) -> UniversalState:
        return UniversalState({})

    def advance(
        self, state: UniversalState, events: ProbableEvents, predicates: Ints, tables: Mapping[str, pa.Table]
    ) -> tuple[UniversalState, Answers]:
        """The answers at the times of a block of complete times."""
        units = dict(state.units)
        found = _AnswerRows()
        for step in self._steps.of(events, predicates, tables):
            before = units.pop(step.unit, None) or LiveSets.at_first(events.is_exact)
            after, completed = self._after(before, step)
            if isinstance(after, SampledWorlds) or not after.is_at_first:
                units[step.unit] = after
            found.add(step, completed, self._sampling.epsilon if isinstance(after, SampledWorlds) else 0.0)
        return UniversalState(units), found.answers(events)

    def _after(
        self, before: LiveSets | SampledWorlds, step: GroundingStep
    ) -> tuple[LiveSets | SampledWorlds, Completed]:
        if isinstance(before, LiveSets):
            try:
                if before.n_states > self._cap:
                    raise TooManySets
                return advanced(before, step, self._successors, self._cap, once=self._once)
            except TooManySets:
                before = sampled_from(before, self._sampling, step.unit, step.time)
        return sampled_after(before, step, self._successors, self._sampling.draw, once=self._once)


class _AnswerRows:
    def __init__(self) -> None:
        self._rows: list[tuple[int, int, object, int, float]] = []

    def add(self, step: GroundingStep, completed: Completed, error: float) -> None:
        if completed.start != NEVER:
            self._rows.append((step.unit, step.time, completed.mass, completed.start, error))

    def answers(self, events: ProbableEvents) -> Answers:
        unit, time, chance, start, error = zip(*self._rows, strict=True) if self._rows else [()] * 5
        return Answers(
            np.array(unit, np.uint64),
            np.array(time, np.int64),
            np.array([*chance, None], events.chance.dtype)[:-1],
            np.array(start, np.int64),
            np.array(error, np.float64),
        )
