"""Which equality conditions prove a partition key."""

from __future__ import annotations

import pytest
from tests.kit.oracle import bound, oracle

import inkling
from inkling.analysis.partition import partition_of

STREAMS = "".join(f"STREAM {name}(id STRING, k INT, t INT) ID id TIME t;" for name in "ABC")


def keys(pattern: str) -> set[str]:
    (event,) = inkling.parse(f"{STREAMS} EVENT e AS PATTERN {pattern};").rewritten.plan.events
    return set(partition_of(event).conclusion)


@pytest.mark.parametrize(
    "pattern",
    [
        "SEQ(A a, NOT C c[k = a.k], B b[k = a.k])",
        "SEQ(A a, NOT C c[k = a.k], AFTER 5 TICKS)",
        "SEQ(A a, NOT SEQ(B b[k = a.k], C c[k = b.k]), AFTER 5 TICKS)",
        "SEQ(A a, B b[k = a.k]) EXCEPT C c[k = b.k]",
    ],
)
def test_what_must_not_happen_follows_the_key_of_the_match(pattern: str) -> None:
    assert {"A", "C"} <= keys(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        "SEQ(A a, NOT C c[k = a.k AND k = b.k], B b)",
        "SEQ(A a, B b) EXCEPT SEQ(A x[k = a.k AND k = b.k], C c[k = x.k], B y[k = x.k])",
        "SEQ(A a, B b[k = a.k]) EXCEPT C c",
    ],
)
def test_what_must_not_happen_says_nothing_about_the_match(pattern: str) -> None:
    assert keys(pattern) == set()
    rows = {"A": [{"id": "a", "k": 1, "t": 1}], "B": [{"id": "b", "k": 2, "t": 5}], "C": []}
    if "b[k" not in pattern.split("EXCEPT")[0]:
        found = inkling.parse(f"{STREAMS} EVENT e AS PATTERN {pattern};").run_local(rows).tables["e"]
        assert found["lineage"].to_pylist() == [["a", "b"]]


@pytest.mark.parametrize("policy", ["RECENT", "CHRONOLOGICAL KEEPING"])
def test_a_policy_keeps_to_a_key_that_every_pair_has(policy: str) -> None:
    assert keys(f"SEQ(A a, B b[k = a.k], C c[k = a.k]) CONSUME {policy}") == {"A", "B", "C"}
    assert keys(f"SEQ(A a, NOT C c[k = a.k], B b[k = a.k]) CONSUME {policy}") == {"A", "B", "C"}


@pytest.mark.parametrize(
    "pattern",
    [
        "SEQ(A a, B b, C c[k = a.k AND k = b.k]) CONSUME RECENT",
        "SEQ(A a, B b) WHERE a.k = b.k + 0 CONSUME RECENT",
        "SEQ(A a, (B b[k = a.k] OR C c[k = a.k])) CONSUME RECENT",
    ],
)
def test_what_waits_for_a_partner_must_not_be_divided_otherwise(pattern: str) -> None:
    assert keys(pattern) == set()


def test_each_round_of_a_repetition_may_have_a_value_of_its_own() -> None:
    assert keys("SEQ((A a AND B b[k = a.k]){2})") == set()
    assert keys("SEQ(C c, (A a[k = c.k] AND B b[k = a.k]){2})") == {"A", "B", "C"}
    rows = {
        "A": [{"id": "a1", "k": 1, "t": 1}, {"id": "a2", "k": 2, "t": 3}],
        "B": [{"id": "b1", "k": 1, "t": 2}, {"id": "b2", "k": 2, "t": 4}],
        "C": [],
    }
    program = inkling.parse(f"{STREAMS} EVENT e AS PATTERN SEQ((A a AND B b[k = a.k]){{2}});")
    assert program.run_local(rows).tables["e"]["lineage"].to_pylist() == [["a1", "b1", "a2", "b2"]]


@pytest.mark.parametrize(
    "pattern",
    [
        "SEQ(A a, B b, C c[k = a.k AND k = b.k]?)",
        "SEQ(A a, B b, C c[k = a.k AND k = b.k]*)",
        "SEQ(A a, B b, (C c[k = a.k AND k = b.k] OR A d[k = a.k]))",
        "A a AND B b AND (C c[k = a.k AND k = b.k] OR A d[k = a.k])",
        "SEQ(A a, NOT SEQ(C c, B b[k = a.k AND k = c.k]?), A d[k = a.k])",
    ],
)
def test_what_may_be_left_out_ties_only_itself(pattern: str) -> None:
    assert keys(pattern) == set()
    text = f"{STREAMS} EVENT e AS PATTERN {pattern};"
    rows = {
        "A": [{"id": "a1", "k": 1, "t": 1}, {"id": "a2", "k": 1, "t": 4}],
        "B": [{"id": "b", "k": 2, "t": 2}],
        "C": [{"id": "c", "k": 2, "t": 3}],
    }
    expected = [list(result.lineage) for result in oracle(bound(text), rows)["e"]]
    assert inkling.parse(text).run_local(rows).tables["e"]["lineage"].to_pylist() == expected


def test_what_may_be_left_out_follows_the_key_of_the_match() -> None:
    assert keys("SEQ(A a, B b[k = a.k]?, C c[k = a.k])") == {"A", "B", "C"}
    assert keys("SEQ(A a, (SEQ(B b[k = a.k], A d[k = b.k]))*, C c[k = a.k])") == {"A", "B", "C"}
    assert keys("SEQ(A a, (B b[k = a.k] OR C c[k = a.k]))") == {"A", "B", "C"}


def test_parts_that_read_one_stream_have_the_same_column() -> None:
    """Two columns of a part are equal: the key is the one that the other part can have, too."""
    stream = "STREAM T(id STRING, b INT, a INT, t INT) ID id TIME t;"
    (event,) = inkling.parse(f"{stream} EVENT e AS PATTERN T x[a = b] AND T y WHERE x.b = y.b;").rewritten.plan.events
    assert partition_of(event).conclusion == {"T": ("b",)}


def test_triples_of_one_subject_are_divided_by_it() -> None:
    text = """STREAM triple(s TERM, p TERM, o TERM) TIME t;
        PREFIX : <http://example.org/>
        SELECT ?x ?b ?c WHERE { ?x :p ?b . ?x :q ?x } OPTIONAL { ?x :r ?c }"""
    events = inkling.parse(text, name="star.epsparql").rewritten.plan.events
    assert [dict(partition_of(event).conclusion) for event in events] == [
        {"triple": ("s",)},
        {"query1_part1": ("x",), "triple": ("s",)},
    ]
