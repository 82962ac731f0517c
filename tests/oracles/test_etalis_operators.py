"""Operators of the ETALIS thesis where its readings part: intervals against pairs, points inside, times of the clock.

Every case is evaluated by the definition and by the runner; Allen relations come from the definition of Allen, not
from the program.
"""

from __future__ import annotations

import pytest
from tests.kit.oracle import oracle

import inkling
from inkling.language.syntax import RELATIONS

STREAMS = """
STREAM A(id STRING, begun INT, ended INT) ID id TIME FROM begun TO ended;
STREAM B(id STRING, begun INT, ended INT) ID id TIME FROM begun TO ended;
STREAM C(id STRING, begun INT, ended INT) ID id TIME FROM begun TO ended;
"""
Spans = list[tuple[int, int]]


def spans(pattern: str, **rows: Spans) -> Spans:
    """The intervals of the results, on which definition and runner agree."""
    program = inkling.parse(f"{STREAMS} EVENT x AS PATTERN {pattern} PER INTERVAL;")
    given = {
        name: [{"id": f"{name}{i}", "begun": s, "ended": e} for i, (s, e) in enumerate(rows.get(name, []))]
        for name in "ABC"
    }
    meant = sorted((one.start, one.end) for one in oracle(program.plan, given)["x"])
    found = sorted((row["start"], row["end"]) for row in program.run_local(given).tables["x"].to_pylist())
    assert found == meant
    return meant


ENDPOINTS = {
    "PRECEDES": lambda s, e, t, f: e < t,
    "MEETS": lambda s, e, t, f: e == t,
    "OVERLAPS": lambda s, e, t, f: s < t < e < f,
    "STARTS": lambda s, e, t, f: s == t and e < f,
    "DURING": lambda s, e, t, f: t < s and e < f,
    "FINISHES": lambda s, e, t, f: t < s and e == f,
    "EQUALS": lambda s, e, t, f: s == t and e == f,
    "INTERSECTS": lambda s, e, t, f: s <= f and t <= e,
    "STARTS_BEFORE": lambda s, e, t, f: s < t,
    "ENDS_AFTER": lambda s, e, t, f: e > f,
}
INVERSE = {
    "PRECEDED_BY": "PRECEDES",
    "MET_BY": "MEETS",
    "OVERLAPPED_BY": "OVERLAPS",
    "STARTED_BY": "STARTS",
    "CONTAINS": "DURING",
    "FINISHED_BY": "FINISHES",
}
SOME = [(s, e) for s in range(4) for e in range(s, 4)]


def holds(relation: str, one: tuple[int, int], other: tuple[int, int]) -> bool:
    if relation in INVERSE:
        return ENDPOINTS[INVERSE[relation]](*other, *one)
    return ENDPOINTS[relation](*one, *other)


@pytest.mark.parametrize("relation", RELATIONS)
def test_allen_relations_of_all_small_intervals_nested_in_a_sequence(relation: str) -> None:
    late = (9, 9)
    expected = {(min(x[0], y[0]), 9) for x in SOME for y in SOME if holds(relation, x, y)}
    assert spans(f"SEQ((A {relation} B), C)", A=SOME, B=SOME, C=[late]) == sorted(expected)


@pytest.mark.parametrize("relation", RELATIONS)
def test_allen_relations_to_moments(relation: str) -> None:
    expected = {(min(x[0], 1), max(x[1], 3)) for x in SOME if holds(relation, x, (1, 3))}
    assert spans(f"A {relation} SEQ(AT 1, AT 3)", A=SOME) == sorted(expected)


def test_a_point_strictly_inside_runs_parallel_and_during() -> None:
    """D3 and D4: points are allowed inside, on a border they are not."""
    assert spans("A PAR B", A=[(0, 4)], B=[(2, 2)]) == [(0, 4)]
    assert spans("A PAR B", A=[(0, 4)], B=[(0, 0), (4, 4)]) == []
    assert spans("B DURING A", A=[(0, 4)], B=[(2, 2), (0, 0)]) == [(0, 4)]


def test_negation_by_intervals_differs_from_negation_by_pairs() -> None:
    """D8: two ways to the same interval, one of them with something in between."""
    data: dict[str, Spans] = {"A": [(1, 2), (1, 5)], "C": [(3, 3)], "B": [(6, 6)]}
    assert spans("SEQ(A, NOT C, B)", **data) == [(1, 6)]
    assert spans("SEQ(A, B) EXCEPT SEQ(A, C, B)", **data) == []


def test_except_sees_what_is_bound() -> None:
    data: dict[str, Spans] = {"A": [(1, 2), (3, 4)], "B": [(1, 2), (3, 4)]}
    assert spans("A a EXCEPT B", **data) == []
    assert spans("A a EXCEPT B b[START(b) > 1 AND END(b) = END(a)]", **data) == [(1, 2)]


def test_except_and_equals_divide_what_there_is() -> None:
    kept = spans("A EXCEPT B", A=SOME, B=SOME[::2])
    assert sorted([*kept, *spans("A EQUALS B", A=SOME, B=SOME[::2])]) == sorted(SOME)
    assert kept


def test_a_moment_is_there_for_every_key() -> None:
    text = """
    STREAM S(id STRING, k STRING, t INT) ID id TIME t;
    EVENT early(k) AS PATTERN SEQ(S s, AT 10) PARTITION BY k;
    """
    rows = [{"id": "a", "k": "p", "t": 3}, {"id": "b", "k": "q", "t": 9}, {"id": "c", "k": "q", "t": 10}]
    found = inkling.parse(text).run_local({"S": rows}).tables["early"].to_pylist()
    assert sorted((one["k"], one["start"], one["end"]) for one in found) == [("p", 3, 10), ("q", 9, 10)]


def test_a_date_is_a_moment() -> None:
    text = """
    STREAM S(id STRING, t TIMESTAMP) ID id TIME t;
    EVENT since AS PATTERN SEQ(AT '2024-05-01 10:00:00', S s) WITHIN 1 HOURS;
    """
    rows = [{"id": hour, "t": f"2024-05-01 {hour}:30:00"} for hour in ("09", "10", "11")]
    found = inkling.parse(text).run_local({"S": rows}).tables["since"].to_pylist()
    assert [one["lineage"] for one in found] == [["10"]]


def test_a_match_that_ends_at_a_moment_is_known_when_time_passes_it() -> None:
    program = inkling.parse(
        "STREAM S(id STRING, t INT) ID id TIME t; EVENT open AS PATTERN SEQ(S s, AT 10) WITHIN 5 TICKS;"
    )
    stream = program.open()
    assert stream.push({"S": [{"id": "a", "t": 7}, {"id": "b", "t": 9}]}).n_results == 0
    found = stream.push({"S": [{"id": "c", "t": 11}]}).tables["open"].to_pylist()
    assert [(one["lineage"], one["end"], one["detected_at"]) for one in found] == [(["a"], 10, 10), (["b"], 10, 10)]


def test_conditions_on_the_length_of_any_part() -> None:
    data: dict[str, Spans] = {"A": [(0, 1), (0, 4)], "B": [(6, 7)], "C": [(9, 9)]}
    assert spans("SEQ(A a, B b, C c) HAVING END(a) - START(a) > 2", **data) == [(0, 9)]
    assert spans("SEQ((SEQ(A a, B b) WITHIN 9 TICKS) p, C c) HAVING END(p) - START(p) > 7", **data) == []
    assert spans("SEQ((SEQ(A a, B b)) p, C c[START(c) - END(p) < 3])", **data) == [(0, 9)]
