"""Derived events that end together: the one whose start has the earlier place comes first."""

from __future__ import annotations

from tests.kit.comparison import same_results
from tests.kit.oracle import oracle

import inkling

PROGRAM = """
STREAM V(id STRING, x INT, t INT, seq INT) ID id TIME t ORDER BY seq;
EVENT pair AS PATTERN SEQ ANY(V a, V b[x = 1]) WITHIN 5 TICKS PER MATCH;
EVENT after AS PATTERN SEQ ANY(V v[x = 0], pair p) PER END;
"""
ROWS = [
    {"id": "c", "x": 0, "t": 0, "seq": 12},
    {"id": "b", "x": 3, "t": 4, "seq": -35},
    {"id": "a", "x": 3, "t": 4, "seq": 39},
    {"id": "d", "x": 1, "t": 5, "seq": 41},
]


def test_the_witness_has_the_pair_that_starts_first() -> None:
    program = inkling.parse(PROGRAM)
    found = program.run_local({"V": ROWS}).tables
    assert found["after"]["lineage"].to_pylist() == [["c", "b", "d"]]
    same_results(program.plan, oracle(program.plan, {"V": ROWS}), {n: t.to_pylist() for n, t in found.items()})
