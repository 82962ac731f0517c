"""Integers beyond 2^53, which doubles cannot tell apart: exact among each other, the nearest double beside a double."""

from typing import Any

import pytest
from tests.kit.oracle import oracle

import inkling

B = 2**53
STREAM = "STREAM S(id STRING, k BIGINT, x BIGINT, y DOUBLE, t BIGINT) ID id TIME t;\n"
TABLES = "TABLE edge(a BIGINT, b BIGINT) FROM 'edge.csv';\nTABLE d(a DOUBLE, b DOUBLE) FROM 'd.csv';\n"
VALUES = (
    *((1, B + 1, B), (1, B, B + 2), (2, B + 2, B + 2), (1, 2**62 + 1, 2**62), (1, 2**62, 2**62)),
    *((2, B + 1, B + 2), (2, -B - 1, -B), (1, 3, 3)),
)
ROWS: list[dict[str, Any]] = [
    {"id": f"r{t}", "k": k, "x": x, "y": float(y), "t": t} for t, (k, x, y) in enumerate(VALUES)
]
EDGES = ((B + 1, B), (B, B + 1), (2**62 + 1, 2**62), (2**62, 2**62), (3, 3))
DOUBLES = ((B, B), (2**62, 3), (3, 3), (B + 2, 1))
FACTS: dict[str, list[dict[str, Any]]] = {
    "edge": [{"a": a, "b": b} for a, b in EDGES],
    "d": [{"a": float(a), "b": float(b)} for a, b in DOUBLES],
}
RULES = "RULE r(u, v) IF edge(u, w) AND d(w, v);\n"
CASES = {
    "integers and doubles": "EVENT e AS PATTERN SEQ(S p, S q) WHERE p.x = q.y;",
    "integers": "EVENT e AS PATTERN SEQ(S p, S q) WHERE p.x < q.x;",
    "facts of integers for two doubles": "EVENT e AS PATTERN SEQ(S p, S q) WHERE edge(p.y, q.y);",
    "facts of integers for both": "EVENT e AS PATTERN SEQ(S p, S q) WHERE edge(p.x, q.y);",
    "facts of doubles for two integers": "EVENT e AS PATTERN SEQ(S p, S q) WHERE d(p.x, q.x);",
    "one fact of integers": "EVENT e AS PATTERN S p WHERE edge(p.y, p.y);",
    "one fact of doubles": "EVENT e AS PATTERN S p WHERE d(p.x, _);",
    "values of facts": "EVENT e(v) AS PATTERN SEQ(S p, S q) WHERE edge(p.y, v) AND d(v, q.y);",
    "absence": "EVENT e AS PATTERN SEQ(S p, NOT S n[edge(p.y, y)], S q) WITHIN 3 TICKS;",
    "a rule": f"{RULES}EVENT e(v) AS PATTERN S p WHERE r(p.x, v);",
    "a rule for doubles": f"{RULES}EVENT e AS PATTERN S p WHERE r(p.y, _);",
    "a rule of both": "RULE r(u, w) IF edge(u, w);\nRULE r(u, w) IF d(u, w);\nEVENT e AS PATTERN S p WHERE r(p.y, _);",
    "a rule with a condition": "RULE r(u, w) IF d(u, v) AND edge(u, v) AND edge(w, _) AND u < w;\n"
    "EVENT e(w) AS PATTERN S p WHERE r(p.y, w);",
    "largest": "EVENT e AS PATTERN SEQ(S p, S b+, S q) WHERE MAX(b.x) < q.x WITHIN 4 TICKS;",
    "a sum beyond 64 bits": "EVENT e AS PATTERN SEQ(S p, S b+, S q) HAVING SUM(b.x) > q.x WITHIN 4 TICKS;",
    "least beside a double": "EVENT e(MIN(b.x) AS v) AS PATTERN SEQ(S p, S b+, S q) HAVING MIN(b.x) = q.y\n"
    "WITHIN 4 TICKS;",
    "consumption": "EVENT e AS PATTERN SEQ(S p, S q[x = p.y]) CONSUME RECENT;",
    "computed keys of consumption": "EVENT e AS PATTERN SEQ(S p, S q[ABS(y) = ABS(p.x)]) CONSUME RECENT;",
    "a window": "EVENT e(v) AS PATTERN WINDOW S w LAST 3 EVENTS RETURN SUM(w.x) AS v;",
}


@pytest.mark.parametrize("name", CASES)
def test_large_integers(name: str) -> None:
    text = STREAM + TABLES + CASES[name]
    program = inkling.parse(text.replace("e(v) AS PATTERN WINDOW", "e AS PATTERN WINDOW"))
    wanted = {(*one.lineage, *map(str, one.values)) for one in oracle(program.plan, {"S": ROWS}, FACTS)["e"]}
    stream = program.open(FACTS, unbounded=True)
    pushed = [*(stream.push({"S": [row]}) for row in ROWS), stream.finish()]
    for tables in ([program.run_local({"S": ROWS}, FACTS)["e"]], [one["e"] for one in pushed]):
        rows = [row for table in tables for row in table.to_pylist()]
        columns = [one for one in tables[0].column_names if one in ("v", "w")]
        assert {(*row["lineage"], *(str(row[one]) for one in columns)) for row in rows} == wanted
