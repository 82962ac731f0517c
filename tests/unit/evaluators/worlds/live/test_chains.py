"""Chains over imprecise times on a stream: rows that are kept are what they were when they came."""

from __future__ import annotations

from typing import Any

import inkling

A = "STREAM A(id STRING, v INT, lo BIGINT, hi BIGINT) ID id TIME BETWEEN lo AND hi"
B = "STREAM B(id STRING, v INT, lo BIGINT, hi BIGINT) ID id TIME BETWEEN lo AND hi"

Rows = dict[str, list[dict[str, Any]]]


def told(program: inkling.Program, pushes: list[Rows], **tables: Any) -> list[str]:
    stream = program.open(tables, unbounded=True)
    found = [stream.push(push) for push in pushes] + [stream.finish()]
    return sorted(str(row) for one in found for row in one["e"].to_pylist())


def at_once(program: inkling.Program, pushes: list[Rows]) -> list[str]:
    rows: Rows = {}
    for push in pushes:
        for name, some in push.items():
            rows.setdefault(name, []).extend(some)
    return sorted(str(row) for row in program.run_local(rows).tables["e"].to_pylist())


def row(name: str, lo: int, hi: int, v: int = 1) -> dict[str, Any]:
    return {"id": name, "v": v, "lo": lo, "hi": hi}


def test_derived_columns() -> None:
    program = inkling.parse(f"{A} DERIVE w = v * 2; EVENT e AS PATTERN A a[w = 2] WITHIN 9 TICKS;")
    pushes = [{"A": [row("a3", 4, 6), row("a1", 4, 4)]}, {"A": [row("a0", 5, 5)]}, {"A": [row("a9", 9, 9, 3)]}]
    assert len(at_once(program, pushes)) == 3
    assert told(program, pushes) == at_once(program, pushes)


def test_columns_that_look_back_further_than_is_kept() -> None:
    program = inkling.parse(
        f"STREAM C(id STRING, v INT, t BIGINT) ID id TIME t DERIVE step = v - PREV(v); {B};"
        "EVENT e AS PATTERN SEQ NEXT(C c[step > 0], B b) WITHIN 5 TICKS;"
    )
    pushes: list[Rows] = [
        {"C": [{"id": "c1", "v": 1, "t": 1}]},
        {"C": [{"id": "c2", "v": 5, "t": 50}], "B": [row("b1", 51, 52)]},
        {"C": [{"id": "c3", "v": 6, "t": 100}], "B": [row("b2", 101, 102)]},
        {"B": [row("b3", 200, 200)]},
    ]
    assert len(at_once(program, pushes)) == 2
    assert told(program, pushes) == at_once(program, pushes)


def test_rows_keep_what_facts_of_before_said() -> None:
    program = inkling.parse(
        f"TABLE ok(v INT) FROM 'ok.csv'; {A}; {B}; EVENT e AS PATTERN SEQ(A a[ok(v)], B b) WITHIN 10 TICKS;"
    )
    stream = program.open({"ok": [{"v": 1}]})
    stream.push({"A": [row("a1", 1, 1)], "B": [row("b0", 1, 1)]})
    stream.push({"A": [row("a0", 2, 2, 9)], "B": [row("b1", 2, 2)]})
    stream.replace_tables({"ok": [{"v": 2}]})
    stream.push({"A": [row("a2", 3, 3, 1), row("a3", 4, 4, 2)], "B": [row("b2", 6, 6)]})
    found = stream.finish()["e"].to_pylist()
    assert sorted(one["lineage"] for one in found if one["lineage"][1] == "b2") == [["a1", "b2"], ["a3", "b2"]]
