"""Alternatives and chains of them: every fault has its reason with numbers, and nothing else is one."""

from __future__ import annotations

import pyarrow as pa
import pytest

from inkling.io import normalize, read_table
from inkling.io.checks import checked
from inkling.model.schema import Column, StreamSchema
from inkling.model.types import Type
from inkling.model.uncertainty import ProbableValue


def stream(*given: str, values: tuple[str, ...] = ("room",)) -> StreamSchema:
    return StreamSchema(
        "At",
        (Column("person", Type.STRING), *(Column(name, Type.STRING) for name in values)),
        id=None,
        key=("person",),
        start="t",
        end="t",
        time_type=Type.INTEGER,
        uncertainty=ProbableValue("p", given),
    )


PLAIN, CHAINED = stream(), stream("before")


def rows(schema: StreamSchema, *listed: tuple[object, ...]) -> pa.Table:
    """Rows of person, time, room, probability and maybe the room before."""
    raw = [dict(zip(("person", "t", "room", "p", "before"), (*row, None), strict=False)) for row in listed]
    found = normalize(read_table(raw, what="At"), schema)
    assert not len(found.rejects)
    return found.rows


def faults(schema: StreamSchema, *listed: tuple[object, ...]) -> list[tuple[str, str, str]]:
    """Id, reason and detail of every reject; all other rows pass unchanged."""
    given = rows(schema, *listed)
    good, rejects = checked(schema, given)
    rejected = set(rejects["id"].to_pylist())
    assert good.equals(given.filter(pa.array([str(one) not in rejected for one in given["@id"].to_pylist()])))
    return [(one["id"], one["reason"], one["detail"]) for one in rejects.to_pylist()]


JOE = [("joe", 1, "a", 0.5), ("joe", 1, "b", 0.5)]


class TestOneEvent:
    def test_good_alternatives_pass_unchanged(self) -> None:
        assert faults(PLAIN, *JOE, ("joe", 2, "a", 0.2), ("sue", 1, "a", 1), ("sue", 1, "b", 0)) == []

    def test_a_missing_probability_spoils_its_event_only(self) -> None:
        said = ("null probability", "`p` is missing in 1 of 2 alternatives")
        assert faults(PLAIN, *JOE, ("joe", 2, "a", None), ("joe", 2, "b", 0.5), ("joe", 3, "a", 1)) == [
            ("3", *said),
            ("4", *said),
        ]

    @pytest.mark.parametrize(("wrong", "shown"), [(1.3, "1.3"), (-0.25, "-0.25")])
    def test_a_probability_out_of_range(self, wrong: float, shown: str) -> None:
        detail = f"`p` is {shown} in one of 1 alternative, expected 0 to 1"
        assert faults(PLAIN, ("joe", 1, "a", wrong), ("sue", 1, "a", 1)) == [("1", "bad probability", detail)]

    def test_a_probability_nearly_in_range_is_moved_there(self) -> None:
        given = rows(PLAIN, ("joe", 1, "a", 1 + 1e-12), ("sue", 1, "a", -1e-12), ("tom", 1, "a", 0.5))
        good, rejects = checked(PLAIN, given)
        assert not len(rejects)
        assert good["p"].to_pylist() == [1.0, 0.0, 0.5]
        assert good.drop_columns("p").equals(given.drop_columns("p"))

    def test_more_than_certain(self) -> None:
        detail = "probabilities of 3 alternatives sum to 1.2"
        found = faults(PLAIN, *JOE, *(("joe", 2, room, 0.4) for room in "abc"))
        assert found == [(place, "probability sum", detail) for place in ("3", "4", "5")]

    def test_a_sum_that_is_nearly_1_is_fine(self) -> None:
        assert faults(PLAIN, *(("joe", 1, str(room), 1 / 3 + 1e-11) for room in range(3))) == []

    def test_a_value_twice(self) -> None:
        said = ("duplicate value", "the value 'a' is given 2 times")
        assert faults(PLAIN, ("joe", 1, "a", 0.2), ("joe", 1, "b", 0.1), ("joe", 1, "a", 0.2)) == [
            ("1", *said),
            ("2", *said),
            ("3", *said),
        ]

    def test_what_is_impossible_may_be_said_twice(self) -> None:
        assert faults(PLAIN, ("joe", 1, "a", 0), ("joe", 1, "a", 0), ("joe", 1, "b", 1)) == []

    def test_an_event_without_values_is_there_or_not(self) -> None:
        schema = stream(values=())
        said = ("duplicate value", "the event is given 2 times")
        assert faults(schema, ("joe", 1, "", 0.5), ("joe", 2, "", 0.25), ("joe", 2, "", 0.25)) == [
            ("2", *said),
            ("3", *said),
        ]

    def test_without_key_the_whole_stream_is_one(self) -> None:
        schema = StreamSchema("At", PLAIN.columns, None, (), "t", "t", Type.INTEGER, uncertainty=ProbableValue("p"))
        found = faults(schema, ("joe", 1, "a", 0.75), ("sue", 1, "a", 0.75))
        assert {(reason, detail) for _, reason, detail in found} == {
            ("probability sum", "probabilities of 2 alternatives sum to 1.5")
        }


