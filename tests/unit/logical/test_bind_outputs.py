"""Head and RETURN: values, names and types."""

import pytest
from tests.kit.oracle import bound

from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.model.types import Type

STREAMS = """
STREAM A(id STRING, x INT, y DOUBLE, k STRING) ID id TIME t;
STREAM B(x INT, k STRING) TIME t;
"""


def event(head: str, text: str) -> p.EventPlan:
    return bound(f"{STREAMS} EVENT e{head} AS PATTERN {text};").events[0]


@pytest.mark.parametrize(
    ("head", "names"),
    [
        ("(a.x, b.k)", ["x", "k"]),
        ("(a.k, b.k, a.x)", ["a_k", "b_k", "x"]),
        ("(a.k AS left, b.k)", ["left", "k"]),
        ("(a, b)", ["a", "b"]),
        ("(START(a), END(b), ID(a))", ["start_a", "end_b", "id_a"]),
        ("(a.x * 2 AS double)", ["double"]),
        ("()", []),
        ("", []),
    ],
)
def test_names(head: str, names: list[str]) -> None:
    assert [output.name for output in event(head, "SEQ(A a, B b)").head] == names


def test_variable_in_the_head_is_its_id() -> None:
    head = event("(a, b)", "SEQ(A a, B b)").head
    assert [output.expr for output in head] == [e.IdOf(0, Type.STRING), e.IdOf(1, Type.INTEGER)]


def test_partition_columns_stand_in_for_a_missing_head() -> None:
    assert [output.name for output in event("", "SEQ(A a, B b) PARTITION BY k").head] == ["k"]
    assert event("()", "SEQ(A a, B b) PARTITION BY k").head == ()
    assert [output.name for output in event("(a.x)", "SEQ(A a, B b) PARTITION BY k").head] == ["x"]


@pytest.mark.parametrize(
    ("value", "name", "kind"),
    [
        ("COUNT(a)", "count_a", Type.INTEGER),
        ("COUNT(a.x)", "count_x", Type.INTEGER),
        ("SUM(a.x)", "sum_x", Type.INTEGER),
        ("SUM(a.y)", "sum_y", Type.DOUBLE),
        ("AVG(a.x)", "avg_x", Type.DOUBLE),
        ("MEDIAN(a.x)", "median_x", Type.DOUBLE),
        ("STDDEV(a.x)", "stddev_x", Type.DOUBLE),
        ("MAX(a.k)", "max_k", Type.STRING),
        ("MIN(a.t)", "min_t", Type.TIME),
        ("LAST(a).y", "last_y", Type.DOUBLE),
        ("FIRST(a.k)", "first_k", Type.STRING),
        ("START(a)", "start_a", Type.TIME),
    ],
)
def test_values_of_a_repetition(value: str, name: str, kind: Type) -> None:
    (output,) = event("", f"SEQ(A a+, B b) RETURN {value}").returns
    assert (output.name, output.type) == (name, kind)


def test_schema_lists_head_then_returns() -> None:
    plan = event("(a.k)", "SEQ(A a, B b) RETURN b.x, END(b) - END(a) AS gap")
    assert [(column.name, column.type) for column in plan.schema.columns] == [
        ("k", Type.STRING),
        ("x", Type.INTEGER),
        ("gap", Type.DURATION),
    ]


def test_head_may_name_what_return_defines() -> None:
    plan = event("(total, b.k)", "SEQ(A a+, B b) RETURN SUM(a.x) AS total, COUNT(a) AS n")
    assert [output.name for output in plan.head] == ["total", "k"]
    assert [output.name for output in plan.returns] == ["n"]


def test_columns_of_derived_events() -> None:
    plan = bound(
        f"{STREAMS} EVENT low(a.k) AS PATTERN SEQ(A a, B b) RETURN b.x AS level;"
        " EVENT high(p.k, p.level + q.level AS both) AS PATTERN SEQ(low p, low q) WHERE p.k = q.k;"
    )
    assert [output.type for output in plan.events[1].head] == [Type.STRING, Type.INTEGER]
