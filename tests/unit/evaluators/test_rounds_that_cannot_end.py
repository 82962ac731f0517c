"""Rounds of repetitions after the last event that could end a match: there are too many ways to group them to try."""

from __future__ import annotations

import pytest
from tests.kit.comparison import differences
from tests.kit.oracle import oracle

import inkling

STREAMS = "STREAM A(id STRING, t BIGINT) ID id TIME t; STREAM B(id STRING, x INT, t BIGINT) ID id TIME t;"
PATTERNS = (
    "SEQ((A+)+, B b[x = 1])",
    "SEQ((SEQ(A, A)+)+, B b[x = 1] OR B c[x = 2])",
    "SEQ NEXT((A+)+, B b[x = 1])",
    "SEQ((A+)+, (B b[x = 1] HAVING b.t > 3))",
)
MANY = 300


def _rows(n_before: int, n_after: int) -> dict[str, list[dict[str, object]]]:
    times = [*range(n_before), *range(n_before + 1, n_before + 1 + n_after)]
    ends = [{"id": "b", "x": 1, "t": n_before}, {"id": "other", "x": 0, "t": n_before + n_after + 1}]
    return {"A": [{"id": f"a{t}", "t": t} for t in times], "B": ends}


@pytest.mark.parametrize("pattern", PATTERNS)
def test_later_rounds_are_not_tried(pattern: str) -> None:
    program = inkling.parse(f"{STREAMS} EVENT e AS PATTERN {pattern};")
    results = program.run_local(_rows(5, MANY))
    expected = oracle(program.plan, _rows(5, 0), {})
    assert expected["e"]
    assert not differences(program.plan, expected, {"e": results["e"].to_pylist()})


@pytest.mark.parametrize("pattern", PATTERNS)
def test_without_an_end_there_is_nothing(pattern: str) -> None:
    program = inkling.parse(f"{STREAMS} EVENT e AS PATTERN {pattern};")
    assert not program.run_local(_rows(0, MANY))
