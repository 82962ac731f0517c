"""What is certain before everything is known."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pytest
from tests.kit.lost_lines import overlapping_line, random_line, unbounded
from tests.kit.lost_pairs import flat, lists_of_lines, lists_of_pairs, random_pairs, random_question
from tests.reference.lost.exact.frontier import bounds as exact_bounds
from tests.reference.lost.exact.line import Line, Point, Span, breakpoints
from tests.reference.lost.exact.question import Question, asked_of, sharing
from tests.reference.lost.exact.stepping import State, Stepping
from tests.reference.lost.forward import masses_after

from inkling.evaluators.relation.forward import Bounds, Limits, bounds, chances
from inkling.model.batch import FOREVER

pytestmark = pytest.mark.slow


def bounds_at(
    left: Line,
    right: Line,
    question: Question,
    most: int,
    until: list[int],
    *,
    knows_left: np.ndarray | None = None,
    knows_right: np.ndarray | None = None,
) -> Bounds:
    """By several times."""
    lists = lists_of_lines([left], [right])
    n = len(until)
    first, yes = np.zeros(n, np.int64), np.ones(n, bool)
    totals = (yes if one is None else one for one in (knows_left, knows_right))
    return bounds(*lists, first, first, asked_of(question, most), np.array(until), *totals)


def moments(left: Line, right: Line) -> list[int]:
    return [-FOREVER, *(int(time) for time in breakpoints(left, right)), FOREVER]


def test_O23_streaming_bounds() -> None:
    left, right = lists_of_pairs([(flat("0 _ _ 6 8 11"), flat("1 3 _ _ _ 12"))])
    first, yes = np.zeros(3, np.int64), np.ones(3, bool)
    found = bounds(left, right, first, first, asked_of(sharing(1), 3), np.array([0, 3, FOREVER]), yes, yes)
    assert found.lower[0].tolist() == [1, 0, 0, 0]
    assert found.upper[0].tolist() == [1, 1, 1, 1]
    assert found.lower[1] == pytest.approx([1, 5 / 6, 1 / 9, 0])
    assert found.upper[1] == pytest.approx([1, 1, 1, 25 / 36])
    final = [1, 2176 / 2187, 46835 / 52488, 21829 / 52488]
    assert found.lower[2] == pytest.approx(final)
    assert found.upper[2] == pytest.approx(final)


def test_without_the_total_of_the_left_key_anything_can_be_reached() -> None:
    left, right = lists_of_pairs([(flat("0 _ _ 6 8 11"), flat("1 3 _ _ _ 12"))])
    first, no = np.zeros(1, np.int64), np.zeros(1, bool)
    found = bounds(left, right, first, first, asked_of(sharing(1), 4), np.array([3]), no, ~no)
    assert found.lower[0] == pytest.approx([1, 5 / 6, 1 / 9, 0, 0])
    assert found.upper[0].tolist() == [1] * 5


def test_every_segment_has_failed_once_one_has() -> None:
    left, right = lists_of_pairs([(flat("0 2 4 6"), flat("3 5"))])
    n, asked = 2, asked_of(Question(None, ("INTERSECTS",), 1), 0)
    first, no = np.zeros(n, np.int64), np.zeros(n, bool)
    found = bounds(left, right, first, first, asked, np.array([0, 2]), no, no)
    assert found.lower.tolist() == [[0], [0]]
    assert found.upper.tolist() == [[1], [0]]


@pytest.mark.parametrize("seed", range(2))
def test_random_keys(seed: int) -> None:
    """As sharp as judging the open segment for every place at which it can close."""
    random = Random(seed)
    for _ in range(150):
        question, most = random_question(random), random.choice((1, 2, 4))
        left, right = random_line(random), random_line(random)
        until = moments(left, right)
        found = bounds_at(left, right, question, most, until)
        stepping = Stepping(left, right, question)
        for place, time in enumerate(until[1:], start=1):
            lower, upper = _exact(stepping, time, question, most)
            assert found.lower[place] == pytest.approx(lower, abs=1e-9), (question, left, right, time)
            assert found.upper[place] == pytest.approx(upper, abs=1e-9), (question, left, right, time)


def _exact(stepping: Stepping, time: int, question: Question, most: int) -> tuple[list[float], list[float]]:
    masses = masses_after(stepping, time)
    n_left = len(stepping.left.spans)
    numbers = [n_left] if question.left is None else range(most + 1)
    sure = {state: _sure(stepping, state) for state in masses}
    possible = {state: _possible(stepping, state) for state in masses}
    return tuple(
        [float(sum((masses[state] for state in masses if best[state] >= k), Fraction(0))) for k in numbers]
        for best in (sure, possible)
    )  # type: ignore[return-value]


def _sure(stepping: Stepping, state: State) -> int:
    return state.n_qualifying + (_verdicts(stepping, state) == {True})


def _possible(stepping: Stepping, state: State) -> int:
    n_open = sum(span.closing >= state.left for span in stepping.left.spans)
    return state.n_qualifying + n_open - (_verdicts(stepping, state) == {False})


def _verdicts(stepping: Stepping, state: State) -> set[bool]:
    if state.opened is None:
        return set()
    (span,) = (span for span in stepping.left.spans if span.opening < state.left <= span.closing)
    n_right = len(stepping.right.points)
    among = type(state.opened)
    ends = [among(place, place) for place in range(state.right, n_right + 1)]
    ends += [among(place, place + 1) for place in range(state.right, n_right)]
    return {stepping.qualifies(span, state.opened, end) for end in ends}


@pytest.mark.parametrize("rates", [False, True])
def test_bounds_never_get_worse_and_meet(*, rates: bool) -> None:
    """Whenever totals become known."""
    random = Random(5)
    for _ in range(200):
        question, most = random_question(random), random.choice((1, 2, 4))
        left, right = random_line(random, most_lost=2), random_line(random, most_lost=2)
        if rates:
            left, right = unbounded(random, left), unbounded(random, right)
            runs = (*left.runs, *right.runs)
            if any(run.lo is not None and run.hi is not None and run.lo >= run.hi for run in runs):
                continue
        until = moments(left, right)
        n = len(until)
        knows_left, knows_right = (np.arange(n) >= random.randint(0, n - 1) for _ in range(2))
        known = {"knows_left": knows_left, "knows_right": knows_right}
        found = bounds_at(left, right, question, most, until, **known)
        assert (np.diff(found.lower, axis=0) > -1e-12).all(), (question, left, right, known)
        assert (np.diff(found.upper, axis=0) < 1e-12).all(), (question, left, right, known)
        one, other = lists_of_lines([left], [right])
        first = np.zeros(1, np.int64)
        final = chances(one, other, first, first, asked_of(question, most), Limits()).at_least
        assert np.abs(found.lower[-1] - final).max() < 1e-12
        assert np.abs(found.upper[-1] - final).max() < 1e-12


def test_totals_that_are_unknown_hold_for_whatever_follows() -> None:
    """Nothing that can still come contradicts the bounds: more right segments after the last one."""
    random = Random(9)
    for _ in range(150):
        question, most = random_question(random), 3
        left, right = random_line(random), random_line(random)
        until = [int(time) for time in breakpoints(left, right)]
        if not until:
            continue
        no = np.zeros(len(until), bool)
        found = bounds_at(left, right, question, most, until, knows_right=no)
        last = max(until)
        longer = _followed(right, last, random.randint(1, 3))
        one, other = lists_of_lines([left], [longer])
        first = np.zeros(1, np.int64)
        final = chances(one, other, first, first, asked_of(question, most), Limits()).at_least[0]
        assert (found.lower <= final + 1e-12).all(), (question, left, right)
        assert (found.upper >= final - 1e-12).all(), (question, left, right)


def _followed(line: Line, after: int, n: int) -> Line:
    """The same with more segments later on."""
    points, spans = list(line.points), list(line.spans)
    for number in range(n):
        place = len(points)
        start = Fraction(after + 1 + 2 * number)
        points += [Point(start, 1), Point(start + 1, -1)]
        spans.append(Span(place, place + 1, "a"))
    return Line(tuple(points), tuple(spans))


def test_frontier_inside_a_cell_tells_no_more_than_its_beginning() -> None:
    for pair in random_pairs(2, 60):
        left, right = lists_of_pairs([(pair.left, pair.right)])
        found = exact_bounds(pair.left, pair.right, sharing(1), Fraction(5))
        first, yes = np.zeros(2, np.int64), np.ones(2, bool)
        n = pair.left.n_segments
        doubled = [one._replace(time=2 * one.time) for one in (left, right)]
        got = bounds(*doubled, first, first, asked_of(sharing(1), n), np.array([10, 11]), yes, yes)
        for row in range(2):
            assert got.lower[row] == pytest.approx([float(one) for one in found.lower], abs=1e-9), str(pair)
            assert got.upper[row] == pytest.approx([float(one) for one in found.upper], abs=1e-9), str(pair)


def test_of_segments_that_overlap_nothing_is_told_early() -> None:
    random = Random(1)
    left, right = lists_of_lines([random_line(random)], [overlapping_line(random)])
    first, yes = np.zeros(1, np.int64), np.ones(1, bool)
    right = right._replace(simple=~yes)
    found = bounds(left, right, first, first, asked_of(sharing(1), 2), np.array([5]), yes, yes)
    assert found.lower.tolist() == [[1, 0, 0]]
    assert found.upper.tolist() == [[1, 1, 1]]
