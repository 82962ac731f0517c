"""Lost points that come at a known rate, with nothing that limits when they came."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from math import exp, factorial, inf

import numpy as np
import pytest
from scipy.integrate import quad
from tests.kit.lost_pairs import asked_backward, flat, reversed_in_time
from tests.reference.lost.exact.flat import Flat
from tests.reference.lost.exact.question import BASIC, Question, sharing
from tests.reference.lost.exact.rates import rate_chance, rate_counts
from tests.reference.lost.forward import counts


def single(relation: str) -> Question:
    return Question(1, (relation,), 1)


def test_O19_one_tail() -> None:
    tail = flat("0 _", rate=0.2)
    expected = {"PRECEDES": 0.181269247, "OVERLAPS": 0.269919117, "CONTAINS": 0.548811636}
    for name in BASIC:
        assert rate_chance(tail, flat("1 3"), single(name)) == pytest.approx(expected.get(name, 0.0), abs=1e-9)
    assert rate_chance(tail, flat("1 3"), single("CONTAINS")) == pytest.approx(exp(-0.6), abs=1e-14)
    found = rate_chance(tail, flat("_ 10", lo=0), single("PRECEDES"))
    assert found == pytest.approx(1 - (1 - exp(-2)) / 2, abs=1e-14)
    assert found == pytest.approx(0.567667642, abs=1e-9)


def test_O20_two_lost_at_a_rate_and_one_in_a_window() -> None:
    """The second segment of A is between the two, that of B between the one and 10: each order is another relation.

    The first segment of A is over before that of B begins.
    """
    a, b = flat("-1 0 _ _", rate=0.2), flat("_ 10", lo=0)
    expected = {
        "OVERLAPS": 0.161661792,
        "DURING": 0.161661792,
        "CONTAINS": 0.135335283,
        "OVERLAPPED_BY": 0.135335283,
        "PRECEDED_BY": 0.135335283,
    }
    found = {name: rate_chance(a, b, single(name)) for name in expected}
    assert found == pytest.approx(expected, abs=1e-9)
    both = rate_chance(a, b, Question(2, ("PRECEDES",), 1))
    assert both == pytest.approx(0.270670566, abs=1e-9)
    assert both + sum(found.values()) == pytest.approx(1, abs=1e-14)
    between = rate_chance(a, b, Question(1, ("OVERLAPS", "CONTAINS"), 1))
    assert between == pytest.approx((1 - 3 * exp(-2)) / 2, abs=1e-14)


def test_O20_two_tails() -> None:
    a, b = flat("-1 0 _ _", rate=0.2), flat("0 _", rate=0.1)
    found = [rate_chance(a, b, single(name)) for name in ("DURING", "OVERLAPPED_BY", "PRECEDED_BY")]
    assert found == pytest.approx([4 / 9, 2 / 9, 1 / 3], abs=1e-14)


def ended_at(tail: Flat, time: float) -> Flat:
    """The same if its last point had been recorded."""
    return replace(tail, times=(*tail.times[:-1], Fraction(time)))


def averaged(tail: Flat, other: Flat, question: Question) -> list[float]:
    """Over when the last point of a tail came, which is known to be a sum of exponential waiting times."""
    assert tail.rate is not None
    rate, since = tail.rate, float(tail.recorded[-1])
    n_lost = len(tail.times) - 1 - max(place for place, time in enumerate(tail.times) if time is not None)

    def weighted(time: float, count: int) -> float:
        length = time - since
        density = rate**n_lost * length ** (n_lost - 1) / factorial(n_lost - 1) * exp(-rate * length)
        there = ended_at(tail, time)
        found = counts(there, other, question) if other.rate is None else rate_counts(there, other, question)
        return density * float(found[count])

    borders = [since, *(float(time) for time in other.recorded if time > since), inf]
    return [
        sum(quad(weighted, lo, hi, args=(count,), epsabs=1e-10)[0] for lo, hi in pairwise(borders))
        for count in range(tail.n_segments + 1)
    ]


@pytest.mark.parametrize(
    ("tail", "other", "question"),
    [
        (flat("0 _", rate=0.3), flat("1 _ _ 6"), sharing(1)),
        (flat("0 2 _ _", rate=0.5), flat("1 4 _ 7"), sharing(1)),
        (flat("0 2 _ _", rate=0.5), flat("1 4 _ 7"), Question(1, ("PRECEDED_BY",), None)),
        (flat("0 2 _ _", rate=0.4), flat("1 3 5 _", rate=0.2), sharing(1)),
    ],
)
def test_a_tail_is_what_it_is_on_average_over_its_end(tail: Flat, other: Flat, question: Question) -> None:
    assert rate_counts(tail, other, question) == pytest.approx(averaged(tail, other, question), abs=1e-8)


@pytest.mark.parametrize("relation", [*BASIC, "INTERSECTS"])
def test_heads_are_tails_backward(relation: str) -> None:
    left, right = flat("_ _ 4 _", rate=0.3), flat("_ _ 3 _ _ 6", rate=0.7)
    question = Question(1, (relation,), 1)
    forward = rate_counts(left, right, question)
    backward = rate_counts(reversed_in_time(left), reversed_in_time(right), asked_backward(question))
    assert forward == pytest.approx(backward, abs=1e-13)
    assert sum(forward) == pytest.approx(1, abs=1e-13)


def test_a_tail_of_erlang_gaps() -> None:
    """Every second point of twice the rate: the waiting time has the density 4 r² t exp(-2 r t)."""
    tail = flat("0 _", rate=0.2, shape=2)
    found = rate_chance(tail, flat("3 9"), single("PRECEDES"))
    points = 3 * 0.4
    assert found == pytest.approx(1 - exp(-points) * (1 + points), abs=1e-14)


def test_rates_of_what_has_bounds_do_not_matter() -> None:
    left, right = flat("0 _ _ 6", rate=3.0), flat("1 _", hi=5, rate=0.1)
    exact = [float(prob) for prob in counts(left, right, sharing(1))]
    assert rate_counts(left, right, sharing(1)) == pytest.approx(exact, abs=1e-14)


def test_simulated_heads_and_tails() -> None:
    """Both sides of both keys unlimited: a million worlds, drawn point by point."""
    left, right = flat("_ 4 _ _", rate=0.3), flat("_ 6", rate=0.7)
    random = np.random.default_rng(0)
    n = 1_000_000
    a1 = 4 - random.exponential(1 / 0.3, n)
    a3 = 4 + random.exponential(1 / 0.3, n)
    a4 = a3 + random.exponential(1 / 0.3, n)
    b1 = 6 - random.exponential(1 / 0.7, n)
    first = (a1 <= 6) & (b1 <= 4)
    second = (a3 <= 6) & (b1 <= a4)
    shares = np.bincount(first.astype(int) + second, minlength=3) / n
    for expected, seen in zip(rate_counts(left, right, sharing(1)), shares, strict=True):
        assert abs(seen - expected) < 4 * (expected * (1 - expected) / n) ** 0.5
