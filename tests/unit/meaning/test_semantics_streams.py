"""The definition of a stream: which rows are events, in which order, with which derived columns."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from tests.kit.oracle import bound, expression_context, oracle
from tests.kit.plans import stream

from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.meaning.streams import RawRow, places_of, plain, stream_events
from inkling.model.event import Event
from inkling.model.time import Clock
from inkling.model.types import Type

X = e.ColumnOf(e.ROW, "x", Type.INTEGER)
PREVIOUS = e.PreviousColumn("x", Type.INTEGER)
CHANGE = p.DerivedColumn("change", e.Arithmetic("-", X, PREVIOUS, Type.INTEGER))
SINCE = p.DerivedColumn("since", e.SinceChange("x"))
KINDS = {"k": Type.STRING, "x": Type.INTEGER}


def events(one: p.StreamPlan, rows: list[RawRow]) -> tuple[Event, ...]:
    plan = p.ProgramPlan((one,), (), ())
    return stream_events(one, rows, expression_context(plan, {}, Clock.TICKS))


def rows_of(*values: tuple[object, ...]) -> list[RawRow]:
    """Rows of key, time and value; the id tells their order in the input."""
    return [{"id": str(n), "k": k, "t": t, "x": x} for n, (k, t, x) in enumerate(values)]


def derived(column: p.DerivedColumn, rows: list[RawRow], order_by: str | None = None) -> list[object]:
    found = events(stream("S", KINDS, key=("k",), order_by=order_by, derived=(column,)), rows)
    return [event.values[column.name] for event in found]


class TestRows:
    def test_ids_are_row_numbers_when_there_is_no_ID(self) -> None:
        plan = bound("STREAM S(x INT, t INT) TIME t; EVENT e AS PATTERN S;")
        rows = {"S": [{"x": 1, "t": 5}, {"x": 2, "t": None}, {"x": 3, "t": 4}]}
        assert [one.lineage for one in oracle(plan, rows)["e"]] == [(3,), (1,)]

    @pytest.mark.parametrize("missing", ["t", "k", "id", "seq"])
    def test_a_row_without_time_key_id_or_place_is_no_event(self, missing: str) -> None:
        row = {"id": "r", "k": "k", "t": 1, "x": 2, "seq": 3}
        declared = stream("S", KINDS, key=("k",), order_by="seq")
        assert len(events(declared, [row])) == 1
        assert events(declared, [{**row, missing: None}]) == ()
        assert events(declared, [{**row, missing: float("nan")}]) == ()

    def test_a_row_that_ends_before_it_starts_is_no_event(self) -> None:
        row = {"id": "r", "begun": 3, "ended": 2}
        assert events(stream("S", interval=True), [row]) == ()
        assert len(events(stream("S", interval=True), [{**row, "ended": 3}])) == 1

    def test_a_second_row_with_the_id_key_and_time_of_another_is_no_event(self) -> None:
        rows = [
            {"id": "r", "k": k, "t": t, "x": n} for n, (k, t) in enumerate((("p", 1), ("p", 1), ("q", 1), ("p", 2)))
        ]
        found = events(stream("S", KINDS, key=("k",)), rows)
        assert [event.values["x"] for event in found] == [0, 2, 3]

    def test_nan_is_null_and_whole_numbers_are_doubles_where_declared(self) -> None:
        declared = stream("S", {"y": Type.DOUBLE, "z": Type.DOUBLE})
        (event,) = events(declared, [{"id": "r", "t": 1, "y": float("nan"), "z": 2}])
        assert event.values["y"] is None
        assert isinstance(event.values["z"], float)

    def test_timestamps_count_microseconds(self) -> None:
        assert plain(datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)) == 1_000_000
        assert plain(datetime(1970, 1, 1, 0, 0, 1)) == 1_000_000
        assert plain(datetime(1970, 1, 1, 2, tzinfo=timezone(timedelta(hours=2)))) == 0


class TestOrder:
    def test_time_then_place_then_id(self) -> None:
        rows = [
            {"id": "d", "t": 2, "seq": 1},
            {"id": "b", "t": 1, "seq": 7},
            {"id": "c", "t": 1, "seq": 9},
            {"id": "a", "t": 1, "seq": 9},
        ]
        found = events(stream("S", order_by="seq"), rows)
        assert [event.ids[0] for event in found] == ["b", "a", "c", "d"]

    def test_integers_are_their_own_places(self) -> None:
        assert places_of([5, -1, None, 5]) == {5: 5, -1: -1}

    def test_texts_are_ranked(self) -> None:
        assert places_of(["b", "a10", "a9", "b"]) == {"a10": 0, "a9": 1, "b": 2}

    def test_texts_order_events_of_two_streams_alike(self) -> None:
        streams = "\n".join(f"STREAM {name}(id STRING, t INT) ID id TIME t ORDER BY id;" for name in "AB")
        plan = bound(f"{streams} EVENT e AS PATTERN SEQ(A a, B b);")
        rows = {"A": [{"id": "m", "t": 1}], "B": [{"id": "c", "t": 1}, {"id": "z", "t": 1}]}
        assert [one.lineage for one in oracle(plan, rows)["e"]] == [("m", "z")]


class TestPrevious:
    def test_the_first_event_of_a_key_has_none(self) -> None:
        rows = rows_of(("p", 1, 10), ("q", 2, 5), ("p", 3, 13), ("q", 4, 4))
        assert derived(CHANGE, rows) == [None, None, 3, -1]

    def test_the_order_is_that_of_time_not_of_the_input(self) -> None:
        assert derived(CHANGE, rows_of(("p", 3, 13), ("p", 1, 10))) == [None, 3]

    def test_ties_follow_the_place(self) -> None:
        rows = [{"id": str(n), "k": "p", "t": 1, "x": x, "seq": -n} for n, x in enumerate((10, 13))]
        assert derived(CHANGE, rows, order_by="seq") == [None, -3]

    def test_null_spreads(self) -> None:
        assert derived(CHANGE, rows_of(("p", 1, 10), ("p", 2, None), ("p", 3, 13))) == [None, None, None]

    def test_a_row_that_is_no_event_is_no_predecessor(self) -> None:
        assert derived(CHANGE, rows_of(("p", 1, 10), (None, 2, 99), ("p", 3, 13))) == [None, 3]

    def test_a_derived_column_can_look_back_at_one_before_it(self) -> None:
        plan = bound(
            "STREAM S(id STRING, k STRING, x INT, t INT) ID id KEY k TIME t"
            " DERIVE change = x - PREV(x), bend = change - PREV(change);"
            " EVENT e(a.bend) AS PATTERN S a;"
        )
        results = oracle(plan, {"S": rows_of(("p", 1, 1), ("p", 2, 4), ("p", 3, 5))})["e"]
        assert [one.values for one in results] == [(None,), (None,), (-2,)]


class TestSinceChange:
    def test_time_since_the_current_run_began(self) -> None:
        rows = rows_of(("p", 1, 7), ("p", 4, 7), ("q", 5, 7), ("p", 6, 8), ("p", 9, 8), ("p", 10, 7))
        assert derived(SINCE, rows) == [0, 3, 0, 0, 3, 0]

    def test_a_missing_value_is_a_value_of_its_own(self) -> None:
        assert derived(SINCE, rows_of(("p", 1, 7), ("p", 2, None), ("p", 5, None), ("p", 6, 7))) == [0, 0, 3, 0]

    def test_of_a_derived_column(self) -> None:
        plan = bound(
            "STREAM S(id STRING, k STRING, x INT, t INT) ID id KEY k TIME t"
            " DERIVE half = x % 2, since = SINCE_CHANGE(half);"
            " EVENT e(a.since) AS PATTERN S a;"
        )
        results = oracle(plan, {"S": rows_of(("p", 1, 1), ("p", 2, 3), ("p", 4, 2), ("p", 7, 4))})["e"]
        assert [one.values for one in results] == [(0,), (1,), (0,), (3,)]
