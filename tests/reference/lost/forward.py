"""How many left segments qualify, as a distribution in fractions: a forward pass over the cells between known times.

Given the points around it, a run of lost points lies evenly spread and independent of everything else, so each of
those still to come falls into the next cell with the same probability. Inside a cell every order of the points that
fall into it is equally likely. Nothing is optimized here; kernels are tested against it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import pairwise
from math import inf

from tests.reference.lost.exact.flat import Flat, require_segments
from tests.reference.lost.exact.line import Along, Line, Run, breakpoints, line_of
from tests.reference.lost.exact.question import Question
from tests.reference.lost.exact.stepping import START, State, Stepping

Masses = dict[State, Fraction]


def chance(left: Flat, right: Flat, question: Question, *, along: Along | None = None) -> Fraction:
    """The probability that the answer is yes."""
    found = enumerate(counts(left, right, question, along=along))
    return sum((prob for count, prob in found if question.holds(count, left.n_segments)), Fraction(0))


def counts(left: Flat, right: Flat, question: Question, *, along: Along | None = None) -> tuple[Fraction, ...]:
    """The probabilities that 0, 1, … left segments qualify; how many should is not looked at.

    With `along`, lost points are spread evenly not over time but over what it makes of time.
    """
    require_segments(left, right)
    return counts_of_lines(line_of(left, along), line_of(right, along), question)


def counts_of_lines(left: Line, right: Line, question: Question) -> tuple[Fraction, ...]:
    final = masses_after(Stepping(left, right, question), inf)
    return distribution(final, len(left.spans))


def distribution(masses: Mapping[State, Fraction], n_left: int) -> tuple[Fraction, ...]:
    found = [Fraction(0)] * (n_left + 1)
    for state, mass in masses.items():
        found[state.n_qualifying] += mass
    return tuple(found)


def masses_after(stepping: Stepping, until: Fraction | float) -> Masses:
    """What may have happened up to a recorded time, the points of that time included."""
    left, right = stepping.left, stepping.right
    if not (left.is_bounded and right.is_bounded):
        raise ValueError("missing_bound")
    times = [time for time in breakpoints(left, right) if time <= until]
    masses: Masses = {START: Fraction(1)}
    for time, after in pairwise([*times, None]):
        assert time is not None
        masses = _added((stepping.together(s, left.at(time), right.at(time)), mass) for s, mass in masses.items())
        if after is not None:
            masses = _through_cell(stepping, masses, time, after)
    return masses


def _through_cell(stepping: Stepping, masses: Masses, lo: Fraction, hi: Fraction) -> Masses:
    """Round n takes the n-th lost point of the cell; with 1/n each, orders of N points add up to a volume of 1/N!."""
    left_run, right_run = _covering(stepping.left, lo, hi), _covering(stepping.right, lo, hi)
    left_share, right_share = _share(left_run, lo, hi), _share(right_run, lo, hi)
    ended: Masses = defaultdict(Fraction)
    going, n = masses, 0
    while going:
        n += 1
        next_ones: Masses = defaultdict(Fraction)
        for state, mass in going.items():
            left_rest, right_rest = _rest(left_run, state.left), _rest(right_run, state.right)
            stays = mass * (1 - left_share) ** left_rest * (1 - right_share) ** right_rest
            if stays:
                ended[state] += stays
            if left_rest:
                next_ones[stepping.left_step(state)] += mass * left_rest * left_share / n
            if right_rest:
                next_ones[stepping.right_step(state)] += mass * right_rest * right_share / n
        going = next_ones
    return ended


def _covering(line: Line, lo: Fraction, hi: Fraction) -> Run | None:
    for run in line.runs:
        if run.lo is not None and run.hi is not None and run.lo <= lo and hi <= run.hi:
            return run
    return None


def _share(run: Run | None, lo: Fraction, hi: Fraction) -> Fraction:
    """The part of the run's remaining window that the cell is."""
    return Fraction(0) if run is None or run.hi is None else (hi - lo) / (run.hi - lo)


def _rest(run: Run | None, come: int) -> int:
    return 0 if run is None else run.stop - come


def _added(weighted: Iterable[tuple[State, Fraction]]) -> Masses:
    masses: Masses = defaultdict(Fraction)
    for state, mass in weighted:
        masses[state] += mass
    return masses
