"""Open matches of running sequences, worked out by hand."""

from __future__ import annotations

import pytest

import inkling
from inkling.errors import InputError, NotSupportedYet
from inkling.local_stream import LocalStream

STREAMS = """
STREAM A(id STRING, x INT, t BIGINT) ID id TIME t;
STREAM B(id STRING, x INT, t BIGINT) ID id TIME t;
STREAM C(id STRING, x INT, t BIGINT) ID id TIME t;
"""
HAPPENED = (("A", 1, 1), ("B", 2, 2), ("A", 2, 4), ("C", 2, 5), ("B", 2, 6))
"""Streams, values and times."""


def opened(event: str) -> LocalStream:
    stream = inkling.parse(STREAMS + event).open(unbounded=True)
    for name, x, time in HAPPENED:
        stream.push({name: [{"id": f"{name.lower()}{time}", "x": x, "t": time}]})
    return stream


def listed(event: str) -> list[tuple[object, ...]]:
    found = opened(event).open_matches("e").to_pylist()
    return [(one["reached"], " ".join(one["lineage"]), one["latest"]) for one in found]


def test_any_keeps_all_of_them() -> None:
    # c5 has x = 2: a4 is broken; b2 and b6 are larger than a1
    assert listed("EVENT e AS PATTERN SEQ(A a, NOT C n[x = a.x], B b[x > a.x], C c[x > 3]) WITHIN 10 TICKS;") == [
        (1, "a1", 11),
        (2, "a1 b2", 11),
        (2, "a1 b6", 11),
    ]


def test_next_waits_for_the_nearest_only() -> None:
    # a1 b2 c5 is complete, a1 and a4 have their b
    assert listed("EVENT e AS PATTERN SEQ NEXT(A a, B b, C c) WITHIN 10 TICKS;") == [(2, "a4 b6", 14)]


def test_strict_ends_with_any_event_of_the_scope() -> None:
    assert listed("EVENT e AS PATTERN SEQ STRICT(B b[x > 0], C c);") == [(1, "b6", None)]


def test_deadlines_are_latest() -> None:
    # b6 has the x of a4, so that one is answered
    assert listed("EVENT e AS PATTERN SEQ(A a, NOT B b[x = a.x], AFTER 5 TICKS);") == [(1, "a1", 6)]


def test_absence_at_the_end_is_open_until_the_limit() -> None:
    assert listed("EVENT e AS PATTERN SEQ(A a, B b, NOT C c) WITHIN 8 TICKS;") == [
        (1, "a1", 9),
        (2, "a1 b6", 9),
        (1, "a4", 12),
        (2, "a4 b6", 12),
    ]


def test_what_breaks_a_longer_repetition_leaves_a_shorter_one_open() -> None:
    # c5 has the x of a4, and not that of a1
    assert listed("EVENT e AS PATTERN SEQ(A a+, NOT C c[x = LAST(a).x], B b[x > 3]) WITHIN 20 TICKS;") == [
        (1, "a1", 21)
    ]


def test_absence_before_the_first_event_is_not_known_yet() -> None:
    # b6 follows c5; whether b2 is too close to the end of a match that begins with a4 depends on that end
    assert listed("EVENT e AS PATTERN SEQ(C c?, NOT B b, A a, C d[x > 3]) WITHIN 10 TICKS;") == [
        (2, "a1", 11),
        (2, "a4", 14),
    ]


def test_certain_parts_have_happened_for_sure() -> None:
    for one in opened("EVENT e AS PATTERN SEQ(A a, C c[x > 3]);").open_matches("e").to_pylist():
        assert (one["probability"], one["method"], one["error"]) == (1.0, "exact", 0.0)


def test_says_what_it_waits_for() -> None:
    (found,) = (
        opened("EVENT e AS PATTERN SEQ NEXT(A a, B b, C c[x > a.x]) WITHIN 3 TICKS;").open_matches("e").to_pylist()
    )
    assert (found["reached"], found["parts"], found["awaits"]) == (2, 3, "C c[c.x > a.x]")


