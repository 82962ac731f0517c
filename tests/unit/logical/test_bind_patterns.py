"""Patterns: slots in pattern order, what encloses them, scope and windows."""

from fractions import Fraction

from tests.kit.oracle import bound

from inkling.logical import plan as p
from inkling.model.time import Duration

STREAMS = """
STREAM A(x INT, k STRING) TIME t;
STREAM B(x INT, k STRING) TIME t;
STREAM C(x INT, k STRING) TIME t;
STREAM V(id INT, s STRING) ID id TIME t ORDER BY id;
STREAM W(id INT, s STRING) ID id TIME t ORDER BY id;
STREAM I(k STRING) TIME FROM s TO e;
"""


def event(text: str) -> p.EventPlan:
    return bound(f"{STREAMS} EVENT e AS PATTERN {text};").events[0]


def names(plan: p.EventPlan) -> list[str | None]:
    return [slot.name for slot in plan.slots]


def ticks(amount: int) -> Duration:
    return Duration(Fraction(amount), "TICKS")


def test_one_slot_per_leaf_in_pattern_order() -> None:
    plan = event("SEQ(A a, (B OR C c), NOT A n, A | B d)")
    assert plan.slots == (
        p.Slot(0, "a", ("A",), repeated=False, negated=False),
        p.Slot(1, None, ("B",), repeated=False, negated=False),
        p.Slot(2, "c", ("C",), repeated=False, negated=False),
        p.Slot(3, "n", ("A",), repeated=False, negated=True),
        p.Slot(4, "d", ("A", "B"), repeated=False, negated=False),
    )
    assert plan.pattern == p.Sequence(
        p.Policy.ANY,
        (
            p.Leaf(0, ("A",)),
            p.Disjunction((p.Leaf(1, ("B",)), p.Leaf(2, ("C",)))),
            p.Absent(p.Leaf(3, ("A",))),
            p.Leaf(4, ("A", "B")),
        ),
    )


def test_a_named_nested_pattern_is_filled_after_its_parts() -> None:
    plan = event("SEQ(A a, (SEQ(B b, C c) WITHIN 5 TICKS) v, A d)")
    assert names(plan) == ["a", "b", "c", "v", "d"]
    assert [slot.span_only for slot in plan.slots] == [False, False, False, True, False]
    inner = p.Sequence(p.Policy.ANY, (p.Leaf(1, ("B",)), p.Leaf(2, ("C",))))
    assert isinstance(plan.pattern, p.Sequence)
    assert plan.pattern.parts[1] == p.Narrowed(inner, ticks(5), (), 3)


def test_repetition_marks_every_slot_inside() -> None:
    plan = event("SEQ STRICT(A a, (SEQ(B b, C c)){2,3}, A d?)")
    assert [slot.repeated for slot in plan.slots] == [False, True, True, True]
    assert isinstance(plan.pattern, p.Sequence)
    assert plan.pattern.policy is p.Policy.STRICT
    assert plan.pattern.parts[2] == p.Repetition(p.Leaf(3, ("A",)), 0, 1)


def test_not_between_is_a_sequence() -> None:
    plan = event("NOT B b BETWEEN A a AND C c")
    assert names(plan) == ["a", "b", "c"]
    assert plan.pattern == p.Sequence(p.Policy.ANY, (p.Leaf(0, ("A",)), p.Absent(p.Leaf(1, ("B",))), p.Leaf(2, ("C",))))


def test_relations_keep_their_names() -> None:
    plan = event("A a {DURING, EQUALS} B b")
    assert plan.pattern == p.Related(p.Leaf(0, ("A",)), ("DURING", "EQUALS"), p.Leaf(1, ("B",)))


def test_a_border_not_takes_the_window_of_its_body() -> None:
    plan = event("SEQ(A a, NOT B) WITHIN 5 POINTS")
    assert isinstance(plan.pattern, p.Sequence)
    assert plan.pattern.within == p.Points(5)
    assert plan.within == p.Points(5)


def test_only_a_border_not_needs_the_window() -> None:
    plan = event("SEQ(A a, NOT B, C c) WITHIN 5 TICKS")
    assert isinstance(plan.pattern, p.Sequence)
    assert plan.pattern.within is None
    assert plan.within == ticks(5)


def test_a_not_that_optional_parts_expose_takes_the_window() -> None:
    plan = event("SEQ(A a, NOT B, C c?) WITHIN 5 TICKS")
    assert isinstance(plan.pattern, p.Sequence)
    assert plan.pattern.within == ticks(5)


def test_start_and_deadline_need_no_window() -> None:
    plan = event("SEQ(AT START, NOT A, B b, NOT C, AFTER 10 TICKS)")
    assert isinstance(plan.pattern, p.Sequence)
    assert plan.pattern.parts[0] == p.StreamStart()
    assert plan.pattern.parts[-1] == p.Deadline(ticks(10))
    assert plan.pattern.within is None


def test_complement_hides_its_slots() -> None:
    plan = event("SEQ STRICT(V a, COMPLEMENT(SEQ STRICT(_*, V[s = 'x'])), V b)")
    assert [slot.negated for slot in plan.slots] == [False, True, True, False]
    assert plan.slots[1].sources == ()
    assert isinstance(plan.pattern, p.Sequence)
    assert isinstance(plan.pattern.parts[1], p.OtherRun)


def test_scope_is_every_stream_of_the_pattern_absent_ones_too() -> None:
    assert event("SEQ STRICT(C c, NOT B, A a)").scope == ("A", "B", "C")


def test_over_replaces_the_scope() -> None:
    plan = event("SEQ STRICT(A a, _ x) OVER (C, B)")
    assert plan.scope == ("B", "C")
    assert plan.sources == ("A", "B", "C")


def test_wildcard_has_the_columns_that_the_scope_shares() -> None:
    plan = event("SEQ STRICT(V a, _ x[s = 'q'], W b)")
    assert isinstance(plan.pattern, p.Sequence)
    (condition,) = plan.pattern.parts[1].conditions  # type: ignore[union-attr]
    assert "s" in repr(condition)


def test_an_event_of_a_single_point_is_a_point() -> None:
    assert not event("A a").schema.is_interval
    assert not event("(A a WITHIN 3 TICKS)").schema.is_interval
    assert not event("A a OR B b").schema.is_interval
    assert event("I i").schema.is_interval
    assert event("A a OR I i").schema.is_interval
    assert event("SEQ(A a, B b)").schema.is_interval


def test_an_event_is_ordered_when_all_that_fills_it_is() -> None:
    assert event("SEQ(V a, W b)").schema.is_ordered
    assert event("SEQ(V a, NOT A n, W b)").schema.is_ordered
    assert not event("SEQ(V a, A b)").schema.is_ordered
    assert not event("SEQ(V a, AFTER 5 TICKS)").schema.is_ordered


def test_events_stand_after_those_they_use() -> None:
    plan = bound(
        f"{STREAMS} EVENT last AS PATTERN SEQ(middle m, A a); EVENT first AS PATTERN A a;"
        " EVENT middle AS PATTERN SEQ STRICT(A a, B b) OVER (first, A);"
    )
    assert [one.name for one in plan.events] == ["first", "middle", "last"]


def test_clauses() -> None:
    plan = event("SEQ(A a, B b) PARTITION BY k PER END CONSUME RESTART")
    assert [column.name for column in plan.partition] == ["k"]
    assert plan.per is p.Per.END
    assert plan.restart
    assert event("A a").per is p.Per.MATCH
