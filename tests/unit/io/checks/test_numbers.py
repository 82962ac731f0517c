"""Numbered events: every fault has its reason with numbers, and spoils its key only."""

from __future__ import annotations

from fractions import Fraction
from math import inf, nan

import pyarrow as pa
import pytest

from inkling.io import normalize, read_table
from inkling.io.checks import checked
from inkling.model.schema import Column, StreamSchema
from inkling.model.time import Duration
from inkling.model.types import Type
from inkling.model.uncertainty import LostEvents, Rate

NAMES = ("door", "n", "t", "role", "total", "since", "until", "rate")


def stream(uncertainty: LostEvents) -> StreamSchema:
    columns = (Column("door", Type.STRING), Column("role", Type.STRING))
    return StreamSchema("Door", columns, None, ("door",), "t", "t", Type.INTEGER, uncertainty=uncertainty)


NUMBERED = stream(LostEvents("n"))
SEGMENTS = stream(LostEvents("n", "role", "total", ("since", "until")))
GOOD = [("b", 1, 5, "open"), ("b", 2, 6, "close")]


def faults(schema: StreamSchema, *listed: tuple[object, ...], **options: int) -> list[tuple[str, str, str]]:
    """Id, reason and detail of every reject among the rows and those of a good key, which pass unchanged."""
    raw = [dict(zip(NAMES, (*row, *[None] * 8), strict=False)) for row in (*listed, *GOOD)]
    given = normalize(read_table(raw, what="Door"), schema).rows
    assert len(given) == len(raw)
    good, rejects = checked(schema, given, **options)
    rejected = set(rejects["id"].to_pylist())
    assert good.equals(given.filter(pa.array([str(one) not in rejected for one in given["@id"].to_pylist()])))
    assert {"b"} <= set(good["door"].to_pylist())
    return [(one["id"], one["reason"], one["detail"]) for one in rejects.to_pylist()]


def all_with(n: int, reason: str, detail: str) -> list[tuple[str, str, str]]:
    return [(str(place), reason, detail) for place in range(1, n + 1)]


def test_gaps_are_fine() -> None:
    assert faults(NUMBERED, ("a", 1, 1), ("a", 4, 2), ("a", 5, 9)) == []
    assert faults(SEGMENTS, ("a", 2, 3, "close", 6, 0, 9), ("a", 3, 5, "open")) == []
    assert faults(SEGMENTS, ("a", 2, 3, None, None, 0), ("a", 3, 5, None, 4, None, 9)) == []


def test_rows_without_a_number_are_no_events() -> None:
    found = faults(NUMBERED, ("a", None, 1), ("a", 1, 2), ("a", 0, 3), ("a", -7, 4))
    assert found == [
        ("1", "null number", "`n` is missing"),
        ("3", "bad number", "`n` is 0, expected a number from 1"),
        ("4", "bad number", "`n` is -7, expected a number from 1"),
    ]


def test_a_number_twice() -> None:
    found = faults(NUMBERED, ("a", 2, 3), ("a", 1, 1), ("a", 2, 4))
    assert found == all_with(3, "duplicate number", "2 events have the number 2")


@pytest.mark.parametrize("time", [4, 5])
def test_times_increase_with_numbers(time: int) -> None:
    found = faults(NUMBERED, ("a", 1, 5), ("a", 2, time))
    assert found == all_with(2, "not increasing", f"event 2 is at {time}, not after event 1 at 5")


def test_times_that_go_back_over_a_gap() -> None:
    found = faults(NUMBERED, ("a", 1, 5), ("a", 3, 4))
    assert found == all_with(2, "not increasing", "event 3 is at 4, not after event 1 at 5")


def test_a_segment_without_length() -> None:
    detail = "event 1 opens a segment and event 2 closes it, both at 5"
    assert faults(SEGMENTS, ("a", 1, 5, "open"), ("a", 2, 5, "close")) == all_with(2, "zero length segment", detail)


def test_a_segment_that_opens_when_the_one_before_closes() -> None:
    found = faults(SEGMENTS, ("a", 1, 3, "open"), ("a", 2, 5, "close"), ("a", 3, 5, "open"), ("a", 4, 6, "close"))
    assert found == all_with(4, "not increasing", "event 3 is at 5, not after event 2 at 5")


