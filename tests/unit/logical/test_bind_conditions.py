"""Conditions: every conjunct is tested at the last place it mentions, and names mean what they should."""

import pytest
from tests.kit.oracle import bound

from inkling.logical import plan as p
from inkling.logical.expr import ListColumn, walk
from inkling.logical.printing.text import Wording, expr_text, lookup_text

STREAMS = """
STREAM A(x INT, k STRING, on BOOLEAN) TIME t;
STREAM B(x INT, k STRING) TIME t;
STREAM C(x INT, k STRING) TIME t;
TABLE limits(k STRING, top INT) FROM 'limits.csv';
TABLE known(k STRING) FROM 'known.csv';
TABLE pairs(one INT, other INT) FROM 'pairs.csv';
"""


def event(text: str, head: str = "") -> p.EventPlan:
    return bound(f"{STREAMS} EVENT e{head} AS PATTERN {text};").events[0]


def placed(plan: p.EventPlan) -> dict[str, list[str]]:
    """Conditions and look-ups in words, by the name of the slot that tests them; HAVING under `*`."""
    words = Wording.of(plan)
    found: dict[str, list[str]] = {}
    for leaf in p.leaves(plan.pattern):
        texts = [lookup_text(atom, words) for atom in leaf.atoms]
        texts += [expr_text(condition, words) for condition in leaf.conditions]
        if texts:
            found[plan.slots[leaf.slot].name or "_"] = texts
    if plan.having:
        found["*"] = [expr_text(condition, words) for condition in plan.having]
    return found


def nested(plan: p.EventPlan) -> list[str]:
    """The HAVING of nested patterns, in words."""

    def having(part: p.Part) -> list[str]:
        own = []
        if isinstance(part, p.Narrowed):
            own = [expr_text(condition, Wording.of(plan)) for condition in part.having]
        parts = part.parts if isinstance(part, p.Sequence) else p.sub_patterns(part)
        return own + [text for inner in parts for text in having(inner)]

    return having(plan.pattern)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("SEQ(A a, B b, C c) WHERE a.x = b.x AND c.x > 3 AND a.x < 5",
         {"a": ["a.x < 5"], "b": ["a.x = b.x"], "c": ["c.x > 3"]}),
        ("SEQ(A a, B b) WHERE b.x > a.x OR a.x = 1", {"b": ["b.x > a.x OR a.x = 1"]}),
        ("SEQ(A a, NOT B n, C c) WHERE n.k = a.k AND n.x = c.x AND c.k = a.k",
         {"n": ["n.k = a.k", "n.x = c.x"], "c": ["c.k = a.k"]}),
        ("SEQ(A a, NOT SEQ(B m, C n), C c) WHERE m.x = c.x AND n.x = m.x AND n.k = a.k",
         {"m": ["m.x = c.x"], "n": ["n.x = m.x", "n.k = a.k"]}),
        ("SEQ(A a[x > 1 AND on], B b[k = a.k])", {"a": ["a.x > 1", "a.on"], "b": ["b.k = a.k"]}),
        ("(A a AND B b) WHERE a.x = b.x", {"b": ["a.x = b.x"]}),
        ("SEQ(A a, B b+, C c) WHERE b.x > a.x AND c.x = LAST(b).x",
         {"b": ["b.x > a.x"], "c": ["c.x = LAST(b).x"]}),
        ("SEQ(A a, (SEQ(B b, C c))+) WHERE b.x = c.x AND c.k = a.k", {"c": ["b.x = c.x", "c.k = a.k"]}),
        ("SEQ(A a, B b?, C c) WHERE c.x = b.x", {"c": ["c.x = LAST(b).x"]}),
        ("SEQ(A a, B b) HAVING a.x = 1 AND b.x = 2", {"*": ["a.x = 1", "b.x = 2"]}),
        ("SEQ(A a, B b) WHERE START(b) - END(a) > 5", {"b": ["START(b) - END(a) > 5"]}),
        ("A a WHERE NOT (a.x = 1 AND a.k IS NULL) AND a.x NOT IN (1, -2)",
         {"a": ["NOT (a.x = 1 AND a.k IS NULL)", "NOT a.x IN (1, -2)"]}),
        ("SEQ(A a, B b) WHERE a.x IN (b.x, 3)", {"b": ["a.x = b.x OR a.x = 3"]}),
    ],
)  # fmt: skip
def test_place_of_a_condition(pattern: str, expected: dict[str, list[str]]) -> None:
    assert placed(event(pattern)) == expected


