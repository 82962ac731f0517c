"""A run over lost events says where its assumption does not hold."""

from __future__ import annotations

import random

import pytest

from inkling import parse

PROGRAM = """
    STREAM S(k STRING, n BIGINT, t BIGINT) KEY k TIME t NUMBERED BY n{gaps} SEGMENTS;
    EVENT e(x.k AS one, y.k AS other) AS PATTERN SOME S x INTERSECTS SOME S y;
"""


def rows(spread: float) -> list[dict[str, object]]:
    rng = random.Random(7)
    found: list[dict[str, object]] = []
    for key in "ab":
        t = 0
        for n in range(1, 101):
            t += max(1, round(rng.gauss(100, spread) if spread else rng.expovariate(0.01)))
            if n in (1, 100) or rng.random() > 0.1:
                found.append({"k": key, "n": n, "t": t})
    return found


def test_regular_arrivals_are_told() -> None:
    said = parse(PROGRAM.format(gaps="")).run_local({"S": rows(10)}).worlds
    assert said is not None
    assert "arrivals of `S` are more regular than declared" in said
    assert "GAPS ERLANG 20" in said


@pytest.mark.parametrize(("gaps", "spread"), [("", 0), (" GAPS ERLANG 20", 25)])
def test_arrivals_as_declared_are_not(gaps: str, spread: float) -> None:
    text = PROGRAM.format(gaps=gaps)
    assert "more regular" not in (parse(text).run_local({"S": rows(spread)}).worlds or "")
