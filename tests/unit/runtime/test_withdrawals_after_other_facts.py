"""What is withdrawn is known again although tables say something else by now."""

from __future__ import annotations

import pytest

import inkling

PROGRAM = inkling.parse(
    "TABLE ok(v INT, w INT) FROM 'ok.csv';"
    "STREAM A(id STRING, k STRING, x INT, t INT) ID id KEY k TIME t OP op FOR 100 TICKS;"
    "EVENT d(k, a.x AS x) AS PATTERN A a PARTITION BY k;"
    "EVENT e(f.x AS x, w) AS PATTERN SEQ(A a, d f[ok(x, w)]) WITHIN 50 TICKS;"
    "EVENT h(k, a.x AS x, w) AS PATTERN A a WHERE ok(a.x, w) PARTITION BY k;"
)
OLD = [{"v": 1, "w": 5}, {"v": 1, "w": 6}]


@pytest.mark.parametrize("facts", [[{"v": 2, "w": 9}], [{"v": 1, "w": 7}], OLD])
def test_nothing_that_rests_on_a_withdrawn_event_stands(facts: list[dict[str, int]]) -> None:
    stream = PROGRAM.open(tables={"ok": OLD})
    rows = [{"id": name, "k": "p", "x": 1, "t": time, "op": "+"} for time, name in enumerate("abc")]
    told = stream.push({"A": rows})
    assert [(row["op"], row["w"]) for row in told["e"].to_pylist()] == [("+", 5), ("+", 6)]
    stream.replace_tables({"ok": facts})
    taken_back = stream.push({"A": [{"id": "b", "op": "-"}]})
    for event in ("d", "e", "h"):
        gone = [row for row in told[event].to_pylist() if "b" in row["lineage"]]
        assert len(gone) == (1 if event == "d" else 2)
        assert sorted(taken_back[event].to_pylist(), key=str) == sorted(({**row, "op": "-"} for row in gone), key=str)
