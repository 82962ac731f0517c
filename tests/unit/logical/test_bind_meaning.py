"""The examples of the language reference, from text to the results that the definition gives."""

import pytest
from tests.kit.invariants import violations
from tests.kit.oracle import bound, oracle
from tests.kit.rows import Rows, points, word

from inkling.model.event import Value

LETTERS = "".join(f"STREAM {name}(id STRING) ID id TIME t;" for name in "ABCD")
WORDS = "STREAM V(id STRING, s STRING, seq INT, k STRING) ID id KEY k TIME t ORDER BY seq;"
ROOMS = "STREAM At(person STRING, room STRING) KEY person TIME t;"
HALL = "TABLE hallway(room STRING) FROM 'hallways.csv';"


def results(program: str, rows: Rows, tables: dict[str, list[dict[str, Value]]] | None = None) -> list[tuple[int, int]]:
    """Start and end of every result of the last event."""
    plan = bound(program)
    assert violations(plan) == ()
    found = oracle(plan, rows, tables)[plan.events[-1].name]
    return sorted((result.start, result.end) for result in found)


def visits(rooms: str, person: str = "ada") -> Rows:
    return {"At": [{"person": person, "room": room, "t": t} for t, room in enumerate(rooms, start=1)]}


def keyed(symbols: str) -> Rows:
    return {"V": [{**row, "k": "only"} for row in word(symbols)["V"]]}


def ends(program: str, rows: Rows) -> list[int]:
    return [end for _, end in results(program, rows)]


def test_1_all_combinations() -> None:
    rows = points("a1 a2 a3 b4 b5 c6")
    assert len(results(f"{LETTERS} EVENT six AS PATTERN SEQ(A a, B b, C c);", rows)) == 6
    assert len(results(f"{LETTERS} EVENT six AS PATTERN SEQ(A a, B b, C c) PER INTERVAL;", rows)) == 3


@pytest.mark.parametrize(("reply", "expected"), [(9, []), (10, [(0, 10)])])
def test_2_alarm(reply: int, expected: list[tuple[int, int]]) -> None:
    program = (
        "STREAM Req(id STRING) ID id TIME t; STREAM Rep(id STRING) ID id TIME t;"
        "EVENT alarm(r) AS PATTERN SEQ(Req r, NOT Rep[id = r.id], AFTER 10 TICKS);"
    )
    rows: Rows = {"Req": [{"id": "r", "t": 0}], "Rep": [{"id": "r", "t": reply}]}
    assert results(program, rows) == expected


def test_4_pure() -> None:
    program = f"{LETTERS} EVENT pure AS PATTERN SEQ(A, B, C) EQUALS (NOT (A OR C) BETWEEN A AND C) PER INTERVAL;"
    assert results(program, points("a1 b2 a3 c4")) == []
    assert results(program, points("a1 b2 c4")) == [(1, 4)]


def test_5_every_solution_of_a_table_is_a_result() -> None:
    program = (
        "STREAM Fix(lat DOUBLE, lon DOUBLE) TIME t;"
        "TABLE area_of(z STRING, lat DOUBLE, lon DOUBLE) FROM 'areas.csv';"
        "EVENT near(z) AS PATTERN Fix f WHERE area_of(z, f.lat, f.lon);"
    )
    areas: list[dict[str, Value]] = [{"z": z, "lat": 1.0, "lon": 2.0} for z in ("north", "port")]
    areas.append({"z": "south", "lat": 3.0, "lon": 2.0})
    found = oracle(bound(program), {"Fix": [{"lat": 1.0, "lon": 2.0, "t": 1}]}, {"area_of": areas})["near"]
    assert sorted(result.values for result in found) == [("north",), ("port",)]


def test_7_consecutive_repetitions() -> None:
    pattern = "SEQ STRICT(V[s = 'x']{3,}) PARTITION BY k PER END"
    assert ends(f"{WORDS} EVENT theft AS PATTERN {pattern};", keyed("xxxxx")) == [3, 4, 5]
    assert ends(f"{WORDS} EVENT theft AS PATTERN {pattern} CONSUME RESTART;", keyed("xxxxx")) == [3]


