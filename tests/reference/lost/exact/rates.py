"""How many left segments qualify where lost points come at a rate, before the first or after the last recorded one.

In a cell of length c, points of a rate λ come with weight λc; while the clock of the rate runs, which is from the
first of them on or until the last of them has come, time passes with weight -λc. The matrix of all weights,
exponentiated, takes masses through the cell. Beyond the first and the last recorded time only rates remain, and the
next point is that of a key with a probability in proportion to its rate. Masses of points before the first recorded
one are densities until that point is reached: then those count in which all of them have come.

Unlike everything else here this is in floats.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.linalg import expm
from tests.reference.lost.exact.flat import Flat, require_segments
from tests.reference.lost.exact.line import Along, Line, Run, breakpoints, line_of
from tests.reference.lost.exact.question import Question
from tests.reference.lost.exact.stepping import START, State, Stepping

Masses = dict[State, float]


def rate_chance(left: Flat, right: Flat, question: Question, *, along: Along | None = None) -> float:
    found = enumerate(rate_counts(left, right, question, along=along))
    return sum(prob for count, prob in found if question.holds(count, left.n_segments))


def rate_counts(left: Flat, right: Flat, question: Question, *, along: Along | None = None) -> tuple[float, ...]:
    """The probabilities that 0, 1, … left segments qualify."""
    require_segments(left, right)
    return rate_counts_of_lines(line_of(left, along), line_of(right, along), question)


def rate_counts_of_lines(left: Line, right: Line, question: Question) -> tuple[float, ...]:
    stepping = Stepping(left, right, question)
    times = breakpoints(left, right)
    masses: Masses = _before_all(stepping, {START: 1.0})
    for time, after in pairwise([*times, None]):
        assert time is not None
        lefts, rights = left.at(time), right.at(time)
        there = ((state, mass) for state, mass in masses.items() if _has_come_to(state, lefts, rights))
        masses = _added((stepping.together(state, lefts, rights), mass) for state, mass in there)
        masses = _after_all(stepping, masses) if after is None else _through_cell(stepping, masses, time, after)
    found = [0.0] * (len(left.spans) + 1)
    for state, mass in masses.items():
        found[state.n_qualifying] += mass
    return tuple(found)


class _Flow(NamedTuple):
    """How the lost points of one key come."""

    run: Run
    rate: float | None  # without one, the run has both borders
    place: Callable[[State], int]
    step: Callable[[State], State]

    def rest(self, state: State) -> int:
        return self.run.stop - self.place(state)

    def weight(self, state: State, lo: Fraction, hi: Fraction) -> float:
        return self.rest(state) * self.share(lo, hi) if self.rate is None else self.rate * float(hi - lo)

    def share(self, lo: Fraction, hi: Fraction) -> float:
        assert self.run.hi is not None
        return float((hi - lo) / (self.run.hi - lo))

    def speed(self, state: State) -> float:
        """The rate, while its clock runs."""
        runs = self.place(state) > self.run.first if self.run.lo is None else self.rest(state) > 0
        return self.rate if self.rate is not None and runs else 0.0


def _flows(stepping: Stepping, covers: Callable[[Run], bool]) -> list[_Flow]:
    sides: list[tuple[Line, Callable[[State], int], Callable[[State], State]]] = [
        (stepping.left, lambda state: state.left, stepping.left_step),
        (stepping.right, lambda state: state.right, stepping.right_step),
    ]
    return [
        _Flow(run, line.rate if run.lo is None or run.hi is None else None, place, step)
        for line, place, step in sides
        for run in line.runs
        if covers(run)
    ]


def _through_cell(stepping: Stepping, masses: Masses, lo: Fraction, hi: Fraction) -> Masses:
    flows = _flows(stepping, lambda run: (run.lo is None or run.lo <= lo) and (run.hi is None or hi <= run.hi))
    if not flows:
        return masses
    states = list(_reachable(masses, flows))
    number = {state: place for place, state in enumerate(states)}
    moves = np.zeros((len(states), len(states)))
    for state, row in number.items():
        for flow in flows:
            moves[row, row] -= flow.speed(state) * float(hi - lo)
            if flow.rest(state):
                moves[row, number[flow.step(state)]] += flow.weight(state, lo, hi)
    after = np.array([masses.get(state, 0.0) for state in states]) @ expm(moves)
    for flow in flows:
        if flow.rate is None:
            after *= [(1 - flow.share(lo, hi)) ** flow.rest(state) for state in states]
    return {state: float(mass) for state, mass in zip(states, after, strict=True) if mass}


def _before_all(stepping: Stepping, masses: Masses) -> Masses:
    """Some of the points that come before the first recorded one of their key come before all recorded ones."""
    flows = _flows(stepping, lambda run: run.lo is None)
    found: Masses = defaultdict(float)
    going = masses
    while going:
        next_ones: Masses = defaultdict(float)
        for state, mass in going.items():
            found[state] += mass
            for flow in flows:
                if flow.rest(state):
                    after = flow.step(state)
                    next_ones[after] += mass * flow.speed(after) / sum(one.speed(after) for one in flows)
        going = next_ones
    return found


def _after_all(stepping: Stepping, masses: Masses) -> Masses:
    """All points that are still to come do come."""
    flows = _flows(stepping, lambda run: run.hi is None)
    found: Masses = defaultdict(float)
    going = masses
    while going:
        next_ones: Masses = defaultdict(float)
        for state, mass in going.items():
            total = sum(flow.speed(state) for flow in flows)
            if not total:
                found[state] += mass
            for flow in flows:
                if flow.rest(state):
                    next_ones[flow.step(state)] += mass * flow.speed(state) / total
        going = next_ones
    return found


def _has_come_to(state: State, lefts: list[int], rights: list[int]) -> bool:
    return lefts[:1] in ([], [state.left]) and rights[:1] in ([], [state.right])


def _reachable(masses: Masses, flows: list[_Flow]) -> Iterator[State]:
    seen = set(masses)
    waiting = list(masses)
    while waiting:
        state = waiting.pop()
        yield state
        for flow in flows:
            if flow.rest(state) and (after := flow.step(state)) not in seen:
                seen.add(after)
                waiting.append(after)


def _added(weighted: Iterable[tuple[State, float]]) -> Masses:
    masses: Masses = defaultdict(float)
    for state, mass in weighted:
        masses[state] += mass
    return masses
