"""Results that other matches may still change are held back until they cannot: streams against the definition."""

from __future__ import annotations

import pytest
from tests.kit.oracle import oracle

import inkling

STREAMS = "".join(f"STREAM {name}(id STRING, k STRING, x INT, t INT) ID id KEY k TIME t;\n" for name in "ABC")
CASES = {
    "restart waits for the match that began first": (
        "EVENT e AS PATTERN SEQ (A a, B b[x = a.x], NOT C c) WITHIN 10 TICKS PARTITION BY k CONSUME RESTART;",
        {"A": [(1, 1), (3, 2)], "B": [(5, 2), (9, 1)], "C": [(100, 0)]},
    ),
    "a witness waits for the match that began first": (
        "EVENT e AS PATTERN SEQ (A a[x = 3], B b) OR (SEQ (A c[x = 1], B d[x = 1], NOT C f) WITHIN 10 TICKS)"
        " PARTITION BY k PER END;",
        {"A": [(1, 1), (3, 3)], "B": [(5, 1), (9, 1)], "C": [(100, 0)]},
    ),
    "an absence waits for an event that waits": (
        "EVENT d AS PATTERN SEQ (A a, NOT B b) WITHIN 10 TICKS PARTITION BY k;\n"
        "EVENT e AS PATTERN SEQ (C x, NOT d y, C z) WITHIN 8 TICKS PARTITION BY k;",
        {"A": [(2, 1), (20, 1)], "B": [(25, 1)], "C": [(1, 0), (5, 0), (19, 0), (23, 0), (60, 0)]},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_stream_eq_definition(case: str) -> None:
    events, times = CASES[case]
    program = inkling.parse(STREAMS + events)
    rows = {
        name: [{"id": f"{name}{time}", "k": "p", "x": x, "t": time} for time, x in times.get(name, [])]
        for name in "ABC"
    }
    stream = program.open(unbounded=True)
    arrived = sorted((row["t"], name, row) for name, some in rows.items() for row in some)
    found = [stream.push({name: [row]}) for _, name, row in arrived] + [stream.finish()]
    for event, expected in oracle(program.plan, rows, {}).items():
        lineages = [row["lineage"] for one in found for row in one.tables[event].to_pylist()]
        assert sorted(lineages) == sorted(list(result.lineage) for result in expected)
        assert lineages
