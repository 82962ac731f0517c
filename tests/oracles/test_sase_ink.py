"""Programs find the matches of patterns over imprecise times, with their confidences and ranges of times.

Streams are declared TIME BETWEEN, and all worlds are counted out. A repetition under NEXT is EAGER. Cases that are not
here:

| id | because |
|---|---|
| P1-P9, L1-L5 and the whole streams | no results of one pattern: counts of worlds, bounds, large intervals |
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from tests.oracles.imprecise_times import CASES, CERTAIN, expected, rows_of

from inkling import Sampling, parse

Rows = dict[str, list[dict[str, object]]]


def part(number: int, text: str, policy: str) -> str:
    """`!B` is absent, `B+` repeated, `B|Z` either, `B@k` has the `k` of the first event."""
    name, _, joined = text.strip("!+").partition("@")
    condition = "[k = x0.k]" if joined else ""
    if text.startswith("!"):
        return f"NOT {name}{condition}"
    plus = "+ EAGER" if policy == "NEXT" else "+"
    return f"{name} x{number}{condition}{plus if text.endswith('+') else ''}"


def event_of(case: dict[str, Any], streams: list[str]) -> str:
    parts = ", ".join(part(number, text, case["policy"]) for number, text in enumerate(case["pattern"]))
    over = f"OVER ({', '.join(streams)})" if case["policy"] == "STRICT" else ""
    return f"EVENT x AS PATTERN SEQ {case['policy']}({parts}) WITHIN {case['points']} POINTS {over}"


def with_numbers(rows: Rows) -> Rows:
    """Rows with all columns; weights are written as fractions, and are read as numbers."""
    return {
        name: [
            {"k": None, **row, "weights": [float(Fraction(one)) for one in row["weights"]] if row["weights"] else None}
            for row in some
        ]
        for name, some in rows.items()
    }


def imprecise_program(case: dict[str, Any], clauses: str = "") -> tuple[str, Rows]:
    rows = with_numbers(rows_of(case))
    weighted = {name for name, some in rows.items() if any(row["weights"] for row in some)}
    streams = "\n".join(
        f"STREAM {name}(id STRING, k BIGINT, lo BIGINT, hi BIGINT) ID id"
        f" TIME BETWEEN lo AND hi{' WEIGHTS weights' if name in weighted else ''};"
        for name in sorted(rows)
    )
    return f"{streams} {event_of(case, sorted(rows))} {clauses};", rows


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_confidence(case: dict[str, Any]) -> None:
    program, rows = imprecise_program(case)
    results = parse(program).run_local(rows, sampling=Sampling(exact_up_to=case["worlds"]))
    assert not len(results.rejects)
    found = {tuple(row["lineage"]): row for row in results.tables["x"].to_pylist()}
    wanted = expected(case)
    assert {key: (row["start"], row["end"], row["method"]) for key, row in found.items()} == {
        key: (start, end, "exact") for key, (start, end, _) in wanted.items()
    }
    for key, (_, _, confidence) in wanted.items():
        assert found[key]["probability"] == pytest.approx(float(confidence), abs=1e-12)


UNSURE = [case for case in CASES if case["results"] and max(one for _, _, one in expected(case).values()) < 1]


@pytest.mark.parametrize("case", UNSURE, ids=[case["id"] for case in UNSURE])
def test_a_threshold_at_the_confidence_itself(case: dict[str, Any]) -> None:
    """`CONFIDENCE >= c` keeps a result of confidence c, and `> c` does not."""
    confidence = float(max(one for _, _, one in expected(case).values()))
    for operator, is_kept in ((">=", True), (">", False)):
        program, rows = imprecise_program(case, f"CONFIDENCE {operator} {confidence:.17f}")
        found = parse(program).run_local(rows, sampling=Sampling(exact_up_to=case["worlds"])).tables["x"]
        assert [one == pytest.approx(confidence) for one in found["probability"].to_pylist()] == [True] * len(found)
        assert bool(len(found)) is is_kept


@pytest.mark.parametrize("case", CERTAIN, ids=[case["id"] for case in CERTAIN])
def test_precise_times_are_a_certain_stream(case: dict[str, Any]) -> None:
    rows = {name: [{**row, "k": row.get("k")} for row in some] for name, some in rows_of(case).items()}
    streams = "\n".join(f"STREAM {name}(id STRING, k BIGINT, lo BIGINT) ID id TIME lo;" for name in sorted(rows))
    found = parse(f"{streams} {event_of(case, sorted(rows))};").run_local(rows).tables["x"].to_pylist()
    assert {tuple(row["lineage"]): (row["start"], row["end"], 1) for row in found} == expected(case)
