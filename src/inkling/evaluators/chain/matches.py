"""Matches with probabilities, and the window in ticks: what all events over imprecise times have in common."""

from dataclasses import dataclass

import numpy as np

from inkling.errors import InputError
from inkling.evaluators.chain.moments import Chances
from inkling.logical import plan as p
from inkling.logical.evaluate import ExpressionContext
from inkling.model.batch import MatchBatch

BELOW_ONE = np.nextafter(1.0, 0.0)
"""The largest probability of a match that is not certain."""


@dataclass(frozen=True, slots=True)
class ProbableMatches:
    """Matches, each with its probability."""

    matches: MatchBatch
    chance: Chances


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
        notes=(f"they have {n_events} events, and too many other events may lie between them",),
        helps=(
            "add SAMPLED to the event to estimate its probabilities",
            "or declare a longer TICK, a shorter WITHIN, or more selective conditions",
        ),
    )
