"""Very many lost points between two recorded ones: nothing overflows and nothing vanishes."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import beta, binom, poisson
from tests.kit.lost_pairs import flat, lists_of_lines, lists_of_pairs
from tests.reference.lost.exact.flat import Flat
from tests.reference.lost.exact.line import Line, Point, Span, line_of
from tests.reference.lost.exact.question import Question, asked_of, sharing

from inkling.evaluators.relation.forward import Limits, chances
from inkling.evaluators.relation.points import CLOSES, NEITHER, OPENS

pytestmark = pytest.mark.slow


def at_least(left: Flat, right: Flat, question: Question, most: int) -> np.ndarray:
    one, other = lists_of_pairs([(left, right)])
    first = np.zeros(1, np.int64)
    found = chances(one, other, first, first, asked_of(question, most), Limits())
    assert found.error[0] == 0
    return found.at_least[0]


def lost(n: int, lo: int, hi: int) -> Flat:
    return flat("_ " * n, lo=lo, hi=hi)


@pytest.mark.parametrize("n", [100, 1000])
def test_one_long_run(n: int) -> None:
    """So many segments precede a recorded one as there are pairs of points before it."""
    found = at_least(lost(n, 0, 1000), flat("300 301"), Question(1, ("PRECEDES",), 1), n // 2)
    expected = binom.sf(2 * np.arange(n // 2 + 1) - 1, n, 0.3)
    assert np.abs(found - expected).max() < 1e-11


def test_one_long_run_among_many_recorded_points() -> None:
    """A segment is preceded by some that opens after the first right one has ended."""
    times = " ".join(str(time) for time in range(100, 500, 2))
    found = at_least(lost(400, 0, 500), flat(times), Question(1, ("PRECEDED_BY",), 1), 200)
    expected = binom.sf(2 * np.arange(201) - 1, 400, 398 / 500)
    assert np.abs(found - expected).max() < 1e-11


@pytest.mark.parametrize("n", [50, 500])
def test_two_long_runs_in_one_window(n: int) -> None:
    """Every order is equally likely; so many left points come before all right ones."""
    found = at_least(lost(n, 0, 1000), lost(n, 0, 1000), Question(1, ("PRECEDES",), None), 5)
    expected = [comb(2 * n - 2 * k, n) / comb(2 * n, n) for k in range(6)]
    assert found == pytest.approx(expected, rel=1e-11)
    touching = at_least(lost(2 * 7, 0, 1000), lost(2 * 7, 0, 1000), sharing(1), 1)
    assert 1 - touching[1] == pytest.approx(comb(14, 7) / comb(28, 14), rel=1e-8)


@pytest.mark.parametrize("n", [40, pytest.param(500, marks=pytest.mark.long)])
def test_two_long_runs_in_different_windows(n: int) -> None:
    """The first right point decides; it is the least of uniform ones that begin later."""
    most = n // 20 + 3
    found = at_least(lost(n, 0, 1000), lost(n, 100, 1100), Question(1, ("PRECEDES",), None), most)
    first = beta(1, n)
    for k in range(most - 5, most + 1):

        def chance(time: float, k: int = k) -> float:
            return float(first.pdf(time) * binom.sf(2 * k - 1, n, min(0.1 + time, 1)))

        expected, _ = quad(chance, 0, 1, points=[1 / n, 4 / n, 0.9], epsabs=1e-13, limit=500)
        assert found[k] == pytest.approx(expected, abs=1e-10)


def test_a_long_tail_at_a_rate() -> None:
    """So many points of a rate come in a time as a Poisson distribution says."""
    n, rate = 600, 0.5
    points = (Point(Fraction(0), NEITHER), *(Point(None, CLOSES if place % 2 else OPENS) for place in range(n)))
    spans = tuple(Span(place, place + 1, None) for place in range(1, n, 2))
    left, right = lists_of_lines([Line(points, spans, rate)], [line_of(flat("500 1000"))])
    first = np.zeros(1, np.int64)
    found = chances(left, right, first, first, asked_of(Question(1, ("PRECEDES",), 1), n // 2), Limits())
    expected = poisson.sf(2 * np.arange(n // 2 + 1) - 1, rate * 500)
    assert np.abs(found.at_least[0] - expected).max() < 1e-11