def test_partition_columns_are_known_by_name() -> None:
    plan = event("SEQ(A a, B b) WHERE k = 'q' AND b.x = 3 PARTITION BY k", "(k)")
    assert placed(plan) == {"*": ["k = 'q'"], "b": ["b.x = 3"]}
    assert [expr_text(output.expr, Wording.of(plan)) for output in plan.head] == ["k"]


def test_own_last_is_the_previous_repetition() -> None:
    plan = event("SEQ(A a, B b[x > LAST(b).x]+)")
    (leaf,) = [leaf for leaf in p.leaves(plan.pattern) if leaf.slot == 1]
    assert [part.own for part in _list_columns(leaf)] == [True]
    later = event("SEQ(A a, B b+, C c[x > LAST(b).x])")
    (leaf,) = [leaf for leaf in p.leaves(later.pattern) if leaf.slot == 2]
    assert [part.own for part in _list_columns(leaf)] == [False]


def _list_columns(leaf: p.Leaf) -> list[ListColumn]:
    return [part for one in leaf.conditions for part in walk(one) if isinstance(part, ListColumn)]


def test_aggregates_wait_for_the_end_under_any() -> None:
    assert placed(event("SEQ(A a, B b+, C c) WHERE COUNT(b) > 2 AND c.x > AVG(b.x)")) == {
        "*": ["COUNT(b) > 2", "c.x > AVG(b.x)"]
    }
    assert placed(event("SEQ(A a, B b+, C c[x > MAX(b.x)])")) == {"*": ["c.x > MAX(b.x)"]}


def test_a_nested_where_about_the_outside_is_tested_when_the_nested_part_is_done() -> None:
    plan = event("SEQ(A a, (SEQ(B b, C c) WHERE a.x > 3 AND b.x = a.x))")
    assert placed(plan) == {"b": ["b.x = a.x"]}
    assert nested(plan) == ["a.x > 3"]


def test_times_of_a_nested_part_are_tested_when_it_is_done() -> None:
    plan = event("SEQ(A a, (SEQ(B b, C c)) v, C d) WHERE END(v) - START(v) > 3 AND START(v) > END(a)")
    assert placed(plan) == {}
    assert nested(plan) == ["END(v) - START(v) > 3", "START(v) > END(a)"]
    later = event("SEQ((SEQ(B b, C c)) v, C d) WHERE START(d) - END(v) > 3")
    assert placed(later) == {"d": ["START(d) - END(v) > 3"]}


def test_check_filters_its_part() -> None:
    assert nested(event("SEQ STRICT(A a, (B b OR C c) CHECK (b.x = 1))")) == ["b.x = 1"]


def test_check_under_next_does_not_change_which_event_is_next() -> None:
    plan = event("SEQ NEXT(A a, B b CHECK (b.x = 1), C c)")
    assert placed(plan) == {"*": ["b.x = 1"]}
    assert nested(plan) == []


def test_a_named_value_is_its_expression() -> None:
    plan = event("SEQ(A a, B b) WHERE v = a.x + 1 AND b.x > v AND w = v * 2 HAVING w < 9", "(v, w AS double)")
    assert placed(plan) == {"b": ["b.x > a.x + 1"], "*": ["(a.x + 1) * 2 < 9"]}
    words = Wording.of(plan)
    assert [(one.name, expr_text(one.expr, words)) for one in plan.head] == [
        ("v", "a.x + 1"),
        ("double", "(a.x + 1) * 2"),
    ]