@pytest.mark.parametrize(
    ("rows", "detail"),
    [
        ([("a", 1, 5), ("a", 4, 5)], "2 lost between event 1 and event 4, both at 5"),
        ([("a", 3, 5, None, None, 5)], "2 lost before the first recorded event, and `since` is its time, 5"),
        ([("a", 1, 5, None, 2, None, 5)], "1 lost after the last recorded event, and `until` is its time, 5"),
    ],
)
def test_nothing_is_lost_in_no_time(rows: list[tuple[object, ...]], detail: str) -> None:
    assert faults(SEGMENTS, *rows) == all_with(len(rows), "zero window with losses", detail)


def test_losses_at_the_ends_need_bounds() -> None:
    before = "2 lost before the first recorded event, without a lower bound of their time"
    assert faults(NUMBERED, ("a", 3, 5)) == all_with(1, "missing bound", before)
    assert faults(SEGMENTS, ("a", 3, 5, "open", None, None, 9)) == all_with(1, "missing bound", before)
    after = "3 lost after the last recorded event, without an upper bound of their time"
    assert faults(SEGMENTS, ("a", 1, 5, "open", 4, 0)) == all_with(1, "missing bound", after)


@pytest.mark.parametrize(
    "words",
    [
        ("open", "close", "open", "close"),
        ("START", "Suspend", "resume", "END"),
        (None, "suspend", "Resume", "suspend"),
        ("start", "close", "open", "end"),
        ("up", "down", "up", "down"),
    ],
)
def test_roles_fit_numbers(words: tuple[str | None, ...]) -> None:
    assert faults(SEGMENTS, *(("a", n, n, word) for n, word in zip((1, 2, 5, 6), words, strict=True))) == []


@pytest.mark.parametrize(
    ("roles", "detail"),
    [
        (("close", "open"), "event 1 opens a segment, and its `role` is 'close'"),
        (("open", "Resume"), "event 2 closes a segment, and its `role` is 'Resume'"),
        (("up", "up"), "event 2 closes a segment, and its `role` is 'up'"),
        (("end", "close"), "event 1 opens a segment, and its `role` is 'end'"),
        (("resume", "close"), "event 1 is the first, and its `role` is 'resume'"),
        (("open", "close", "START"), "event 3 is not the first, and its `role` is 'START'"),
        (("open", "end", "open"), "event 2 is not the last, and its `role` is 'end'"),
    ],
)
def test_roles_that_do_not(roles: tuple[str, ...], detail: str) -> None:
    found = faults(SEGMENTS, *(("a", n, n, role) for n, role in enumerate(roles, start=1)))
    assert found == all_with(len(roles), "role mismatch", detail)


def test_roles_that_do_not_fit_a_count_or_a_mark() -> None:
    last = "event 2 is the last, and its `role` is 'suspend'"
    assert faults(SEGMENTS, ("a", 2, 2, "suspend", 2, 0)) == all_with(1, "role mismatch", last)
    early = "event 2 is not the last, and its `role` is 'end'"
    assert faults(SEGMENTS, ("a", 2, 2, "end", 4, 0, 9)) == all_with(1, "role mismatch", early)
    assert faults(SEGMENTS, ("a", 2, 2, "end", None, 0), ("a", 4, 6, "mark")) == all_with(2, "role mismatch", early)
    assert faults(SEGMENTS, ("a", 2, 2, "end", None, 0), ("a", 2, 6, "mark")) == []


def test_counts() -> None:
    odd = "`total` is 3, but events alternately open and close segments"
    assert faults(SEGMENTS, ("a", 1, 5, "open", 3, 0, 9)) == all_with(1, "odd count", odd)
    small = "`total` is 2, and there is an event 3"
    assert faults(SEGMENTS, ("a", 1, 5, "open", 2), ("a", 3, 7, "open", 2)) == all_with(2, "bad count", small)
    differs = "`total` is 2 and 4 in events of one key"
    found = faults(SEGMENTS, ("a", 1, 5, "open", 4), ("a", 2, 6, "close", 2), ("a", 3, 7, "open"))
    assert found == all_with(3, "bad count", differs)


def test_an_odd_count_of_events_that_are_no_segments() -> None:
    assert faults(stream(LostEvents("n", None, "total", ("since", "until"))), ("a", 1, 5, None, 3, 0, 9)) == []


def test_bounds() -> None:
    late = "`since` is 6, after the first recorded event at 5"
    assert faults(SEGMENTS, ("a", 1, 5, "open", 2, 6, 9)) == all_with(1, "bad bounds", late)
    early = "`until` is 4, before the last recorded event at 5"
    assert faults(SEGMENTS, ("a", 1, 5, "open", 2, 0, 4)) == all_with(1, "bad bounds", early)
    differ = "`since` is 0 and 1 in events of one key"
    found = faults(SEGMENTS, ("a", 1, 5, "open", 2, 1), ("a", 2, 6, "close", 2, 0))
    assert found == all_with(2, "bad bounds", differ)


