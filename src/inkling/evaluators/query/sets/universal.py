"""The engine for every query: exact by sets of partial matches, sampled worlds where there are too many sets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from inkling.analysis.query.query import Query
from inkling.evaluators.query.answers import Answers
from inkling.evaluators.query.groundings import StateByGrounding
from inkling.evaluators.query.probable_events import ProbableEvents
from inkling.evaluators.query.sets.live_sets import Completed, LiveSets, TooManySets, advanced
from inkling.evaluators.query.sets.sampled import SampledWorlds, WorldSampler, sampled_after, sampled_from
from inkling.evaluators.query.sets.steps import GroundingStep, GroundingSteps
from inkling.evaluators.query.sets.successors import Successors, needs_of
from inkling.kernels.query.live_sets import NEVER
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.plan import Per
from inkling.model.batch import Ints

MOST_STATES = 20_000
"""The most sets of one grounding: with so many, one move takes about 25 ms, and may triple their number."""


@dataclass(frozen=True, slots=True)
class UniversalState(StateByGrounding):
    """Per grounding, the distribution over sets of partial matches; initial ones are left out."""

    groundings: Mapping[int, LiveSets | SampledWorlds]

    @property
    def n_states(self) -> int:
        """The number of sets of the largest grounding that is not sampled."""
        return max((one.n_states for one in self.groundings.values() if isinstance(one, LiveSets)), default=1)


class Universal:
    """Answers all groundings by some variables. A grounding with more than `cap` sets is sampled from then on.

    With PER VALUES, the probability at a time is that of worlds whose first match ends then; it is 0 where only worlds
    with an earlier match can have one.
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
        """The state and the answers after a block of complete times, later than all times before."""
        groundings = dict(state.groundings)
        found = _AnswerRows()
        for step in self._steps.of(events, predicates, tables):
            before = groundings.pop(step.grounding, None) or LiveSets.at_first(events.is_exact)
            after, completed = self._after(before, step)
            if isinstance(after, SampledWorlds) or not after.is_at_first:
                groundings[step.grounding] = after
            found.add(step, completed, self._sampling.epsilon if isinstance(after, SampledWorlds) else 0.0)
        return UniversalState(groundings), found.answers(events)

    def _after(
        self, before: LiveSets | SampledWorlds, step: GroundingStep
    ) -> tuple[LiveSets | SampledWorlds, Completed]:
        if isinstance(before, LiveSets):
            try:
                if before.n_states > self._cap:
                    raise TooManySets
                return advanced(before, step, self._successors, self._cap, once=self._once)
            except TooManySets:
                before = sampled_from(before, self._sampling, step.grounding, step.time)
        return sampled_after(before, step, self._successors, self._sampling.draw, once=self._once)


class _AnswerRows:
    def __init__(self) -> None:
        self._rows: list[tuple[int, int, object, int, float]] = []

    def add(self, step: GroundingStep, completed: Completed, error: float) -> None:
        if completed.start != NEVER:
            self._rows.append((step.grounding, step.time, completed.mass, completed.start, error))

    def answers(self, events: ProbableEvents) -> Answers:
        grounding, time, chance, start, error = zip(*self._rows, strict=True) if self._rows else [()] * 5
        return Answers(
            np.array(grounding, np.uint64),
            np.array(time, np.int64),
            np.array([*chance, None], events.chance.dtype)[:-1],
            np.array(start, np.int64),
            np.array(error, np.float64),
        )
