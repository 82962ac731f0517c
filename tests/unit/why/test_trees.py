"""What results depend on, down to rows of streams."""

from __future__ import annotations

import inkling
from inkling.why.explanation import Derivation

PROGRAM = """
STREAM Temp(id STRING, v INT, t BIGINT) ID id TIME t;
TABLE room(id STRING, name STRING) FROM 'room.csv';
EVENT m(v) AS PATTERN Temp t WHERE v = t.v PER INTERVAL;
EVENT m(v) AS PATTERN SEQ(m p, Temp t) WHERE t.v > p.v AND v = t.v PER INTERVAL;
EVENT seen(x.v AS v, n) AS PATTERN SEQ(m x[v > 6], Temp b) WHERE room(b.id, n) WITHIN 4 TICKS;
"""
ROWS = {"Temp": [{"id": f"t{time}", "v": v, "t": time} for time, v in enumerate([5, 3, 7, 1], start=1)]}
ROOMS = {"room": [{"id": "t4", "name": "hall"}]}


def outline(tree: Derivation) -> object:
    """Sources with their ids, and what is inside them by variable."""
    if tree.is_row:
        return f"{tree.source} {tree.ids[0]}"
    return tree.source, [(name, outline(part)) for name, part in tree.parts]


def test_recursion_is_a_tree_by_depth() -> None:
    why = inkling.parse(PROGRAM).why("m", ROWS, ROOMS)
    (number,) = why.results_with(["t1", "t3"])
    tree = why.tree(number)
    assert (tree.values, tree.start, tree.end) == ({"v": 7}, 1, 3)
    assert outline(tree) == ("m", [("p", ("m", [("t", "Temp t1")])), ("t", "Temp t3")])


def test_facts_are_named() -> None:
    why = inkling.parse(PROGRAM).why("seen", ROWS, ROOMS)
    (number,) = why.results_with(["t2"])
    tree = why.tree(number)
    assert tree.values == {"v": 7, "n": "hall"}
    assert [(fact.table, fact.values) for fact in tree.facts] == [("room", {"id": "t4", "name": "hall"})]
    assert [row.ids[0] for row in tree.rows()] == ["t2", "t3", "t4"]


def test_long_lists_are_retraced_at_once() -> None:
    program = inkling.parse(
        """STREAM V(id STRING, t BIGINT) ID id TIME t ORDER BY t;
           EVENT run AS PATTERN SEQ STRICT(V v{60,});"""
    )
    rows = [{"id": f"v{time}", "t": time} for time in range(60)]
    (part,) = {name for name, _ in program.why("run", {"V": rows}).tree().parts}
    assert part == "v"


def test_leaving_out_and_next_do_not_hinder() -> None:
    program = inkling.parse(
        """STREAM A(id STRING, x INT, t BIGINT) ID id TIME t;
           EVENT e AS PATTERN SEQ NEXT(A a[x = 1], NOT A n[x = 3], A b[x = 2]) CONSUME RESTART PER END;"""
    )
    rows = [{"id": f"a{time}", "x": x, "t": time} for time, x in enumerate([1, 4, 2, 2])]
    assert outline(program.why("e", {"A": rows}).tree()) == ("e", [("a", "A a0"), ("b", "A a2")])


def test_times_are_those_of_the_clock() -> None:
    program = inkling.parse("STREAM A(id STRING) ID id TIME t; EVENT e AS PATTERN A a;")
    tree = program.why("e", {"A": [{"id": "a", "t": "2024-05-01T10:00:00Z"}]}).tree()
    assert str(tree.start) == "2024-05-01 10:00:00+00:00"
