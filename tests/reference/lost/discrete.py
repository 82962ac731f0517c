"""The method that SimpMatch was compared with: a lost event has a finite set of possible times, all equally likely.

Lost points between two recorded times then contribute the probability that their times lie between these and do not
decrease. Choices that break the order are never made up for, so that all worlds together may have less than
probability 1; normalized, they have 1. The tree of worlds can reason so; `masses_of_counts` finds the same without it,
and `sharing_masses` does for many pairs at once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from tests.reference.lost import discrete_kernels as kernels
from tests.reference.lost.exact.flat import Flat, require_segments
from tests.reference.lost.exact.line import breakpoints, line_of
from tests.reference.lost.exact.question import Question
from tests.reference.lost.exact.stepping import START, Stepping
from tests.reference.lost.exact.weighing import Placed
from tests.reference.lost.forward import Masses, distribution
from tests.reference.lost.tree import BUDGET, walk

from inkling.evaluators.relation.points import PointLists
from inkling.model.batch import Ints

Possible = Sequence[Fraction]
"""The times at which a lost event may have happened, each once."""

Choices = Mapping[int, Possible]
"""Of each lost event, by its place in the list of its key."""


def around(time: Fraction, delta: int) -> list[Fraction]:
    """So many units to either side of a time, in steps of one unit."""
    return [time + step for step in range(-delta, delta + 1)]


def ordered_chance(possible: Sequence[Possible], lo: Fraction, hi: Fraction, *, strict: bool = False) -> Fraction:
    """That lost events lie in `[lo, hi]` and none before the one before it; with `strict`, none with it either."""
    sums: dict[Fraction, Fraction] = {}
    for number, times in enumerate(possible):
        inside = [time for time in times if lo <= time <= hi]
        sums = {time: _up_to(sums, time, strict) if number else Fraction(1) for time in inside}
        sums = {time: sum_ / len(times) for time, sum_ in sums.items()}
    return sum(sums.values(), Fraction(0)) if possible else Fraction(1)


def _up_to(sums: Mapping[Fraction, Fraction], time: Fraction, strict: bool) -> Fraction:
    return sum(
        (mass for earlier, mass in sums.items() if earlier < time or (earlier == time and not strict)), Fraction(0)
    )


def counted_chance(possible: Sequence[Possible], lo: Fraction, hi: Fraction, *, strict: bool = False) -> Fraction:
    """The same by trying all choices, which are exponentially many."""
    n_ordered = n_choices = 0
    for times in product(*possible):
        n_choices += 1
        in_order = all(a < b or (a == b and not strict) for a, b in pairwise(times))
        n_ordered += in_order and all(lo <= time <= hi for time in times)
    return Fraction(n_ordered, n_choices)


class DiscreteWeighing:
    """What makes the tree of worlds reason in discrete times: only the factor of a cell is another one."""

    def __init__(self, choices: tuple[Choices, Choices], *, strict: bool = False) -> None:
        """`choices` are those of the lines, see `on_line`."""
        self._choices, self._strict = choices, strict
        self._known: dict[tuple[object, ...], Fraction] = {}

    @property
    def start(self) -> Fraction:
        return Fraction(1)

    def cell(self, lo: Fraction, hi: Fraction, lost: Sequence[Placed]) -> Fraction:
        key = lo, *lost
        if key not in self._known:
            possible = [self._choices[line][point] for line, point in lost]
            self._known[key] = ordered_chance(possible, lo, hi, strict=self._strict)
        return self._known[key]


def tree_mass(
    left: Flat,
    right: Flat,
    question: Question,
    choices: tuple[Choices, Choices],
    *,
    strict: bool = False,
    budget: int = BUDGET,
) -> Fraction:
    """The mass of the worlds in which the answer is yes, by the tree of worlds."""
    weighing = DiscreteWeighing((on_line(left, choices[0]), on_line(right, choices[1])), strict=strict)
    found = walk(left, right, question, accept=False, budget=budget, weighing=weighing).chance
    assert isinstance(found, Fraction)
    return found


def on_line(flat: Flat, choices: Choices) -> Choices:
    """The same by places on the line of points, where a bound may come first."""
    if flat.shape > 1:
        raise ValueError("discrete times know no Erlang gaps")
    shift = int(flat.loses_its_head and flat.lo is not None)
    return {place + shift: choices[place] for place, time in enumerate(flat.times) if time is None}


def masses_of_counts(
    left: Flat, right: Flat, question: Question, choices: tuple[Choices, Choices], *, strict: bool = False
) -> tuple[Fraction, ...]:
    """The mass of the worlds in which 0, 1, … left segments qualify, by a sweep over all possible times."""
    require_segments(left, right)
    stepping = Stepping(line_of(left), line_of(right), question)
    sweep = _Sweep(stepping, (on_line(left, choices[0]), on_line(right, choices[1])), strict)
    masses: Masses = {START: Fraction(1)}
    for time, after in pairwise([*breakpoints(stepping.left, stepping.right), None]):
        assert time is not None
        masses = sweep.recorded(masses, time)
        if after is not None:
            masses = sweep.through_cell(masses, time, after)
    return distribution(masses, left.n_segments)


def normalized(masses: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """Worlds that are possible have probability 1 together; where none is, there is nothing to share out."""
    total = sum(masses, Fraction(0))
    return tuple(mass / total if total else mass for mass in masses)


class _Sweep:
    def __init__(self, stepping: Stepping, choices: tuple[Choices, Choices], strict: bool) -> None:
        self._stepping, self._choices, self._strict = stepping, choices, strict

    def recorded(self, masses: Masses, time: Fraction) -> Masses:
        """Recorded points come; where lost ones before them have found no place, there is no world."""
        lefts, rights = self._stepping.left.at(time), self._stepping.right.at(time)
        found: Masses = defaultdict(Fraction)
        for state, mass in masses.items():
            if lefts[:1] in ([], [state.left]) and rights[:1] in ([], [state.right]):
                found[self._stepping.together(state, lefts, rights)] += mass
        return found

    def through_cell(self, masses: Masses, lo: Fraction, hi: Fraction) -> Masses:
        times = {time for choices in self._choices for possible in choices.values() for time in possible}
        for time in sorted(time for time in times if lo <= time <= hi):
            masses = self._at(masses, time)
        return masses

    def _at(self, masses: Masses, time: Fraction) -> Masses:
        """Any number of lost points may have happened then, or at most one where order is strict."""
        found: Masses = defaultdict(Fraction, masses)
        going = masses
        while going:
            next_ones: Masses = defaultdict(Fraction)
            for state, mass in going.items():
                for step, possible in (
                    (self._stepping.left_step, self._choices[0].get(state.left, ())),
                    (self._stepping.right_step, self._choices[1].get(state.right, ())),
                ):
                    if time in possible:
                        next_ones[step(state)] += mass / len(possible)
            for state, mass in next_ones.items():
                found[state] += mass
            going = {} if self._strict else next_ones
        return found


class Possibilities(NamedTuple):
    """The possible times of lost points, for all points of `PointLists`: those of point p begin at begins[p]."""

    begins: Ints
    times: Ints


def possibilities_around(lists: PointLists, truth: Ints, delta: int, unit: int) -> Possibilities:
    """Every `unit` of time up to `delta` of them before and after the time at which a lost point truly happened."""
    n_each = np.where(lists.lost, 2 * delta + 1, 0)
    begins = np.concatenate([[0], np.cumsum(n_each)])
    steps = unit * np.arange(-delta, delta + 1)
    return Possibilities(begins, (truth[lists.lost][:, None] + steps).ravel())


def sharing_masses(
    left: PointLists,
    right: PointLists,
    ones: Ints,
    others: Ints,
    possible: tuple[Possibilities, Possibilities],
    most: int,
    *,
    strict: bool = False,
) -> NDArray[np.float64]:
    """For each pair, the mass of worlds in which 0, 1, … left segments touch a right one; the last holds all above.

    Keys are simple, and what they lost has bounds.
    """
    one, other = (
        kernels.Points(lists.begins, lists.time, lists.lost, lists.turn, some.begins, some.times)
        for lists, some in zip((left, right), possible, strict=True)
    )
    found: NDArray[np.float64] = kernels.sharing_masses(one, other, ones, others, most, strict)
    return found
