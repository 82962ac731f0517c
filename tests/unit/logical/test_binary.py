"""Patterns read as pairs: where conditions go, and which of them are keys."""

from __future__ import annotations

from tests.kit.oracle import bound

from inkling.logical import expr as e
from inkling.logical.patterns.binary import LeafNode, OrNode, Pair, pairs_of

STREAMS = "\n".join(f"STREAM {name}(id INT, k INT, x DOUBLE, t INT) ID id KEY k TIME t;" for name in "ABC")


def read(pattern: str) -> Pair:
    node = pairs_of(bound(f"{STREAMS} EVENT e AS PATTERN {pattern} CONSUME RECENT;").events[0])
    assert isinstance(node, Pair)
    return node


def columns(pair: Pair) -> list[tuple[str, str]]:
    return [
        (one.column, other.column)
        for one, other in pair.keys
        if isinstance(one, e.ColumnOf) and isinstance(other, e.ColumnOf)
    ]


def test_sequences_are_read_from_left_to_right() -> None:
    outer = read("SEQ(A a, B b, C c)")
    assert isinstance(outer.left, Pair)
    assert isinstance(outer.right, LeafNode)
    assert (outer.bound, outer.left.bound) == ({0, 1, 2}, {0, 1})


def test_nested_sequences_stay_operands() -> None:
    outer = read("SEQ(A a, SEQ(B b, C c))")
    assert isinstance(outer.left, LeafNode)
    assert isinstance(outer.right, Pair)


def test_an_equality_of_both_sides_is_a_key() -> None:
    outer = read("SEQ(A a, B b[k = a.k], C c[k = b.k])")
    assert isinstance(outer.left, Pair)
    assert (columns(outer), columns(outer.left)) == ([("k", "k")], [("k", "k")])
    assert outer.tests == outer.left.tests == ()


def test_a_condition_waits_for_all_it_looks_at() -> None:
    outer = read("SEQ(A a, SEQ(B b, C c[x > a.x AND x > b.x]))")
    assert isinstance(outer.right, Pair)
    assert [test.owner for test in outer.tests] == [2]
    assert [test.owner for test in outer.right.tests] == [2]


def test_types_that_differ_make_no_key() -> None:
    pair = read("SEQ(A a, B b[x = a.k])")
    assert pair.keys == ()
    assert len(pair.tests) == 1


def test_conditions_of_a_branch_hold_where_it_was_taken() -> None:
    pair = read("SEQ(A a, (B b[k = a.k] OR C c))")
    assert isinstance(pair.right, OrNode)
    assert pair.keys == ()
    assert [(test.owner, test.optional) for test in pair.tests] == [(1, True)]


def test_limits_around_a_pair_are_its_limits() -> None:
    outer = read("SEQ(A a, (SEQ(B b, C c) WITHIN 3 TICKS)) WITHIN 9 TICKS")
    assert isinstance(outer.right, Pair)
    assert (len(outer.windows), len(outer.right.windows)) == (1, 2)


def test_having_makes_no_keys() -> None:
    pair = read("SEQ(A a, B b) HAVING a.k = b.k")
    assert pair.keys == ()
    assert [len(frame.having) for frame in pair.frames] == [1]


def test_absences_belong_to_the_pair_that_closes_the_gap() -> None:
    outer = read("SEQ(A a, NOT C n, B b, C c)")
    assert isinstance(outer.left, Pair)
    assert (len(outer.absences), len(outer.left.absences)) == (0, 1)