@pytest.mark.parametrize(
    "rows", [[("a", 1, 1), ("a", 12, 5)], [("a", 11, 5, None, None, 0)], [("a", 1, 5, None, 11, None, 9)]]
)
def test_runs_that_are_too_long(rows: list[tuple[object, ...]]) -> None:
    schema = stream(LostEvents("n", None, "total", ("since", "until")))
    assert faults(schema, *rows) == []
    assert faults(schema, *rows, most_lost=10) == []
    detail = "10 events in a row are lost, more than 9"
    assert faults(schema, *rows, most_lost=9) == all_with(len(rows), "run too long", detail)


def test_a_run_has_a_limit_unless_told_otherwise() -> None:
    detail = "10001 events in a row are lost, more than 10000"
    assert faults(NUMBERED, ("a", 1, 1), ("a", 10_003, 5)) == all_with(2, "run too long", detail)


def test_the_largest_number() -> None:
    detail = f"{2**63 - 2} lost before the first recorded event, without a lower bound of their time"
    assert faults(NUMBERED, ("a", 2**63 - 1, 5)) == all_with(1, "missing bound", detail)


class TestMarks:
    def test_they_are_fine_between_and_around_events(self) -> None:
        rows = [
            ("a", 0, 1, "mark"),
            ("a", 2, 3, "close"),
            ("a", 2, 3, "mark"),
            ("a", 3, 7, "MARK"),
            ("a", 6, 9, "Mark"),
        ]
        assert faults(SEGMENTS, *rows) == []

    def test_a_key_may_have_nothing_else(self) -> None:
        assert faults(SEGMENTS, ("a", 0, 1, "mark")) == []
        assert faults(SEGMENTS, ("a", 0, 1, "mark"), ("a", 4, 9, "mark"), ("a", 4, 9, "mark")) == []

    def test_their_numbers_count_from_0(self) -> None:
        found = faults(SEGMENTS, ("a", -1, 1, "mark"), ("a", 0, 2, "mark"), ("a", 0, 3, "open"))
        assert found == [
            ("1", "bad number", "`n` is -1, expected a number from 0"),
            ("3", "bad number", "`n` is 0, expected a number from 1"),
        ]

    @pytest.mark.parametrize(
        ("rows", "detail"),
        [
            ([("a", 0, 5, "mark"), ("a", 1, 5, "open")], "event 1 is at 5, not after mark 0 at 5"),
            ([("a", 1, 5, "open"), ("a", 1, 4, "mark")], "mark 1 is at 4, not after event 1 at 5"),
            ([("a", 2, 5, "mark", None, 0), ("a", 3, 4, "mark")], "mark 3 is at 4, not after mark 2 at 5"),
        ],
    )
    def test_they_keep_the_order(self, rows: list[tuple[object, ...]], detail: str) -> None:
        assert faults(SEGMENTS, *rows) == all_with(2, "not increasing", detail)

    def test_they_limit_what_was_lost(self) -> None:
        between = "2 lost between event 1 and mark 3, both at 5"
        found = faults(SEGMENTS, ("a", 1, 5, "open"), ("a", 3, 5, "mark"))
        assert found == all_with(2, "zero window with losses", between)
        before = "2 lost before the first mark, without a lower bound of their time"
        assert faults(SEGMENTS, ("a", 2, 5, "mark")) == all_with(1, "missing bound", before)
        after = "2 lost after the last mark, without an upper bound of their time"
        assert faults(SEGMENTS, ("a", 0, 5, "mark", 2)) == all_with(1, "missing bound", after)

    def test_they_fit_counts_and_bounds(self) -> None:
        many = "`total` is 2, and there is a mark 3"
        found = faults(SEGMENTS, ("a", 1, 5, "open", 2, 0, 9), ("a", 3, 7, "mark"))
        assert found == all_with(2, "bad count", many)
        late = "`since` is 6, after the first mark at 5"
        assert faults(SEGMENTS, ("a", 0, 5, "mark", None, 6)) == all_with(1, "bad bounds", late)
        early = "`until` is 4, before the last mark at 5"
        assert faults(SEGMENTS, ("a", 0, 5, "mark", None, None, 4)) == all_with(1, "bad bounds", early)

    def test_without_a_role_there_are_none(self) -> None:
        bad = ("1", "bad number", "`n` is 0, expected a number from 1")
        assert faults(NUMBERED, ("a", 0, 1, "mark")) == [bad]