def test_a_second_equation_for_a_name_is_a_condition() -> None:
    assert placed(event("SEQ(A a, B b) WHERE v = a.x AND v = b.x", "(v)")) == {"b": ["a.x = b.x"]}


def test_a_value_named_in_brackets_reads_columns_of_its_event() -> None:
    plan = event("SEQ(A a[v = x * 2], B b) WHERE b.x = v")
    assert placed(plan) == {"b": ["b.x = a.x * 2"]}


def test_look_up_supplies_a_value() -> None:
    plan = event("SEQ(A a, B b) WHERE limits(a.k, top) AND b.x > top", "(top)")
    assert placed(plan) == {"a": ["limits(a.k, ?)"], "b": ["b.x > limits.top"]}
    assert expr_text(plan.head[0].expr, Wording.of(plan)) == "limits.top"


def test_the_earliest_look_up_supplies_whatever_the_order_written() -> None:
    expected = {"a": ["limits(a.k, ?)"], "b": ["limits#2(b.k, limits.top)"]}
    assert placed(event("SEQ(A a, B b) WHERE limits(a.k, v) AND limits(b.k, v)")) == expected
    assert placed(event("SEQ(A a, B b) WHERE limits(b.k, v) AND limits(a.k, v)")) == expected


def test_look_ups_that_know_something_come_first() -> None:
    plan = event("SEQ(A a, B b) WHERE pairs(v, w) AND limits(b.k, v) AND w > 3")
    assert placed(plan) == {"b": ["limits(b.k, ?)", "pairs(limits.top, ?)", "pairs.other > 3"]}


def test_look_up_that_supplies_nothing_is_a_condition_of_its_event() -> None:
    assert placed(event("SEQ(A a[known(k)], B b)")) == {"a": ["known(a.k)"]}
    plan = event("SEQ(A a, B b) WHERE pairs(a.x, b.x)")
    assert placed(plan) == {"b": ["pairs(a.x, b.x)"]}
    assert [len(leaf.atoms) for leaf in p.leaves(plan.pattern)] == [0, 1]


def test_look_up_without_anything_known_is_made_by_the_first_event() -> None:
    assert placed(event("SEQ(NOT C n, A a?, B b) WHERE known(v) WITHIN 5 TICKS", "(v)")) == {"b": ["known(?)"]}


def test_one_variable_twice_in_a_look_up_is_an_equation() -> None:
    assert placed(event("A a WHERE pairs(v, v)", "(v)")) == {"a": ["pairs(?, ?)", "pairs.one = pairs.other"]}


def test_look_up_under_not_and_or_only_asks() -> None:
    assert placed(event("A a WHERE NOT limits(a.k, anything) OR known(a.k)")) == {
        "a": ["NOT limits(a.k, _) OR known(a.k)"]
    }


def test_look_up_inside_not_stays_there() -> None:
    plan = event("SEQ(A a, NOT B n[limits(k, v) AND v > x], C c[limits(k, w) AND w > a.x])")
    assert placed(plan) == {
        "n": ["limits(n.k, ?)", "limits.top > n.x"],
        "c": ["limits#2(c.k, ?)", "limits#2.top > a.x"],
    }


def test_look_up_inside_not_agrees_with_the_match() -> None:
    plan = event("SEQ(A a, NOT B n[limits(k, v)], C c[limits(k, v)])")
    atoms = {plan.slots[leaf.slot].name: leaf.atoms for leaf in p.leaves(plan.pattern)}
    assert atoms["c"][0].args[1] is None
    assert atoms["n"][0].args[1] is not None


def test_table_variable_may_be_assigned() -> None:
    assert placed(event("SEQ(A a, B b) WHERE limits(v, top) AND v = b.k AND top > 3")) == {
        "b": ["limits(b.k, ?)", "limits.top > 3"]
    }
