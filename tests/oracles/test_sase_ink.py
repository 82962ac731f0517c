"""Programs find the matches of patterns over imprecise times, in every possible world of the events' times.

The certain cases run as they are. Of the others all worlds run side by side: a match has the confidence of the
worlds that hold it, and spans their times. Cases that need what the language does not run yet:

| id | needs |
|---|---|
| streams declared TIME BETWEEN | an evaluator for doubt; here the worlds are written out |
| repetitions under NEXT that take the earliest of two parts | EAGER |
| P1-P9, L1-L5 and the whole streams | no results of one pattern: counts of worlds, bounds, large intervals |
| T01 with a threshold or TOP | CONFIDENCE, TOP |
"""

from __future__ import annotations

from typing import Any

import pytest
from tests.oracles.imprecise_times import CASES, CERTAIN, Signature, expected, imprecise, rows_of
from tests.oracles.in_worlds import results_in, side_by_side


def part(number: int, text: str) -> str:
    """`!B` is absent, `B+` repeated, `B|Z` either, `B@k` has the `k` of the first event."""
    name, _, joined = text.strip("!+").partition("@")
    condition = "[k = x0.k]" if joined else ""
    if text.startswith("!"):
        return f"NOT {name}{condition}"
    return f"{name} x{number}{condition}{'+' if text.endswith('+') else ''}"


def program_of(case: dict[str, Any], streams: list[str], by: str) -> str:
    columns = "(id STRING, w BIGINT, lo BIGINT, k BIGINT)"
    declared = "\n".join(f"STREAM {name}{columns} ID id KEY w TIME lo;" for name in streams)
    parts = ", ".join(part(number, text) for number, text in enumerate(case["pattern"]))
    over = f"OVER ({', '.join(streams)})" if case["policy"] == "STRICT" else ""
    return (
        f"{declared} EVENT x{'(w)' if by else ''} AS"
        f" PATTERN SEQ {case['policy']}({parts}) WITHIN {case['points']} POINTS {by} {over};"
    )


def complete(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    return [{"k": None, "w": 0, **row} for row in rows]


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_confidence_is_that_of_the_worlds_with_the_match(case: dict[str, Any]) -> None:
    names = sorted(rows_of(case))
    worlds = side_by_side(rows_of(case), [imprecise(name).schema for name in names])
    assert len(worlds.probs) == case["worlds"]
    inputs = {name: complete(rows) for name, rows in worlds.rows.items()}
    found: dict[Signature, list[dict[str, Any]]] = {}
    for row in results_in(program_of(case, names, "PARTITION BY w"), inputs, {}):
        found.setdefault(row["lineage"], []).append(row)
    summed = {
        signature: (
            min(row["start"] for row in rows),
            max(row["end"] for row in rows),
            sum(worlds.probs[row["w"]] for row in rows),
        )
        for signature, rows in found.items()
    }
    assert summed == expected(case)


@pytest.mark.parametrize("case", CERTAIN, ids=[case["id"] for case in CERTAIN])
def test_precise_times_are_a_certain_stream(case: dict[str, Any]) -> None:
    rows = rows_of(case)
    inputs = {name: complete([{**row, "id": f"0/{row['id']}"} for row in some]) for name, some in rows.items()}
    found = results_in(program_of(case, sorted(rows), ""), inputs, {})
    assert {row["lineage"]: (row["start"], row["end"], 1) for row in found} == expected(case)
