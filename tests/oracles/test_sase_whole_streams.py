"""Long streams of overlapping intervals: how many matches there are, and what their confidences sum up to.

Event i = 1, 2, … has the value (i - 1) mod 1000 + 1 and happened between i and i + 2 d. A match is three events whose
values are divisible by 31, 37 and 41, within 100 points. The numbers were computed elsewhere, in fractions for the
shorter streams. Under ANY they must also be what the densities of the three kinds of events say, without any match.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import inkling

DIVISORS = (31, 37, 41)
WINDOW = 100

ANY = {
    (2_000, 1): (226, 204.555555556),
    (2_000, 10): (482, 197.562898175),
    (2_000, 50): (2_510, 194.638876406),
    (20_000, 1): (2_332, 2114.555555556),
    (20_000, 10): (4_928, 2029.020624123),
    (20_000, 50): (26_252, 2006.725734518),
    (1_000_000, 1): (116_992, 106103.4444),
    (1_000_000, 10): (246_988, 101741.7190),
    (1_000_000, 50): (1_318_872, 100664.7880),
}
NEXT = {
    (2_000, 1): (74, 62.666666667),
    (2_000, 10): (256, 62.518899508),
    (2_000, 50): (2_510, 55.430754623),
    (20_000, 1): (758, 638.666666667),
    (20_000, 10): (2_596, 638.200716388),
    (20_000, 50): (26_252, 566.395771533),
}


def rows(n: int, d: int) -> pa.Table:
    number = np.arange(1, n + 1)
    return pa.table({"id": number, "v": (number - 1) % 1000 + 1, "lo": number, "hi": number + 2 * d})


def found(policy: str, n: int, d: int) -> tuple[int, float]:
    parts = ", ".join(f"E {name}[v % {divisor} = 0]" for name, divisor in zip("abc", DIVISORS, strict=True))
    program = inkling.parse(
        "STREAM E(id BIGINT, v BIGINT, lo BIGINT, hi BIGINT) ID id TIME BETWEEN lo AND hi;"
        f"EVENT three AS PATTERN SEQ {policy}({parts}) WITHIN {WINDOW} POINTS;"
    )
    results = program.run_local({"E": rows(n, d)}).tables["three"]
    assert set(results["method"].unique().to_pylist()) == {"exact"}
    return len(results), float(np.sum(results["probability"].to_numpy()))


def expected_number(n: int, d: int) -> float:
    """The expected number of matches under ANY, from how many events of each kind are expected at every tick.

    All are counted in units of 1 / (2 d + 1), so that nothing is rounded before the end.
    """
    number = np.arange(1, n + 1)
    value, ticks = (number - 1) % 1000 + 1, n + 2 * d + WINDOW + 2
    densities = []
    for divisor in DIVISORS:
        change = np.zeros(ticks + 1, np.int64)
        mine = number[value % divisor == 0]
        np.add.at(change, mine, 1)
        np.add.at(change, mine + 2 * d + 1, -1)
        densities.append(np.cumsum(change)[:ticks])
    first, second, third = densities
    up_to_second, up_to_third = np.cumsum(second), np.cumsum(third)
    both = np.cumsum(second * up_to_third)
    start = np.arange(ticks - WINDOW)
    end = start + WINDOW - 1
    inside = up_to_third[end] * (up_to_second[end] - up_to_second[start]) - (both[end] - both[start])
    return int(np.sum(first[start] * inside)) / (2 * d + 1) ** 3


@pytest.mark.parametrize(("n", "d"), ANY)
def test_any(n: int, d: int) -> None:
    n_matches, total = found("ANY", n, d)
    assert n_matches == ANY[n, d][0]
    assert total == pytest.approx(ANY[n, d][1], abs=1e-3 if n == 1_000_000 else 1e-8)
    assert total == pytest.approx(expected_number(n, d), rel=1e-9)


@pytest.mark.parametrize(("n", "d"), NEXT)
def test_next(n: int, d: int) -> None:
    n_matches, total = found("NEXT", n, d)
    assert n_matches == NEXT[n, d][0]
    assert total == pytest.approx(NEXT[n, d][1], abs=1e-8)
