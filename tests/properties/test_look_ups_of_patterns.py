"""Tables looked up by the times of nested patterns, and in parts that may be missing: every runner eq definition."""

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
TABLE shifts(begin INT, worker STRING) FROM 'shifts.csv';
TABLE lim(x INT, top INT) FROM 'lim.csv';
RULE on_duty(at, worker) IF shifts(begin, worker) AND begin <= at AND at < begin + 3;
"""
PROGRAMS = (
    "e(w) AS PATTERN (SEQ(A a, B b) WITHIN 5 TICKS) v WHERE shifts(START(v), w)",
    "e(w) AS PATTERN (SEQ(A a, B b) WITHIN 5 TICKS) v WHERE on_duty(END(v), w) AND on_duty(START(v), w)",
    "e AS PATTERN (SEQ(A a, B b) WITHIN 5 TICKS) v WHERE shifts(START(v), 'bob')",
    "e AS PATTERN (SEQ(A a, B b) WITHIN 5 TICKS) v WHERE NOT on_duty(END(v), 'bob')",
    "e(w) AS PATTERN SEQ(A c, (A a AND B b) v, B d) WHERE shifts(END(v) - c.x, w) WITHIN 6 TICKS",
    "e(w) AS PATTERN SEQ NEXT((SEQ(A a, B b?)) v, B d[shifts(x, w)]) WHERE shifts(START(v), w) WITHIN 4 TICKS",
    "e AS PATTERN SEQ(A a, NOT ((SEQ(B b, A d)) v WHERE shifts(START(v), w)), A c) WITHIN 6 TICKS",
    "e(top) AS PATTERN SEQ(A a, B b[lim(x, top)]?, A c) WITHIN 5 TICKS",
    "e(top) AS PATTERN SEQ NEXT(A a, B b[lim(x, top)]?, A c) HAVING top > c.x OR top IS NULL WITHIN 5 TICKS",
    "e(top) AS PATTERN SEQ(A a, B b[lim(x, top)]?, A c[x >= top]) WITHIN 6 TICKS",
    "e(top) AS PATTERN SEQ(A a, (SEQ(B b[lim(x, top)], B d[x < top]))?, A c[x <> top]) WITHIN 6 TICKS",
    "e(top) AS PATTERN SEQ(A a[lim(x, top)] OR B b, A c) HAVING top >= 1 WITHIN 5 TICKS",
    "e(w) AS PATTERN SEQ(A a, B b[on_duty(t, w)]?, A c) WITHIN 5 TICKS PER INTERVAL",
)


def random_case(rng: random.Random, program: str) -> Case:
    text = f"{STREAMS}\nEVENT {program};"
    rows: Rows = {"A": [], "B": []}
    for number in range(13):
        row = {"id": f"e{number}", "k": rng.choice("pq"), "x": rng.choice((0, 1, 2, 3, None)), "t": rng.randint(1, 7)}
        rows[rng.choice("AB")].append(row)
    shifts = [{"begin": rng.randint(0, 4), "worker": rng.choice(("ann", "bob", "cy"))} for _ in range(4)]
    limits = [{"x": rng.randint(0, 2), "top": rng.choice((0, 1, 2, None))} for _ in range(4)]
    return Case(text, bound(text), rows, {"shifts": shifts, "lim": limits})


@pytest.mark.parametrize("seed", range(2))
def test_local_eq_definition(seed: int) -> None:
    rng = random.Random(seed)
    fruitful = dict.fromkeys(PROGRAMS, 0)
    for program in PROGRAMS * 6:
        case = random_case(rng, program)
        fruitful[program] += bool(check_local(case)["e"])
    assert all(fruitful.values())


def test_streams_eq_definition() -> None:
    rng = random.Random(5)
    for program in PROGRAMS:
        case = random_case(rng, program)
        check_pushed(rng, case)
