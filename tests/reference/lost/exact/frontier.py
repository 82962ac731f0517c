"""What is certain while points are still to come: bounds of the probability, from what both keys have told.

Each key has told everything up to its last recorded point. What lies before the earlier one of the two is decided.
"""

from __future__ import annotations

from fractions import Fraction
from math import inf
from typing import NamedTuple

from tests.reference.lost.exact.flat import Flat, require_segments
from tests.reference.lost.exact.line import line_of
from tests.reference.lost.exact.question import Question
from tests.reference.lost.exact.stepping import Among, State, Stepping
from tests.reference.lost.forward import masses_after

Moment = Fraction | float
"""A time, or before or after all of them."""


class Bounds(NamedTuple):
    """For every number of left segments, from 0: at least and at most how probable it is that so many qualify."""

    lower: tuple[Fraction, ...]
    upper: tuple[Fraction, ...]


def frontier(left: Flat, right: Flat, left_arrived: int, right_arrived: int) -> Moment:
    """Up to when both keys have told everything, after so many recorded points of each have arrived."""
    return min(_told(left, left_arrived), _told(right, right_arrived))


def buffered(left: Flat, right: Flat, left_arrived: int, right_arrived: int) -> int:
    """How many points have arrived that are not decided yet."""
    until = frontier(left, right, left_arrived, right_arrived)
    arrived = [*left.recorded[:left_arrived], *right.recorded[:right_arrived]]
    return sum(time > until for time in arrived)


def bounds(left: Flat, right: Flat, question: Question, until: Moment, *, left_total_known: bool = True) -> Bounds:
    """What the points up to `until` make certain; while the left key may continue, anything can still be reached."""
    require_segments(left, right)
    stepping = Stepping(line_of(left), line_of(right), question)
    masses = masses_after(stepping, until)
    numbers = range(left.n_segments + 1)
    sure = {state: _surely(stepping, state) for state in masses}
    possible = {state: _possibly(stepping, state) if left_total_known else left.n_segments for state in masses}
    return Bounds(
        tuple(sum((mass for state, mass in masses.items() if sure[state] >= k), Fraction(0)) for k in numbers),
        tuple(sum((mass for state, mass in masses.items() if possible[state] >= k), Fraction(0)) for k in numbers),
    )


def _told(flat: Flat, arrived: int) -> Moment:
    if arrived == len(flat.recorded) and not flat.loses_its_tail:
        return inf
    return flat.recorded[arrived - 1] if arrived else -inf


def _surely(stepping: Stepping, state: State) -> int:
    """How many segments qualify whatever comes."""
    return state.n_qualifying + (_verdicts(stepping, state) == {True})


def _possibly(stepping: Stepping, state: State) -> int:
    """How many segments may qualify yet."""
    n_closed = sum(span.closing < state.left for span in stepping.left.spans)
    hopeless = _verdicts(stepping, state) == {False}
    return state.n_qualifying + len(stepping.left.spans) - n_closed - hopeless


def _verdicts(stepping: Stepping, state: State) -> set[bool]:
    """Whether the open segment would qualify, for every place among right points at which it can close."""
    if state.opened is None:
        return set()
    (span,) = (span for span in stepping.left.spans if span.opening < state.left <= span.closing)
    n_right = len(stepping.right.points)
    ends = [Among(place, through) for place in range(state.right, n_right + 1) for through in (place, place + 1)]
    return {stepping.qualifies(span, state.opened, end) for end in ends if end.through <= n_right}
