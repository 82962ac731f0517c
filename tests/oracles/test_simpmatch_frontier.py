"""What is certain while points still arrive: frontier, points that wait, and bounds of the probability."""

from __future__ import annotations

from fractions import Fraction
from math import inf
from random import Random

from tests.kit.lost_pairs import flat, random_pairs, random_question
from tests.reference.lost.exact.flat import Flat
from tests.reference.lost.exact.frontier import bounds, buffered, frontier
from tests.reference.lost.exact.question import sharing
from tests.reference.lost.forward import counts

A, B = flat("0 _ _ 6 8 11"), flat("1 3 _ _ _ 12")


def in_time(left: Flat, right: Flat) -> list[int]:
    """Which key is next, in the order of time."""
    return [key for _, key in sorted([*((time, 0) for time in left.recorded), *((time, 1) for time in right.recorded)])]


def in_any_order(random: Random, left: Flat, right: Flat) -> list[int]:
    keys = in_time(left, right)
    random.shuffle(keys)
    return keys


def arrivals(keys: list[int]) -> list[tuple[int, int]]:
    """How many recorded points of each have arrived, after each arrival."""
    return [(keys[:n].count(0), keys[:n].count(1)) for n in range(1, len(keys) + 1)]


def test_O23_frontier_and_points_that_wait() -> None:
    steps = arrivals(in_time(A, B))
    assert [frontier(A, B, *step) for step in steps] == [-inf, 0, 0, 3, 3, 3, inf]
    assert [buffered(A, B, *step) for step in steps] == [1, 1, 2, 1, 2, 3, 0]


def test_O23_bounds() -> None:
    at_first = bounds(A, B, sharing(1), 0)
    assert (at_first.lower, at_first.upper) == ((1, 0, 0, 0), (1, 1, 1, 1))
    later = bounds(A, B, sharing(1), Fraction(3))
    assert later.lower == (1, Fraction(5, 6), Fraction(1, 9), 0)
    assert later.upper == (1, 1, 1, Fraction(25, 36))
    at_last = bounds(A, B, sharing(1), inf)
    expected = (1, Fraction(2176, 2187), Fraction(46835, 52488), Fraction(21829, 52488))
    assert at_last == (expected, expected)


def test_O23_bounds_where_the_left_key_may_go_on() -> None:
    later = bounds(A, B, sharing(1), Fraction(3), left_total_known=False)
    assert later.lower == bounds(A, B, sharing(1), Fraction(3)).lower
    assert later.upper == (1, 1, 1, 1)


def test_O23_bounds_close_in_on_the_answer_and_meet_it() -> None:
    """In whatever order points arrive, as long as those of one key come in theirs."""
    random = Random(23)
    n_closing = 0
    for pair in random_pairs(23, 150, most_lost=5):
        left, right, question = pair.left, pair.right, random_question(random)
        final = counts(left, right, question)
        answers = [sum(final[k:], Fraction(0)) for k in range(left.n_segments + 1)]
        lower, upper = [Fraction(0)] * len(answers), [Fraction(1)] * len(answers)
        steps = arrivals(in_any_order(random, left, right))
        for until in [*(frontier(left, right, *step) for step in steps), inf]:
            found = bounds(left, right, question, until)
            pairs = zip(lower, found.lower, answers, found.upper, upper, strict=True)
            assert all(a <= b <= answer <= c <= d for a, b, answer, c, d in pairs), f"{pair}\n{question}\n{until}"
            n_closing += (list(found.lower), list(found.upper)) != (lower, upper)
            lower, upper = list(found.lower), list(found.upper)
        assert lower == upper == answers
    assert n_closing > 300
