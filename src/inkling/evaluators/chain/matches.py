"""Matches with probabilities, and the window in ticks: what all events over imprecise times have in common."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inkling.errors import InputError
from inkling.evaluators.chain.moments import Chances
from inkling.logical import plan as p
from inkling.logical.evaluate import ExpressionContext
from inkling.model.batch import Ints, MatchBatch

BELOW_ONE = np.nextafter(1.0, 0.0)
"""The largest probability of a match that is not certain."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Estimated probabilities with confidence intervals; all three are the same where a probability is exact."""

    chance: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]

    @classmethod
    def exact(cls, chance: Chances) -> Interval:
        found = np.asarray(chance, np.float64)
        return cls(found, found, found)

    def take(self, chosen: Ints) -> Interval:
        return Interval(self.chance[chosen], self.low[chosen], self.high[chosen])

    def replaced(self, chosen: Ints, others: Interval) -> Interval:
        """The intervals with those of some matches replaced by others."""
        found = Interval(self.chance.copy(), self.low.copy(), self.high.copy())
        found.chance[chosen], found.low[chosen], found.high[chosen] = others.chance, others.low, others.high
        return found


@dataclass(frozen=True, slots=True)
class ProbableMatches:
    """Matches, each with its probability; `estimated` is None if all are exact."""

    matches: MatchBatch
    chance: Chances
    estimated: Interval | None = None


def window_in_ticks(within: p.Window | None, context: ExpressionContext, grid: int) -> int:
    """The length of a window in ticks of `grid` units of the clock, first and last tick included; 0 for none."""
    match within:
        case None:
            return 0
        case p.Points(count=count):
            return count
        case p.EventCount():
            raise AssertionError("a number of events is no length of time")
        case span:
            return context.unit(span) // grid + 1


def too_costly(event: str, n_matches: int, n_events: int) -> InputError:
    return InputError.of(
        "INK0646",
        f"the exact probability of {n_matches:,} matches of `{event}` would take too long to compute",
        notes=(f"they have {n_events} events, with too many combinations of ticks, or of other events between them",),
        helps=(
            "leave EXACT out, so that these probabilities are estimated",
            "or declare a longer TICK, a shorter WITHIN, or more selective conditions",
        ),
    )
