"""The definition of AND, OR, PAR and the Allen relations."""

from __future__ import annotations

import pytest
from tests.kit.oracle import oracle
from tests.kit.plans import column, event, leaf, plus, program, seq, stream, strict
from tests.kit.rows import Rows, intervals, points

from inkling.logical import plan as p
from inkling.model.types import Type

a, b, c = (leaf(slot, name) for slot, name in enumerate("ABC"))


def found(pattern: p.Pattern, rows: Rows) -> list[tuple[int, int, str]]:
    """Start, end and lineage of every match."""
    is_interval = any("begun" in row for one in rows.values() for row in one)
    declared = tuple(stream(name, interval=is_interval) for name in "ABC")
    results = oracle(program(declared, event("x", pattern)), rows)["x"]
    return sorted((one.start, one.end, " ".join(str(number) for number in one.lineage)) for one in results)


class TestAnd:
    def test_the_order_does_not_matter_and_the_interval_is_the_hull(self) -> None:
        assert found(p.Conjunction((a, b)), points("b1 a2 b3")) == [(1, 2, "a2 b1"), (2, 3, "a2 b3")]

    def test_of_three(self) -> None:
        assert found(p.Conjunction((a, b, c)), points("c1 b2 a3")) == [(1, 3, "a3 b2 c1")]

    def test_an_event_with_itself(self) -> None:
        pair = p.Conjunction((a, leaf(3, "A")))
        assert [one[2] for one in found(pair, points("a1 a2"))] == ["a1 a1", "a1 a2", "a2 a1", "a2 a2"]

    def test_what_may_be_empty_may_be_missing(self) -> None:
        pair = p.Conjunction((a, plus(b, 0, 1)))
        assert [one[2] for one in found(pair, points("a1 b2"))] == ["a1", "a1 b2"]

    def test_but_not_everything(self) -> None:
        assert found(p.Conjunction((plus(a, 0), plus(b, 0))), points("b2")) == [(2, 2, "b2")]

    def test_in_a_sequence(self) -> None:
        assert found(seq(p.Conjunction((a, b)), c), points("b1 a2 c2 c3")) == [(1, 3, "a2 b1 c3")]


class TestOr:
    def test_either(self) -> None:
        assert found(p.Disjunction((a, b)), points("a1 b2")) == [(1, 1, "a1"), (2, 2, "b2")]

    def test_a_variable_of_the_other_branch_is_null(self) -> None:
        kinds = {"x": Type.INTEGER}
        head = {"one": column(0, "x", Type.INTEGER), "other": column(1, "x", Type.INTEGER)}
        either = event("x", p.Disjunction((a, b)), head=head)
        rows: Rows = {"A": [{"id": "a", "t": 1, "x": 7}], "B": [{"id": "b", "t": 2, "x": 8}]}
        results = oracle(program((stream("A", kinds), stream("B", kinds)), either), rows)["x"]
        assert [one.values for one in results] == [(7, None), (None, 8)]

    def test_one_event_by_both_branches_is_one_match(self) -> None:
        assert found(p.Disjunction((a, leaf(3, "A"))), points("a1")) == [(1, 1, "a1")]

    def test_repetitions_in_a_branch_follow_the_policy_around_it(self) -> None:
        pattern = strict(p.Disjunction((plus(a, 2), b)), c)
        assert found(pattern, points("a1 a2 c3 b4 c5 a6 c7")) == [(1, 3, "a1 a2 c3"), (4, 5, "b4 c5")]


