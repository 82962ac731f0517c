"""A difference between results is found and can be read."""

from __future__ import annotations

import pytest
from tests.kit.comparison import differences, same_results
from tests.kit.oracle import bound

from inkling.meaning.semantics import Result

PLAN = bound("""
    STREAM A(id STRING, x INT, y DOUBLE, t INT) ID id TIME t;
    EVENT e(FIRST(a).x AS x) AS PATTERN SEQ(A a{2}) RETURN STDDEV(a.y) AS spread;
""")
EXPECTED = {"e": (Result("e", (1, 0.1 + 0.2), 1, 2, 2, ("p", "q")), Result("e", (1, 2.0), 1, 3, 3, ("p", "r")))}
ROWS: list[dict[str, object]] = [
    {"x": 1, "spread": 2.0, "start": 1, "end": 3, "detected_at": 3, "lineage": ["p", "r"], "probability": 1.0},
    {"x": 1, "spread": 0.3, "start": 1, "end": 2, "detected_at": 2, "lineage": ["p", "q"], "probability": 1.0},
]


def test_the_order_of_results_and_the_last_bits_of_a_deviation_do_not_matter() -> None:
    same_results(PLAN, EXPECTED, {"e": ROWS})


@pytest.mark.parametrize(
    ("column", "value"),
    [("x", 2), ("x", None), ("spread", 2.1), ("start", 0), ("end", 4), ("detected_at", 4), ("lineage", ["r", "p"])],
)
def test_everything_else_does(column: str, value: object) -> None:
    changed = [{**ROWS[0], column: value}, ROWS[1]]
    lines = differences(PLAN, EXPECTED, {"e": changed})
    assert lines[0] == "e: 2 expected, 2 found"
    assert [line.split()[0] for line in lines[1:]] == ["-", "+"]


def test_a_result_that_comes_twice_is_one_too_many() -> None:
    lines = differences(PLAN, EXPECTED, {"e": [*ROWS, ROWS[0]]})
    assert lines == ["e: 2 expected, 3 found", "  + (x=1, spread=2.0) [1, 3] detected 3 lineage ['p', 'r']"]


def test_a_missing_event_is_listed() -> None:
    with pytest.raises(AssertionError, match=r"(?s)e: 2 expected, 0 found.*- \(x=1, spread=2\.0\) \[1, 3\]"):
        same_results(PLAN, EXPECTED, {})


def test_long_lists_are_cut() -> None:
    many = {"e": tuple(Result("e", (n, 0.5), 1, 2, 2, ("p", "q")) for n in range(30))}
    assert differences(PLAN, many, {})[-1] == "  - … and 10 more"
