"""Kernels of sliding windows beside a loop over every window."""

from __future__ import annotations

import math
import random
import statistics
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from inkling.kernels.windows.exact_sums import grouped_sums, sliding_sums
from inkling.kernels.windows.sliding import extreme_rows, last_events, last_times, running_sums
from inkling.kernels.windows.sliding_statistics import middle_rows, sliding_deviations

SPECIAL = (0.0, -0.0, 1e16, -1e16, 1.0, -1.0, 0.1, 5e-324, -5e-324, 2.0**53, 2.0**-53, 1e308, -1e308)


def drawn(rng: random.Random, n: int) -> list[float]:
    match rng.randrange(4):
        case 0:
            return [rng.uniform(-1, 1) for _ in range(n)]
        case 1:
            return [rng.choice((-1, 1)) * rng.random() * 2.0 ** rng.randint(-1074, 1000) for _ in range(n)]
        case 2:
            return [rng.choice(SPECIAL) for _ in range(n)]
        case _:
            return [1e9 + rng.uniform(0, 1e-3) for _ in range(n)]


def exact(values: list[float]) -> float:
    total = sum(map(Fraction, values), Fraction(0))
    try:
        return float(total)
    except OverflowError:
        return math.inf if total > 0 else -math.inf


@pytest.mark.parametrize("seed", range(20))
def test_sums_are_rounded_once(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(50):
        n = rng.randint(1, 30)
        values, size = drawn(rng, n), rng.randint(1, n)
        present = np.array([rng.random() < 0.8 for _ in range(n)])
        first = last_events(np.zeros(n, np.int64), size)
        found = sliding_sums(first, np.array(values).view(np.int64), present, np.ones(n, bool))
        for row in range(n):
            assert found[row] == exact([values[i] for i in range(first[row], row + 1) if present[i]])
        cuts = np.array(sorted({0, n, *(rng.randint(0, n) for _ in range(3))}))
        groups = grouped_sums(cuts, np.array(values).view(np.int64))
        assert groups.tolist() == [exact(values[a:b]) for a, b in pairwise(cuts)]


@pytest.mark.parametrize("seed", range(20))
def test_order_statistics_and_deviations(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(10):
        n = rng.randint(1, 300)
        values = np.array([rng.choice((rng.randint(0, 5), rng.uniform(-9, 9))) for _ in range(n)], float)
        values = values * 1e-3 + 1e9 if rng.random() < 0.3 else values
        present = np.array([rng.random() < 0.7 for _ in range(n)])
        group = np.sort(np.array([rng.randint(0, 2) for _ in range(n)]))
        first = last_events(group, rng.randint(1, n))
        order = np.argsort(values, kind="stable")
        rank = np.empty(n, np.int64)
        rank[order] = np.arange(n)
        lower, upper = middle_rows(first, rank, present, order)
        least, greatest = (extreme_rows(first, values, present, greatest) for greatest in (False, True))
        deviations = sliding_deviations(first, values, present, np.ones(n, bool))
        for row in range(n):
            inside = [values[i] for i in range(first[row], row + 1) if present[i]]
            if not inside:
                assert lower[row] == upper[row] == least[row] == greatest[row] == -1
                continue
            assert (values[lower[row]] + values[upper[row]]) / 2 == statistics.median(inside)
            assert (values[least[row]], values[greatest[row]]) == (min(inside), max(inside))
            # the last digit of the root comes from one step of Newton's method
            assert deviations[row] == pytest.approx(statistics.pstdev(inside), rel=2.3e-16, abs=0)


def test_windows_stay_in_their_group_and_in_their_time() -> None:
    group, time = np.array([0, 0, 0, 1, 1]), np.array([0, 1, 3, 2, 4])
    assert last_events(group, 2).tolist() == [0, 0, 1, 3, 3]
    assert last_times(group, time, 2).tolist() == [0, 0, 1, 3, 3]
    assert running_sums(np.array([0, 0, 1]), np.array([5, 6, 7])).tolist() == [5, 11, 13]