def test_derived_events_are_parts_too() -> None:
    # pairs a1 b2 and a1 b6, a4 b6; c5 follows the first of them
    assert listed(
        """EVENT d AS PATTERN SEQ(A a, B b) WITHIN 9 TICKS;
           EVENT p AS PATTERN d x WITHIN 9 TICKS;
           EVENT e AS PATTERN SEQ NEXT(p x, C c) WITHIN 20 TICKS;"""
    ) == [(1, "a1 b6", 21), (1, "a4 b6", 24)]


def test_events_that_rest_on_themselves() -> None:
    # runs of growing x: a1, a4 and a1 a4, each of which may grow
    found = listed(
        """EVENT e(v) AS PATTERN A t WHERE v = t.x PER INTERVAL;
           EVENT e(v) AS PATTERN SEQ(e p, A t) WHERE t.x > p.v AND v = t.x WITHIN 10 TICKS PER INTERVAL;"""
    )
    assert found == [(1, "a1", 11), (1, "a1 a4", 11), (1, "a4", 14)]


def test_nothing_is_open_in_the_end() -> None:
    stream = opened("EVENT e AS PATTERN SEQ(A a, B b, C c);")
    assert len(stream.open_matches("e"))
    stream.finish()
    assert not len(stream.open_matches("e"))


def test_nothing_is_open_before_the_first_row() -> None:
    stream = inkling.parse(STREAMS + "EVENT e AS PATTERN SEQ(A a, B b);").open(unbounded=True)
    assert not len(stream.open_matches("e"))


def test_states_without_parts_are_rejected() -> None:
    with pytest.raises(NotSupportedYet, match="INK0428"):
        opened("EVENT e AS PATTERN SEQ(A a, B b) CONSUME RECENT;").open_matches("e")
    with pytest.raises(NotSupportedYet, match="INK0428"):
        opened("EVENT e AS PATTERN A a PAR B b;").open_matches("e")


def test_unknown_event() -> None:
    with pytest.raises(InputError, match="INK0561"):
        opened("EVENT e AS PATTERN A a;").open_matches("f")


def test_an_eager_repetition_leaves_behind_what_it_has_added_to() -> None:
    """Until the time of b6 is over, a C of that time may still follow b2."""
    stream = opened("EVENT e AS PATTERN SEQ NEXT(A a[x < 2], B b+ EAGER, C c[x > 3]) WITHIN 20 TICKS;")
    before = [" ".join(one["lineage"]) for one in stream.open_matches("e").to_pylist() if one["reached"] == 2]
    for name in "ABC":
        stream.push({name: [{"id": f"{name.lower()}9", "x": 3, "t": 9}]})
    after = [" ".join(one["lineage"]) for one in stream.open_matches("e").to_pylist() if one["reached"] == 2]
    assert before == ["a1 b2", "a1 b2 b6"]
    assert after == ["a1 b2 b6", "a1 b2 b6 b9"]


def test_parts_of_and_wait_in_any_order() -> None:
    # a1 has no b with its x, and c5 is not larger than a4
    event = "EVENT e AS PATTERN A a AND B b[x = a.x] AND C c[x > a.x] WITHIN 4 TICKS;"
    found = opened(event).open_matches("e").to_pylist()
    assert [(one["reached"], one["awaits"], " ".join(one["lineage"]), one["latest"]) for one in found] == [
        (1, "B b[b.x = a.x] and C c[c.x > a.x]", "a1", 5),
        (2, "B b[b.x = a.x]", "a1 c5", 5),
        (1, "A a and C c[c.x > a.x]", "b2", 6),
        (2, "C c[c.x > a.x]", "a4 b2", 6),
        (2, "A a", "b2 c5", 6),
        (1, "B b[b.x = a.x] and C c[c.x > a.x]", "a4", 8),
        (2, "C c[c.x > a.x]", "a4 b6", 8),
        (1, "A a and B b[b.x = a.x]", "c5", 9),
        (2, "A a", "b6 c5", 9),
        (1, "A a and C c[c.x > a.x]", "b6", 10),
    ]


def test_an_event_waits_in_every_item_of_and_that_it_fits() -> None:
    assert listed("EVENT e AS PATTERN A a[x > 1] AND A b;") == [(1, "a1", None), (1, "a4", None), (1, "a4", None)]
