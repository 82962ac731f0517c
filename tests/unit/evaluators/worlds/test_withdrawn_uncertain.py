"""Uncertain streams whose events are withdrawn: the answer is that on the corrected table."""

from __future__ import annotations

import pytest

import inkling

Rows = list[dict[str, object]]

PROGRAMS = {
    "alternatives": (
        "STREAM S(id STRING, k STRING, v STRING, t INT) ID id KEY k TIME t PROBABILITY p {op};"
        "EVENT e(k) AS PATTERN SEQ(S x[v = 'a'], S y[v = 'b']) WITHIN 9 TICKS PARTITION BY k PER END;",
        [
            {"id": "1", "k": "k", "v": "a", "p": 0.5, "t": 1},
            {"id": "1", "k": "k", "v": "b", "p": 0.25, "t": 1},
            {"id": "2", "k": "k", "v": "a", "p": 0.4, "t": 2},
            {"id": "3", "k": "k", "v": "b", "p": 0.8, "t": 3},
        ],
    ),
    "worlds": (
        "STREAM S(id STRING, k STRING, v STRING, t INT) ID id KEY k TIME t PROBABILITY p {op};"
        "STREAM C(id STRING, k STRING, t INT) ID id KEY k TIME t;"
        "EVENT e(k, COUNT(x) AS n) AS PATTERN SEQ(S x[v = 'a']+, C y) WITHIN 9 TICKS PARTITION BY k;",
        [{"id": "1", "k": "k", "v": "a", "p": 0.5, "t": 1}, {"id": "2", "k": "k", "v": "a", "p": 0.4, "t": 2}],
    ),
    "imprecise": (
        "STREAM S(id STRING, k STRING, v STRING) ID id KEY k TIME BETWEEN lo AND hi {op};"
        "EVENT e(k) AS PATTERN SEQ(S x[v = 'a'], S y[v = 'b']) WITHIN 9 TICKS PARTITION BY k;",
        [
            {"id": "1", "k": "k", "v": "a", "lo": 1, "hi": 4},
            {"id": "2", "k": "k", "v": "a", "lo": 2, "hi": 3},
            {"id": "3", "k": "k", "v": "b", "lo": 3, "hi": 6},
        ],
    ),
    "numbered": (
        "STREAM S(id STRING, k STRING, n INT, t INT) ID id KEY k TIME t NUMBERED BY n {op};"
        "EVENT e(k) AS PATTERN SEQ(S x[n = 1], S y[n = 3]) WITHIN 5 TICKS PARTITION BY k;",
        [
            {"id": "1", "k": "k", "n": 1, "t": 1},
            {"id": "2", "k": "k", "n": 3, "t": 5},
            {"id": "3", "k": "k", "n": 4, "t": 9},
        ],
    ),
}
CERTAIN: Rows = [{"id": "c", "k": "k", "t": 6}]


def results(text: str, rows: Rows) -> list[dict[str, object]]:
    program = inkling.parse(text)
    inputs: dict[str, Rows] = {"S": rows} | ({"C": CERTAIN} if program.plan.stream("C") else {})
    found = program.run_local(inputs)
    assert found.rejects.num_rows == 0
    return sorted(found.tables["e"].to_pylist(), key=str)


@pytest.mark.parametrize(
    ("kind", "withdrawn"),
    [
        ("alternatives", "1"),
        ("alternatives", "2"),
        ("alternatives", "3"),
        ("worlds", "1"),
        ("worlds", "2"),
        ("imprecise", "1"),
        ("imprecise", "2"),
        ("imprecise", "3"),
        ("numbered", "2"),
    ],
)
def test_corrected(kind: str, withdrawn: str) -> None:
    text, rows = PROGRAMS[kind]
    left = [row for row in rows if row["id"] != withdrawn]
    changes = [{**dict.fromkeys(rows[0]), "id": withdrawn, "op": "-"}, *({**row, "op": "+"} for row in rows)]
    expected = results(text.format(op=""), left)
    assert results(text.format(op="OP op FOR 9 TICKS"), changes) == expected
    assert expected != results(text.format(op=""), rows)
