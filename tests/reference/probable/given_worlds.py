"""Queries answered in worlds that are given instead of drawn: all of them, with their weights, give exact answers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from inkling.analysis.query.query import Query
from inkling.evaluators.query.sets.live_sets import Completed, LiveSets
from inkling.evaluators.query.sets.sampled import Draw, SampledWorlds, sampled_after, sampled_at_first
from inkling.evaluators.query.sets.steps import GroundingStep, GroundingSteps
from inkling.evaluators.query.sets.successors import needs_of
from inkling.evaluators.query.sets.universal import Universal
from inkling.logical.evaluate import ExpressionContext


class GivenWorlds(Universal):
    """`draw` tells what happens in each world."""

    def __init__(
        self, query: Query, variables: Sequence[str], context: ExpressionContext, weights: Sequence[float], draw: Draw
    ) -> None:
        super().__init__(query, variables, context)
        self._weights, self._draw = np.array(weights, np.float64), draw
        self._steps = GroundingSteps(query, variables, needs_of(query, variables), lumps=False)

    def _after(
        self, before: LiveSets | SampledWorlds, step: GroundingStep
    ) -> tuple[LiveSets | SampledWorlds, Completed]:
        worlds = before if isinstance(before, SampledWorlds) else sampled_at_first(self._weights)
        return sampled_after(worlds, step, self._successors, self._draw, once=self._once)
