"""Points that come at a rate, before the first or after the last recorded one."""

from __future__ import annotations

from fractions import Fraction
from math import exp
from random import Random

import numpy as np
import pytest
from tests.kit.lost_lines import random_line, unbounded
from tests.kit.lost_pairs import flat, lists_of_lines, random_question
from tests.reference.lost.exact.line import Line, Point, Span, breakpoints, line_of
from tests.reference.lost.exact.question import Question, asked_of
from tests.reference.lost.exact.rates import rate_counts_of_lines

from inkling.evaluators.relation.forward import Limits, chances
from inkling.evaluators.relation.points import CLOSES, NEITHER, OPENS

pytestmark = pytest.mark.slow


def related(left: Line, right: Line, name: str) -> float:
    one, other = lists_of_lines([left], [right])
    first = np.zeros(1, np.int64)
    found = chances(one, other, first, first, asked_of(Question(1, (name,), 1), 1), Limits())
    assert not found.error.any()
    return float(found.at_least[0, 1])


def two_after(time: int, rate: float) -> Line:
    """A segment of which nothing is known but that it came after a time."""
    points = (Point(Fraction(time), NEITHER), Point(None, OPENS), Point(None, CLOSES))
    return Line(points, (Span(1, 2, None),), rate)


def test_O19_one_tail() -> None:
    left = line_of(flat("0 _", rate=0.2))
    expected = {"PRECEDES": 1 - exp(-0.2), "OVERLAPS": exp(-0.2) - exp(-0.6), "CONTAINS": exp(-0.6)}
    for name, value in expected.items():
        assert related(left, line_of(flat("1 3")), name) == pytest.approx(value, abs=1e-14)
    spread = line_of(flat("_ 10", lo=0))
    assert related(left, spread, "PRECEDES") == pytest.approx(1 - (1 - exp(-2)) / 2, abs=1e-14)


def test_O20_two_lost_in_a_tail() -> None:
    left, right = two_after(0, 0.2), line_of(flat("_ 10", lo=0))
    expected = {"PRECEDES": 0.270670566, "OVERLAPS": 0.161661792, "DURING": 0.161661792, "CONTAINS": 0.135335283}
    expected |= {"OVERLAPPED_BY": 0.135335283, "PRECEDED_BY": 0.135335283}
    for name, value in expected.items():
        assert related(left, right, name) == pytest.approx(value, abs=1e-9), name


def test_O20_two_open_tails() -> None:
    points = (Point(Fraction(-1), OPENS), Point(Fraction(0), NEITHER), Point(None, CLOSES))
    left, right = two_after(0, 0.2), Line(points, (Span(0, 2, None),), 0.1)
    for name, value in {"DURING": 4 / 9, "OVERLAPPED_BY": 2 / 9, "PRECEDED_BY": 1 / 3}.items():
        assert related(left, right, name) == pytest.approx(value, abs=1e-14), name


def test_a_head_is_a_tail_backward() -> None:
    before = Line((Point(None, OPENS), Point(None, CLOSES), Point(Fraction(0), NEITHER)), (Span(0, 1, None),), 0.2)
    right = line_of(flat("-10 _", hi=0))
    backward = {"PRECEDED_BY": "PRECEDES", "OVERLAPPED_BY": "OVERLAPS", "DURING": "DURING", "CONTAINS": "CONTAINS"}
    mirrored = line_of(flat("_ 10", lo=0))
    for name, other in backward.items():
        expected = related(two_after(0, 0.2), mirrored, other)
        assert related(before, right, name) == pytest.approx(expected, abs=1e-14), name


@pytest.mark.parametrize("distance", [10**3, 10**6, 10**9])
def test_rates_that_are_far_from_everything_else(distance: int) -> None:
    """Points of a rate of 1 lie near the recorded one that they precede or follow, however long the cell is."""
    tail, head = line_of(flat("0 _", rate=1.0)), line_of(flat(f"_ {distance}", rate=1.0))
    assert related(tail, line_of(flat(f"{distance - 1} {distance}")), "PRECEDES") == pytest.approx(1, abs=1e-12)
    assert related(head, line_of(flat(f"0 {distance - 1}")), "OVERLAPPED_BY") == pytest.approx(exp(-1), abs=1e-12)
    assert related(head, line_of(flat("0 1")), "PRECEDED_BY") == pytest.approx(1, abs=1e-12)
    assert related(tail, head, "PRECEDES") == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("seed", range(2))
def test_random_keys(seed: int) -> None:
    random = Random(seed)
    n_checked = 0
    for _ in range(50):
        question, most = random_question(random), 3
        lines = [tuple(unbounded(random, random_line(random, most_lost=2)) for _ in range(2)) for _ in range(4)]
        lines = [pair for pair in lines if breakpoints(*pair) and all(_is_small(line) for line in pair)]
        left, right = lists_of_lines([one for one, _ in lines], [other for _, other in lines])
        every = np.arange(len(lines))
        found = chances(left, right, every, every, asked_of(question, most), Limits()).at_least
        for place, (one, other) in enumerate(lines):
            counted = rate_counts_of_lines(one, other, question)
            wanted = [sum(counted[k:]) for k in range(most + 1)]
            if question.left is None:
                wanted = [counted[len(one.spans)]]
            assert np.abs(found[place] - wanted).max() < 1e-9, (question, one, other)
            n_checked += 1
    assert n_checked > 80


def _is_small(line: Line) -> bool:
    """Few enough states for matrices, and room for what was lost."""
    has_room = all(run.lo is None or run.hi is None or run.lo < run.hi for run in line.runs)
    return has_room and sum(run.size for run in line.runs) < 4
