"""Streams and tables: columns, roles, derived columns and uncertainty."""

from fractions import Fraction

import pytest
from tests.kit.oracle import bound

from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.model.schema import Column
from inkling.model.time import Duration
from inkling.model.types import Type
from inkling.model.uncertainty import ImpreciseTime, LostEvents, ProbableValue


def stream(declaration: str) -> p.StreamPlan:
    return bound(f"STREAM {declaration};").streams[0]


def test_time_that_is_not_declared_becomes_a_column() -> None:
    schema = stream("A(x INT) TIME t").schema
    assert schema.columns == (Column("x", Type.INTEGER), Column("t", Type.TIME))
    assert (schema.start, schema.end, schema.time_type) == ("t", "t", Type.TIME)
    assert not schema.is_interval


@pytest.mark.parametrize(
    ("declared", "kind"), [("INT", Type.INTEGER), ("BIGINT", Type.INTEGER), ("TIMESTAMP", Type.TIME)]
)
def test_declared_time_keeps_its_place_and_type(declared: str, kind: Type) -> None:
    schema = stream(f"A(t {declared}, x INT) TIME t").schema
    assert schema.columns == (Column("t", kind), Column("x", Type.INTEGER))
    assert schema.time_type is kind


def test_interval_takes_the_type_of_the_end_that_is_declared() -> None:
    schema = stream("A(began INT) TIME FROM began TO ended").schema
    assert schema.column("ended") == Column("ended", Type.INTEGER)
    assert schema.is_interval


def test_roles() -> None:
    schema = stream("A(id STRING, k INT, n INT) ID id KEY k, n TIME t ORDER BY n TICK 2 SECONDS LATE 5 TICKS").schema
    assert (schema.id, schema.key, schema.order_by) == ("id", ("k", "n"), "n")
    assert (schema.tick, schema.late) == (Duration(Fraction(2), "SECONDS"), Duration(Fraction(5), "TICKS"))
    assert schema.is_ordered


def test_type_names_are_read_in_any_case() -> None:
    assert stream("A(x double, s varchar) TIME t").schema.columns[:2] == (
        Column("x", Type.DOUBLE),
        Column("s", Type.STRING),
    )


def test_derived_columns_see_those_before_them() -> None:
    plan = stream(
        "A(x DOUBLE, on BOOLEAN) TIME t"
        " DERIVE gap = t - PREV(t), rise = x - PREV(x), steep = rise / 2 > 1, since = SINCE_CHANGE(on),"
        " before = PREV(steep), half = gap / 2, late = t + gap"
    )
    assert [(column.name, column.expr.type) for column in plan.derived] == [
        ("gap", Type.DURATION),
        ("rise", Type.DOUBLE),
        ("steep", Type.BOOLEAN),
        ("since", Type.DURATION),
        ("before", Type.BOOLEAN),
        ("half", Type.DURATION),
        ("late", Type.TIME),
    ]
    assert plan.schema.columns[-1] == Column("late", Type.TIME)
    assert plan.derived[0].expr == e.Arithmetic(
        "-", e.ColumnOf(e.ROW, "t", Type.TIME), e.PreviousColumn("t", Type.TIME), Type.DURATION
    )
    assert plan.derived[3].expr == e.SinceChange("on")


def test_functions_are_called_in_any_case() -> None:
    plan = stream("A(lat DOUBLE, lon DOUBLE) TIME t DERIVE d = Haversine(PREV(lat), PREV(lon), lat, lon)")
    assert isinstance(plan.derived[0].expr, e.FunctionCall)
    assert plan.derived[0].expr.name == "haversine"


def test_uncertainty_about_when() -> None:
    schema = stream("A(x INT) TIME BETWEEN lo AND hi WEIGHTS w").schema
    assert schema.uncertainty == ImpreciseTime("lo", "hi", "w")
    assert (schema.start, schema.end) == ("lo", "hi")
    assert schema.column("hi") == Column("hi", Type.TIME)


def test_uncertainty_about_what() -> None:
    schema = stream("A(room STRING) TIME t PROBABILITY p GIVEN previous_room").schema
    assert schema.uncertainty == ProbableValue("p", ("previous_room",))
    assert schema.column("p") is None


def test_uncertainty_about_whether() -> None:
    schema = stream("A(role STRING) TIME t NUMBERED BY seq SEGMENTS ROLE role COUNT n BOUNDS lo TO hi").schema
    assert schema.uncertainty == LostEvents("seq", "role", "n", ("lo", "hi"))


def test_table() -> None:
    (table,) = bound("TABLE limits(road STRING, top DOUBLE) FROM 'limits.csv';").tables
    assert table.columns == (Column("road", Type.STRING), Column("top", Type.DOUBLE))
    assert table.path == "limits.csv"


def test_a_plain_number_for_a_length_of_time_is_noted() -> None:
    plan = bound(
        "STREAM A(on BOOLEAN) TIME t DERIVE d = SINCE_CHANGE(on), far = SINCE_CHANGE(on) > 5;"
        "EVENT long AS PATTERN SEQ(A a[d > 30], A b) WHERE END(b) - START(a) < 7 AND b.d * 2 > a.d"
        " WITHIN 4 POINTS;"
    )
    assert [(use.streams, use.words) for use in plan.ticks_only] == [
        (("A",), "SINCE_CHANGE(on) > 5"),
        (("A",), "4 POINTS"),
        (("A",), "d > 30"),
        (("A",), "END(b) - START(a) < 7"),
    ]


def test_a_written_length_of_time_needs_no_note() -> None:
    plan = bound("STREAM A(on BOOLEAN) TIME t DERIVE long = SINCE_CHANGE(on) > 1.5 HOURS, due = t + 5 TICKS;")
    assert [column.expr for column in plan.streams[0].derived] == [
        e.Compare(">", e.SinceChange("on"), e.SpanLiteral(Duration(Fraction(3, 2), "HOURS"))),
        e.Arithmetic("+", e.ColumnOf(e.ROW, "t", Type.TIME), e.SpanLiteral(Duration(Fraction(5), "TICKS")), Type.TIME),
    ]
    assert plan.ticks_only == ()
