"""Query files find `P[q at t]` of Lahar's queries at every time t, and by binding where the head asks for it.

Streams are independent, or Markovian with a table of transitions; what is found is exact. Interval tables and most
probable worlds are no results of a query.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from tests.oracles.probable_values import CASES, queries_of, streams_of, tables_of

from inkling import Sampling, parse

BY_ID = {case["id"]: case for case in CASES}
BY_BINDING = {
    "L11a": ("x", {"Joe": "0 0 3/32", "Sue": "0 0 1/5"}),
    "L11b": ("x", {"Joe": "0 0 1/16", "Sue": "0 0 1/4"}),
    "L13": ("x", {"Joe": "0 0 3/16 77/576", "Sue": "0 0 1/8 0"}),
    "L28": ("x, y", {"Joe lap": "0 1/4 0", "Joe mug": "0 1/6 1/6", "Sue lap": "0 0 3/4"}),
    "L32": ("p", {"Joe": "0 0 3/16 3/16", "Sue": "0 0 1/12 5/48"}),
}


def found_by(case: dict[str, Any], head: str) -> list[dict[str, Any]]:
    _, written = streams_of(case)
    rows = {name: [{**row, "p": float(Fraction(str(row["p"])))} for row in some] for name, some in written.items()}
    program = parse(queries_of(case, head), name="x.lahar")
    results = program.run_local(rows, tables_of(case), sampling=Sampling(exact_up_to=1_000_000))
    assert not len(results.rejects)
    found: list[dict[str, Any]] = results.tables["x"].to_pylist()
    assert {one["method"] for one in found} <= {"exact"}
    return found


@pytest.mark.parametrize("case", CASES, ids=BY_ID)
def test_probability_at_every_time(case: dict[str, Any]) -> None:
    found = found_by(case, "x()")
    at = {one["end"]: one["probability"] for one in found}
    assert len(at) == len(found)
    wanted = [float(Fraction(one)) for one in case["expect"]]
    assert [at.get(time, 0.0) for time in range(1, case["T"] + 1)] == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("case", BY_BINDING)
def test_probability_of_every_binding(case: str) -> None:
    variables, wanted = BY_BINDING[case]
    found: dict[tuple[str, int], float] = {}
    for one in found_by(BY_ID[case], f"x({variables})"):
        found[" ".join(one[name] for name in variables.split(", ")), one["end"]] = one["probability"]
    listed = {
        (binding, time): float(Fraction(prob))
        for binding, probs in wanted.items()
        for time, prob in enumerate(probs.split(), start=1)
        if prob != "0"
    }
    assert found == pytest.approx(listed, abs=1e-12)


def test_ever_asks_for_one_answer() -> None:
    case = BY_ID["L23a"]
    (one,) = found_by(case, "x() ever")
    assert one["probability"] == pytest.approx(1 - (2 / 3) ** 5 - 5 / 3 * (2 / 3) ** 4, abs=1e-12)


def ends(program: str, **streams: list[dict[str, object]]) -> list[object]:
    found: list[object] = parse(program, name="x.lahar").run_local(streams).tables["x"]["end"].to_pylist()
    return found


@pytest.mark.parametrize(
    ("start", "expected"),
    [(1, [3]), (2, [3]), (3, [7]), (5, [7]), (6, [7]), (7, [11]), (10, [11]), (13, [14]), (14, [])],
)
def test_an_event_is_followed_by_the_next_one_only(start: int, expected: list[int]) -> None:
    program = "stream Q() certain; stream R() certain; x() : Q() ; R()"
    assert ends(program, Q=[{"t": start}], R=[{"t": t} for t in (3, 7, 11, 14)]) == expected
