"""What a chain must reach to be told: CONFIDENCE, or the least probable of the TOP so far; it may be dropped before."""

from __future__ import annotations

import numpy as np

from inkling.evaluators.imprecise.chains import Chains
from inkling.evaluators.imprecise.moments import Chances, Moments
from inkling.kernels.chances_bounds import mass_left
from inkling.logical.plan import EventPlan
from inkling.results import ROUNDING


class Least:
    """Rises with what was found, if only so many results are wanted."""

    def __init__(self, event: EventPlan) -> None:
        self._threshold = 0.0 if event.confidence is None else event.confidence.threshold
        self._top = event.top
        self._best = np.empty(0)

    @property
    def chance(self) -> float:
        """Chains that are less probable matter to nobody; rounding is allowed for."""
        least = self._threshold
        if self._top is not None and len(self._best) == self._top:
            least = max(least, float(self._best.min()))
        return least - 2 * ROUNDING

    def found(self, chances: Chances) -> None:
        if self._top is not None:
            every = np.concatenate([self._best, chances.astype(np.float64)])
            self._best = np.sort(every)[-self._top :]

    def possible(self, chains: Chains, moments: Moments) -> Chains:
        """The chains that may reach it, judged by how probable the ticks are at which each event can happen."""
        if self.chance <= 0 or not len(chains):
            return chains
        most = mass_left(
            chains.lo, chains.hi, chains.rows, moments.lower, moments.cum_at, moments.cum.astype(np.float64)
        )
        return chains.where(most >= self.chance)