class TestPar:
    @pytest.mark.parametrize(
        ("left", "right", "holds"),
        [
            ("[0,3]", "[2,5]", True),
            ("[0,3]", "[3,5]", False),
            ("[0,3]", "[1,1]", True),
            ("[0,3]", "[0,0]", False),
            ("[0,3]", "[3,3]", False),
            ("[2,2]", "[2,2]", False),
            ("[0,3]", "[0,3]", True),
        ],
    )
    def test_more_than_a_border_is_shared(self, left: str, right: str, holds: bool) -> None:
        assert bool(found(p.Parallel((a, b)), intervals(f"a{left} b{right}"))) == holds
        assert bool(found(p.Parallel((a, b)), intervals(f"a{right} b{left}"))) == holds

    def test_each_overlaps_the_hull_of_those_before(self) -> None:
        """c overlaps b but not a; it overlaps their hull, which is enough from left to right."""
        rows = intervals("a[0,3] b[2,6] c[5,8]")
        assert found(p.Parallel((a, b, c)), rows) == [(0, 8, "a[0,3] b[2,6] c[5,8]")]
        assert found(p.Parallel((a, c, b)), rows) == []

    def test_a_pair_at_one_instant_is_a_point(self) -> None:
        """Ordered events at one time make an occurrence without length, strictly inside the interval."""
        streams = (stream("A", order_by="seq"), stream("B", interval=True))
        pair = seq(leaf(0, "A"), leaf(1, "A"))
        rows: Rows = {
            "A": [{"id": f"a{place}", "t": 2, "seq": place} for place in (1, 2)],
            "B": [{"id": "b", "begun": 1, "ended": 3}],
        }
        results = oracle(program(streams, event("x", p.Parallel((pair, leaf(2, "B"))))), rows)["x"]
        assert [one.lineage for one in results] == [("a1", "a2", "b")]


RELATIONS = [
    ("PRECEDES", "[0,1]", "[2,3]", "PRECEDED_BY"),
    ("MEETS", "[0,2]", "[2,3]", "MET_BY"),
    ("OVERLAPS", "[0,2]", "[1,3]", "OVERLAPPED_BY"),
    ("STARTS", "[0,2]", "[0,3]", "STARTED_BY"),
    ("DURING", "[1,2]", "[0,3]", "CONTAINS"),
    ("FINISHES", "[1,3]", "[0,3]", "FINISHED_BY"),
    ("EQUALS", "[0,3]", "[0,3]", "EQUALS"),
]


class TestAllen:
    @pytest.mark.parametrize(("relation", "left", "right", "inverse"), RELATIONS)
    def test_exactly_one_of_the_thirteen_holds(self, relation: str, left: str, right: str, inverse: str) -> None:
        thirteen = {name for row in RELATIONS for name in (row[0], row[3])}
        assert len(thirteen) == 13
        for one, other, expected in ((left, right, relation), (right, left, inverse)):
            rows = intervals(f"a{one} b{other}")
            holding = {name for name in thirteen if found(p.Related(a, (name,), b), rows)}
            assert holding == {expected}

    @pytest.mark.parametrize(
        ("relation", "left", "right", "holds"),
        [
            ("INTERSECTS", "[0,2]", "[2,3]", True),
            ("INTERSECTS", "[2,3]", "[0,2]", True),
            ("INTERSECTS", "[0,1]", "[2,3]", False),
            ("STARTS_BEFORE", "[0,9]", "[1,2]", True),
            ("STARTS_BEFORE", "[1,9]", "[1,2]", False),
            ("ENDS_AFTER", "[0,9]", "[1,2]", True),
            ("ENDS_AFTER", "[0,2]", "[1,2]", False),
        ],
    )
    def test_the_other_names(self, relation: str, left: str, right: str, holds: bool) -> None:
        assert bool(found(p.Related(a, (relation,), b), intervals(f"a{left} b{right}"))) == holds

    def test_points(self) -> None:
        """Two equal points are equal and meet; a point may lie inside."""
        both = ("EQUALS", "MEETS", "MET_BY", "PRECEDES", "STARTS", "FINISHES", "DURING")
        same = intervals("a[1,1] b[1,1]")
        assert [name for name in both if found(p.Related(a, (name,), b), same)] == ["EQUALS", "MEETS", "MET_BY"]
        inside = intervals("a[1,1] b[0,2]")
        assert [name for name in both if found(p.Related(a, (name,), b), inside)] == ["DURING"]

    def test_the_interval_is_the_hull(self) -> None:
        rows = intervals("a[1,2] b[0,3]")
        assert found(p.Related(a, ("DURING",), b), rows) == [(0, 3, "a[1,2] b[0,3]")]

    def test_any_of_several_relations(self) -> None:
        rows = intervals("a[1,2] b[0,3] b[1,2] b[2,9]")
        assert [one[2] for one in found(p.Related(a, ("DURING", "EQUALS"), b), rows)] == [
            "a[1,2] b[0,3]",
            "a[1,2] b[1,2]",
        ]
