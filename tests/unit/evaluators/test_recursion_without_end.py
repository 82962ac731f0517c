"""A recursion that makes ever new values is stopped; one that makes ever longer intervals continues."""

from __future__ import annotations

import pytest

import inkling
from inkling.errors import InputError

pytestmark = pytest.mark.slow

STREAM = "STREAM A(id STRING, v BIGINT, t BIGINT) ID id TIME t;"


def test_values_that_only_grow_are_an_error() -> None:
    program = inkling.parse(
        f"{STREAM} EVENT x(a.v AS v) AS PATTERN A a PER INTERVAL;EVENT x(y.v + 1) AS PATTERN x y AND A b PER INTERVAL;"
    )
    with pytest.raises(InputError, match="INK0560"):
        program.run_local({"A": [{"id": "a", "v": 1, "t": 1}]})


@pytest.mark.parametrize(("absent", "n"), [("", 260), ("NOT x, ", 40)])
def test_a_long_chain_comes_to_its_end(absent: str, n: int) -> None:
    """Each event follows the one before it, so the last chain has as many links as there are events."""
    program = inkling.parse(
        f"{STREAM} EVENT x(0 AS n) AS PATTERN A a[v = 0] PER INTERVAL;"
        f"EVENT x(y.n + 1) AS PATTERN SEQ(x y, {absent}A b[v = y.n + 1]) PER INTERVAL;"
    )
    rows = [{"id": f"a{place}", "v": place, "t": place} for place in range(n)]
    found = program.run_local({"A": rows}).tables["x"]
    assert max(found["n"].to_pylist()) == n - 1
