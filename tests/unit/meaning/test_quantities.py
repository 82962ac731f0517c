"""Several numbers of segments that are asked about at once: what they mean, and where they may stand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.kit.invariants import violations
from tests.kit.oracle import bound, oracle

import inkling
from inkling.errors import ProgramError
from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.printing.explain import explain
from inkling.model.types import Type

STREAM = "STREAM P(id INT, k STRING, g INT, s INT, e INT) ID id KEY k TIME FROM s TO e;"
SHARE = "AT LEAST n FROM 1 TO 3 P x INTERSECTS SOME P y"
ROWS = [
    {"id": number, "k": key, "g": 1, "s": start, "e": end}
    for number, (key, start, end) in enumerate([("a", 0, 10), ("b", 1, 2), ("b", 4, 5), ("b", 20, 21), ("c", 4, 4)])
]


def plan_of(event: str) -> p.ProgramPlan:
    return bound(f"{STREAM} {event}")


def codes(event: str) -> list[str]:
    with pytest.raises(ProgramError) as raised:
        plan_of(event)
    return [found.code for found in raised.value.diagnostics]


def found(event: str) -> set[tuple[object, ...]]:
    """Results of the definition, which those of the runner equal."""
    plan = plan_of(event)
    (results,) = oracle(plan, {"P": ROWS}).values()
    defined = {(*one.values, tuple(one.lineage)) for one in results}
    (table,) = inkling.parse(f"{STREAM} {event}").run_local({"P": ROWS}).tables.values()
    names = [output.name for output in plan.events[0].head]
    assert {(*(row[name] for name in names), tuple(row["lineage"])) for row in table.to_pylist()} == defined
    assert len(table) == len(results)
    return defined


def test_the_plan_has_both_ends_and_the_head_the_number() -> None:
    plan = plan_of(f"EVENT share(x.k AS x, y.k AS y, n) AS PATTERN {SHARE};")
    (event,) = plan.events
    assert isinstance(event.pattern, p.Quantified)
    assert (event.pattern.left.least, event.pattern.left.most) == (1, 3)
    assert (event.pattern.right.least, event.pattern.right.most) == (1, None)
    assert event.head[-1] == p.Output("n", e.Quantity("n"))
    assert event.schema.columns[-1].type is Type.INTEGER
    assert "AT LEAST 1 TO 3 INTERSECTS SOME" in explain(plan)
    assert violations(plan) == ()


def test_there_is_a_result_for_every_number_that_is_reached() -> None:
    assert found(f"EVENT share(x.k AS x, y.k AS y, n) AS PATTERN {SHARE};") == {
        ("a", "b", 1, (0,)),
        ("a", "c", 1, (0,)),
        ("b", "a", 1, (1, 2)),
        ("b", "a", 2, (1, 2)),
        ("b", "c", 1, (2,)),
        ("c", "a", 1, (4,)),
        ("c", "b", 1, (4,)),
    }


def test_a_range_may_start_late_and_end_early() -> None:
    all_of_b = (
        "AT LEAST n FROM {} TO {} P x {{INTERSECTS, PRECEDES, PRECEDED_BY}} SOME P y HAVING x.k = 'b' AND y.k = 'a'"
    )
    for least, most, expected in ((2, 9, {2, 3}), (1, 2, {1, 2}), (3, 3, {3}), (4, 9, set())):
        results = found(f"EVENT e(x.k AS x, n) AS PATTERN {all_of_b.format(least, most)};")
        assert results == {("b", n, (1, 2, 3)) for n in expected}


def test_the_number_can_be_used_after_the_segments_are_counted() -> None:
    assert found(f"EVENT e(x.k AS x, y.k AS y, n, n * 10 AS m) AS PATTERN {SHARE} HAVING n > 1 OR y.k = 'b';") == {
        ("a", "b", 1, 10, (0,)),
        ("b", "a", 2, 20, (1, 2)),
        ("c", "b", 1, 10, (4,)),
    }
    named = f"EVENT e(x.k AS x, y.k AS y, n, m) AS PATTERN {SHARE} WHERE m = n + 1 AND n = 2;"
    assert found(named) == {("b", "a", 2, 3, (1, 2))}


def test_pairs_of_one_value_share_results_number_by_number() -> None:
    assert found(f"EVENT e(n) AS PATTERN {SHARE} HAVING x.k = 'b';") == {(1, (1, 2)), (2, (1, 2))}


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (f"EVENT e(x.k AS x) AS PATTERN {SHARE};", ["INK0354"]),
        (f"EVENT e(n * 2 AS m) AS PATTERN {SHARE};", ["INK0354"]),
        (f"EVENT e AS PATTERN {SHARE};", ["INK0354"]),
        ("EVENT e(n) AS PATTERN SOME P x INTERSECTS AT LEAST n FROM 1 TO 3 P y;", ["INK0354"]),
        (f"EVENT e(n) AS PATTERN {SHARE} WHERE x.g > n;", ["INK0354"]),
        ("EVENT e(x.k AS k) AS PATTERN AT LEAST x FROM 1 TO 3 P x INTERSECTS SOME P y;", ["INK0208"]),
        ("EVENT e(g) AS PATTERN AT LEAST g FROM 1 TO 3 P x INTERSECTS SOME P y PARTITION BY g;", ["INK0208"]),
        ("EVENT e(n) AS PATTERN SOME P x INTERSECTS SOME P y;", ["INK0207"]),
        (f"EVENT e(n.k) AS PATTERN {SHARE};", ["INK0207", "INK0354"]),
    ],
)
def test_where_it_may_not_stand(event: str, expected: list[str]) -> None:
    assert codes(event) == expected


def test_it_is_a_whole_pattern_of_one_declaration() -> None:
    share = f"EVENT e(n) AS PATTERN {SHARE};"
    for wrong in (f"EVENT e(n) AS PATTERN SEQ(P z, {SHARE});", f"{share} {share}"):
        assert set(codes(wrong)) == {"INK0362"}


def test_early_belongs_to_relations_between_segments() -> None:
    plan = plan_of("EVENT e(x.k AS k) AS PATTERN SOME P x INTERSECTS SOME P y CONFIDENCE > 0.5 EARLY;")
    assert plan.events[0].confidence == p.Confidence(0.5, strict=True, early=True)
    assert "INK0353" in codes("EVENT e AS PATTERN SEQ(P x, P y) CONFIDENCE > 0.5 EARLY;")
    forecast = "EVENT e AS PATTERN SEQ(P x, P y); FORECAST e WITHIN 9 EVENTS CONFIDENCE > 0.5 EARLY;"
    assert "INK0353" in codes(forecast)


def test_broken_promises_are_found() -> None:
    plan = plan_of(f"EVENT e(n) AS PATTERN {SHARE};")
    (event,) = plan.events
    pattern = event.pattern
    assert isinstance(pattern, p.Quantified)

    def said(changed: p.EventPlan) -> str:
        return "; ".join(violations(replace(plan, events=(changed,))))

    right = replace(pattern.right, most=2)
    assert "on the right side" in said(replace(event, pattern=replace(pattern, right=right)))
    for least, most in ((0, 3), (3, 2), (None, 2)):
        left = replace(pattern.left, least=least, most=most)
        assert f"from {least} to {most}" in said(replace(event, pattern=replace(pattern, left=left)))
    hidden = replace(event, head=(p.Output("n", e.Literal(1, Type.INTEGER)),))
    assert "distinguish the numbers of segments" in said(hidden)
    alone = replace(event, pattern=replace(pattern, left=replace(pattern.left, most=None)))
    assert "no numbers of segments are asked about" in said(alone)
    test = e.Compare("=", e.Quantity("n"), e.Literal(1, Type.INTEGER))
    leaf = replace(pattern.left.leaf, conditions=(test,))
    tested = replace(event, pattern=replace(pattern, left=replace(pattern.left, leaf=leaf)))
    assert "no numbers of segments are asked about" in said(tested)