class TestTimeouts:
    CLOSING = stream(LostEvents("n", "role", "total", ("since", "until"), timeout=Duration(Fraction(4), "TICKS")))

    def test_rows_after_a_silence_that_is_too_long(self) -> None:
        rows = [
            ("a", 1, 1, "open"),
            ("a", 2, 5, "close"),
            ("a", 3, 10, "open"),
            ("a", 9, 11, "mark"),
            ("a", 4, 6, "close"),
        ]
        after = "its key was closed at 10"
        assert faults(self.CLOSING, *rows[:4]) == [
            ("3", "after timeout", "it is at 10, and its key was closed at 9"),
            ("4", "after timeout", "it is at 11, and its key was closed at 9"),
        ]
        assert ("3", "after timeout", f"it is at 11, and {after}") in faults(
            self.CLOSING, ("a", 1, 2, "open"), ("a", 2, 6, "close"), ("a", 3, 11, "open")
        )

    def test_what_is_left_is_checked_without_them(self) -> None:
        rows = [("a", 1, 1, "open"), ("a", 1, 9, "open"), ("a", 0, 7, "mark")]
        assert {reason for _, reason, _ in faults(self.CLOSING, *rows)} == {"after timeout"}

    def test_a_mark_is_a_sign_of_life(self) -> None:
        assert faults(self.CLOSING, ("a", 1, 1, "open"), ("a", 1, 5, "mark"), ("a", 2, 9, "close")) == []

    def test_it_takes_the_place_of_a_bound(self) -> None:
        assert faults(self.CLOSING, ("a", 1, 1, "open")) == []
        assert faults(self.CLOSING, ("a", 1, 1, "open", 4)) == []
        zero = "1 lost after the last recorded event, and `until` is its time, 1"
        found = faults(self.CLOSING, ("a", 1, 1, "open", None, None, 1))
        assert found == all_with(1, "zero window with losses", zero)


class TestRates:
    def test_one_takes_the_place_of_bounds(self) -> None:
        fixed = stream(LostEvents("n", "role", "total", rate=Rate(2.0, Duration(Fraction(1), "TICKS"))))
        assert faults(fixed, ("a", 3, 5, "open", 8)) == []
        own = stream(LostEvents("n", "role", "total", rate="rate"))
        assert faults(own, ("a", 3, 5, "open", 8, None, None, 0.5)) == []
        missing = "2 lost before the first recorded event, without a lower bound of their time"
        assert faults(own, ("a", 3, 5, "open", 8)) == all_with(1, "missing bound", missing)

    def test_bad_ones(self) -> None:
        own = stream(LostEvents("n", "role", "total", rate="rate"))
        zero = "`rate` is 0, expected a positive number"
        assert faults(own, ("a", 1, 5, "open", None, None, None, 0.0)) == all_with(1, "bad rate", zero)
        negative = "`rate` is -2, expected a positive number"
        assert faults(own, ("a", 1, 5, "open", None, None, None, -2.0)) == all_with(1, "bad rate", negative)
        two = "`rate` is 0.5 and 2.0 in events of one key"
        rows = [("a", 1, 5, "open", None, None, None, 2.0), ("a", 2, 6, "close", None, None, None, 0.5)]
        assert faults(own, *rows) == all_with(2, "bad rate", two)

    @pytest.mark.parametrize("rate", [nan, inf, None])
    def test_what_is_no_number_says_nothing(self, rate: float | None) -> None:
        own = stream(LostEvents("n", "role", "total", rate="rate"))
        unsaid = "2 lost before the first recorded event, without a lower bound of their time"
        assert faults(own, ("a", 3, 5, "open", None, None, None, rate)) == all_with(1, "missing bound", unsaid)


@pytest.mark.parametrize("time", [nan, inf, -inf, None])
def test_times_that_are_no_numbers(time: object) -> None:
    """They never get as far as these checks."""
    rows = [{"door": "a", "n": 1, "t": time, "role": "open", "total": None, "since": None, "until": None}]
    found = normalize(read_table([*rows, {**rows[0], "t": 5.0}], what="Door"), SEGMENTS)
    assert [one["reason"] for one in found.rejects.to_pylist()] in (["bad time"], ["null time"])