@pytest.mark.parametrize(("symbols", "expected"), [("AXC", [3]), ("ABC", [])])
def test_8_complement(symbols: str, expected: list[int]) -> None:
    pattern = "SEQ STRICT(V[s = 'A'], COMPLEMENT(SEQ STRICT(_*, V[s = 'B'], _*)), V[s = 'C'])"
    assert ends(f"{WORDS} EVENT gapless AS PATTERN {pattern} PARTITION BY k PER END;", keyed(symbols)) == expected


def test_9_nested_policies() -> None:
    pattern = "SEQ NEXT(V[s = 'A'], SEQ STRICT(V[s = 'B'], V[s = 'C']), V[s = 'D'])"
    assert ends(f"{WORDS} EVENT mixed AS PATTERN {pattern} PARTITION BY k PER END;", keyed("ABXBCD")) == [6]


def test_12_any_and_next() -> None:
    rows = points("a1 b2 b3 c4 d5")
    assert len(results(f"{LETTERS} EVENT e AS PATTERN SEQ ANY(A a, B b, C c, D d);", rows)) == 2
    assert len(results(f"{LETTERS} EVENT e AS PATTERN SEQ NEXT(A a, B b, C c, D d);", rows)) == 1


@pytest.mark.parametrize(("extra", "n"), [("c3", 0), ("c5", 0), ("c2", 1), ("c6", 1)])
def test_14_not_at_the_end(extra: str, n: int) -> None:
    program = f"{LETTERS} EVENT after AS PATTERN SEQ(A a, B b, NOT C) WITHIN 5 POINTS;"
    assert len(results(program, points(f"a1 b2 {extra}"))) == n


@pytest.mark.parametrize(("key", "n"), [("other", 1), ("same", 0)])
def test_16_contiguity_within_a_key(key: str, n: int) -> None:
    streams = "".join(f"STREAM {name}(k STRING) TIME t;" for name in "ABC")
    program = f"{streams} EVENT contig AS PATTERN SEQ STRICT(A a, C c) PARTITION BY k OVER (A, B, C);"
    rows: Rows = {"A": [{"k": "same", "t": 1}], "B": [{"k": key, "t": 2}], "C": [{"k": "same", "t": 3}]}
    assert len(results(program, rows)) == n


def test_17_and_18_before_and_after_the_choice() -> None:
    before = "SEQ NEXT(At a[room = 'a'], At c[room = 'c']) PARTITION BY person PER END"
    after = "SEQ NEXT(At a[room = 'a'], At c) HAVING c.room = 'c' PARTITION BY person PER END"
    check = "SEQ NEXT(At a[room = 'a'], At c CHECK (c.room = 'c')) PARTITION BY person PER END"
    assert ends(f"{ROOMS} EVENT pre(person) AS PATTERN {before};", visits("abc")) == [3]
    assert ends(f"{ROOMS} EVENT post(person) AS PATTERN {after};", visits("abc")) == []
    assert ends(f"{ROOMS} EVENT post(person) AS PATTERN {check};", visits("abc")) == []
    assert ends(f"{ROOMS} EVENT post(person) AS PATTERN {check};", visits("acb")) == [2]


def test_a_table_in_brackets_skips_events() -> None:
    pattern = "SEQ NEXT(At a[room = 'a'], At h[hallway(room)]+, At c[room = 'c']) PARTITION BY person PER END"
    program = f"{ROOMS} {HALL} EVENT coffee(person) AS PATTERN {pattern};"
    plan = bound(program)
    halls: list[dict[str, Value]] = [{"room": "h"}, {"room": "i"}]
    found = oracle(plan, visits("ahxic"), {"hallway": halls})["coffee"]
    assert [result.end for result in found] == [5]
    assert oracle(plan, visits("axxxc"), {"hallway": halls})["coffee"] == ()


def test_a_where_and_a_having_differ_under_next() -> None:
    streams = "STREAM A(x INT) TIME t; STREAM C(x INT) TIME t;"
    rows: Rows = {"A": [{"x": 1, "t": 1}], "C": [{"x": 2, "t": 2}, {"x": 1, "t": 3}]}
    where = results(f"{streams} EVENT e AS PATTERN SEQ NEXT(A a, C c) WHERE a.x = c.x;", rows)
    having = results(f"{streams} EVENT e AS PATTERN SEQ NEXT(A a, C c) HAVING a.x = c.x;", rows)
    assert where == [(1, 3)]
    assert having == []
