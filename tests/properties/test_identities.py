"""Whether two parts of a match are the same event, results among them: every place that asks it eq definition."""

from __future__ import annotations

import random

import pytest
from tests.kit.oracle import bound
from tests.kit.programs import Case
from tests.kit.rows import Rows
from tests.properties.lettered import check_local, check_pushed

STREAMS = """
STREAM A(id STRING, k STRING, x INT, t BIGINT) ID id KEY k TIME t;
STREAM B(id STRING, k STRING, x INT, t BIGINT) ID id KEY k TIME t;
EVENT each(v.x AS x, v.k AS k) AS PATTERN A | B v;
EVENT pair(p.k AS k) AS PATTERN SEQ(A p, B q) WITHIN 4 TICKS;
EVENT span(q.x AS x, q.k AS k) AS PATTERN SEQ(A p, B q) WITHIN 5 TICKS PER INTERVAL;
EVENT ended(q.k AS k) AS PATTERN SEQ(A p, B q) WITHIN 5 TICKS PER END;
EVENT again(a.k AS k) AS PATTERN pair a;
EVENT again(a.k AS k) AS PATTERN pair a;
"""
NAMES = ("each", "pair", "span", "ended", "again")
PATTERNS = (
    "{one} a AND {one} b HAVING ID(a) {op} ID(b)",
    "{one} a AND {one} b HAVING NOT ID(a) {op} ID(b) PARTITION BY k",
    "{one} a AND {two} b AND {one} c HAVING ID(a) <> ID(c) AND (ID(a) {op} ID(b) OR ID(b) {op} ID(c))",
    "{one} | A a AND ({two} | A b[ID(a) {op} ID(b)] WITHIN 3 TICKS)",
    "SEQ({one} a, B q) AND {one} c[ID(c) {op} ID(a)]",
    "SEQ(A p, NOT ({one} d[ID(d) {op} ID(c)]), {two} c) WITHIN 6 TICKS",
    "SEQ({one} a OR A a2, {one} b?, B q) HAVING ID(a) {op} ID(b) OR END(q) > 6",
    "{one} a AND SEQ({one} b CHECK (ID(b) {op} ID(a)), B q) WITHIN 6 TICKS",
    "({one} a AND {one} b WITHIN 5 TICKS) HAVING ID(a) {op} ID(b) CONSUME CHRONOLOGICAL KEEPING",
    "({one} a AND {two} b[ID(b) {op} ID(a)] WITHIN 5 TICKS) CONSUME RECENT KEEPING",
)


def random_case(rng: random.Random, pattern: str) -> Case:
    written = pattern.format(one=rng.choice(NAMES), two=rng.choice(NAMES), op=rng.choice(("=", "<>", "<>")))
    text = f"{STREAMS}\nEVENT e AS PATTERN {written};"
    rows: Rows = {"A": [], "B": []}
    for number in range(8):
        row = {"id": f"e{number}", "k": rng.choice("pq"), "x": rng.choice((0, 1, None)), "t": rng.randint(1, 7)}
        rows[rng.choice("AB")].append(row)
    return Case(text, bound(text), rows, {})


@pytest.mark.parametrize("seed", range(2))
def test_local_eq_definition(seed: int) -> None:
    rng = random.Random(seed)
    fruitful = dict.fromkeys(PATTERNS, 0)
    for pattern in PATTERNS * 6:
        case = random_case(rng, pattern)
        fruitful[pattern] += bool(check_local(case)["e"])
    assert all(fruitful.values())


def test_streams_eq_definition() -> None:
    rng = random.Random(5)
    for pattern in PATTERNS:
        if "WITHIN" not in pattern:
            pattern = f"({pattern.partition(' PARTITION')[0]}) WITHIN 5 TICKS"
        case = random_case(rng, pattern)
        check_pushed(rng, case)