class TestChains:
    STEP = (("joe", 2, "a", 1, "a"), ("joe", 2, "b", 0.25, "b"), ("joe", 2, "c", 0.75, "b"))

    def test_good_chains_pass_unchanged(self) -> None:
        assert faults(CHAINED, *JOE, *self.STEP, ("joe", 3, "d", 0.5), ("sue", 1, "a", 0.5)) == []

    def test_a_chain_is_void_from_the_first_fault_until_it_starts_anew(self) -> None:
        after = [("joe", 3, "a", 1, room) for room in "abc"]
        wrong = [("joe", 2, "a", 1, "a"), ("joe", 2, "b", 0.5, "b"), ("joe", 2, "c", 0.75, "b")]
        found = faults(CHAINED, *JOE, *wrong, *after, ("joe", 4, "a", 1))
        detail = "at time 2, probabilities of 2 alternatives after 'b' sum to 1.25"
        assert found == [(str(place), "cpt row sum", detail) for place in range(3, 9)]

    def test_more_than_certain_at_the_start(self) -> None:
        found = faults(CHAINED, ("joe", 1, "a", 0.75), ("joe", 1, "b", 0.5))
        detail = "at time 1, probabilities of 2 alternatives sum to 1.25"
        assert found == [("1", "probability sum", detail), ("2", "probability sum", detail)]

    def test_a_value_twice_after_the_same_value(self) -> None:
        rows = [("joe", 1, "a", 1), ("joe", 2, "b", 0.5, "a"), ("joe", 2, "b", 0.5, "a")]
        detail = "at time 2, the value 'b' is given 2 times after 'a'"
        assert faults(CHAINED, *rows) == [("2", "duplicate value", detail), ("3", "duplicate value", detail)]

    def test_a_value_that_nothing_follows(self) -> None:
        found = faults(CHAINED, *JOE, ("joe", 2, "a", 1, "a"), ("joe", 3, "a", 1, "a"), ("joe", 4, "z", 1))
        detail = "at time 2, no row has the probabilities after the value 'b', which has probability 0.5"
        assert found == [("3", "cpt row missing", detail), ("4", "cpt row missing", detail)]

    def test_no_event_that_nothing_follows(self) -> None:
        found = faults(CHAINED, ("joe", 1, "a", 0.75), ("joe", 2, "a", 1, "a"))
        detail = "at time 2, no row has the probabilities after no event, which has probability 0.25"
        assert found == [("2", "cpt row missing", detail)]

    def test_a_chain_that_starts_with_a_previous_value(self) -> None:
        detail = "at time 1, no row has the probabilities after no event, which has probability 1"
        assert faults(CHAINED, ("joe", 1, "a", 1, "b")) == [("1", "cpt row missing", detail)]

    def test_a_row_of_probability_0_says_that_nothing_follows(self) -> None:
        assert faults(CHAINED, ("joe", 1, "a", 1), ("joe", 2, "b", 0, "a")) == []
        assert faults(CHAINED, ("joe", 1, "a", 0.5), ("joe", 2, "a", 1, "a"), ("joe", 2, "a", 0)) == []

    def test_a_value_that_cannot_be_reached_needs_no_followers(self) -> None:
        """c follows b only, and b has probability 0; so has c."""
        rows = [("joe", 1, "a", 1), ("joe", 1, "b", 0), ("joe", 2, "a", 1, "a"), ("joe", 2, "c", 1, "b")]
        assert faults(CHAINED, *rows, ("joe", 3, "a", 1, "a")) == []

    def test_rounding_leaves_no_event_behind(self) -> None:
        rows = [("joe", 1, "a", 1 - 1e-12), ("joe", 2, "a", 1 - 1e-12, "a"), ("joe", 3, "a", 1, "a")]
        assert faults(CHAINED, *rows) == []

    def test_a_missing_value_has_no_followers(self) -> None:
        """No previous value means no event, so nothing can be said of what follows an event without value."""
        found = faults(CHAINED, ("joe", 1, None, 1), ("joe", 2, "a", 1), ("joe", 2, "a", 1, "a"))
        detail = "at time 2, no row has the probabilities after the value None, which has probability 1"
        assert found == [("2", "cpt row missing", detail), ("3", "cpt row missing", detail)]

    def test_several_values(self) -> None:
        schema = stream("before", "wing_before", values=("room", "wing"))
        raw = [
            {"person": "joe", "t": 1, "room": "1", "wing": "w", "p": 1},
            {"person": "joe", "t": 2, "room": "1", "wing": "e", "p": 1, "before": "1", "wing_before": "e"},
        ]
        given = normalize(read_table(raw, what="At"), schema).rows
        good, rejects = checked(schema, given)
        assert len(good) == 1
        assert rejects["detail"].to_pylist() == [
            "at time 2, no row has the probabilities after the value '1', 'w', which has probability 1"
        ]
