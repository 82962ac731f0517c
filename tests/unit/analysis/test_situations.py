"""Events that find the segments of a numbered stream: which are recognized, which are not, and why."""

from __future__ import annotations

import pytest
from tests.kit.invariants import violations
from tests.kit.oracle import bound

from inkling.analysis.derived_segments import DerivedSegments, derived_segments_of
from inkling.analysis.relation import over_streams
from inkling.analysis.verdict import Verdict
from inkling.logical import plan as p

DOOR = """
STREAM Door(room STRING, n BIGINT, what STRING, who STRING, t BIGINT) KEY room TIME t NUMBERED BY n SEGMENTS ROLE what;
STREAM Gate(room STRING, n BIGINT, what STRING, who STRING, t BIGINT) KEY room TIME t NUMBERED BY n;
STREAM Sure(room STRING, n BIGINT, what STRING, who STRING, t BIGINT) KEY room TIME t;
STREAM Lift(room STRING, floor BIGINT, n BIGINT, t BIGINT) KEY room, floor TIME t NUMBERED BY n;
STREAM Shy(room STRING, n BIGINT, t BIGINT) KEY room TIME t NUMBERED BY n RESET WHEN n = 3;
"""
BY_NUMBERS = "EVENT held(room) AS PATTERN SEQ STRICT(Door a[n % 2 = 1], Door b) PARTITION BY room;"


def verdict(text: str) -> Verdict[DerivedSegments | None]:
    plan = bound(DOOR + text)
    return derived_segments_of(plan.events[0], plan)


def body(pattern: str, clauses: str = "PARTITION BY room") -> str:
    return f"EVENT held(room) AS PATTERN {pattern} {clauses};"


@pytest.mark.parametrize(
    "pattern",
    [
        "SEQ STRICT(Door a[n % 2 = 1], Door b[n % 2 = 0])",
        "SEQ STRICT(Door a[n % 2 <> 0], Door b)",
        "SEQ STRICT(Door a, Door b[NOT n % 2 = 1])",
        "SEQ NEXT(Door a[n % 2 = 1], Door b[n % 2 = 0])",
        "SEQ NEXT(Door a[n % 2 IN (1, 3)], Door b)",
        "SEQ STRICT(Gate a, Gate b[n % 2 = 0])",
        "SEQ STRICT(Door a, Door b) WHERE a.n % 2 = 1",
    ],
)
def test_an_odd_number_and_the_one_after_it(pattern: str) -> None:
    found = verdict(body(pattern))
    assert found.conclusion is not None
    assert found.conclusion.stream in ("Door", "Gate")
    assert not found.conclusion.asks_for_roles
    assert found.reason == "it pairs exactly the odd numbers with the numbers after them"


@pytest.mark.parametrize(
    ("pattern", "clauses", "reason"),
    [
        ("Door a", "PARTITION BY room", "it is not a sequence of two events"),
        ("SEQ STRICT(Door a, Door b, Door c)", "PARTITION BY room", "it is not a sequence of two events"),
        ("SEQ STRICT(Door a, Gate b)", "PARTITION BY room", "it is not a sequence of two events of one stream"),
        ("SEQ STRICT(Door a, Door+)", "PARTITION BY room", "it is not a sequence of two events of one stream"),
        ("SEQ STRICT(Sure a[n % 2 = 1], Sure b)", "PARTITION BY room", "its events are not numbered"),
        ("SEQ STRICT(Shy a[n % 2 = 1], Shy b)", "PARTITION BY room", "Shy has RESET WHEN"),
        ("SEQ(Door a[n % 2 = 1], Door b)", "PARTITION BY room", "an event may be paired with any later one"),
        (
            "SEQ STRICT(Door a[n % 2 = 1], Door b)",
            "PARTITION BY room OVER (Door, Gate)",
            "other events can lie in between",
        ),
        ("SEQ STRICT(Lift a[n % 2 = 1], Lift b)", "PARTITION BY room", "it is not PARTITION BY the KEY of Lift"),
        (
            "SEQ STRICT(Door a[n % 2 = 1], Door b) WITHIN 5 TICKS",
            "PARTITION BY room",
            "it limits how long a segment may last",
        ),
        ("SEQ STRICT(Door a[n % 2 = 1], Door b) HAVING a.who = b.who", "PARTITION BY room", "HAVING filters segments"),
        (
            "SEQ STRICT(Door a[n % 2 = 1], Door b)",
            "PARTITION BY room CONSUME RESTART",
            "CONSUME makes results depend on each other",
        ),
        (
            "SEQ STRICT(Door a[n % 2 = 1], Door b)",
            "PARTITION BY room PER VALUES",
            "PER VALUES combines many segments into one result",
        ),
        (
            "SEQ STRICT(Door a[n % 2 = 1 AND who = 'ann'], Door b)",
            "PARTITION BY room",
            "its conditions read more than whether an event opens or closes a segment",
        ),
        (
            "SEQ STRICT(Door a[n % 3 = 1], Door b)",
            "PARTITION BY room",
            "its conditions read more than whether an event opens or closes a segment",
        ),
        (
            "SEQ STRICT(Gate a[what = 'open'], Gate b)",  # a plain column there, which lost events do not have
            "PARTITION BY room",
            "its conditions read more than whether an event opens or closes a segment",
        ),
        (
            "SEQ STRICT(Door a, Door b[n % 2 = 0 AND a.what = 'open'])",
            "PARTITION BY room",
            "its conditions read more than whether an event opens or closes a segment",
        ),
        (
            "SEQ STRICT(Door a[n % 2 = 0], Door b)",
            "PARTITION BY room",
            "it does not pair exactly the odd numbers with the numbers after them",
        ),
        (
            "SEQ STRICT(Door a, Door b)",
            "PARTITION BY room",
            "it does not pair exactly the odd numbers with the numbers after them",
        ),
        (
            "SEQ NEXT(Door a, Door b[n % 2 = 0])",  # continues from even numbers, too
            "PARTITION BY room",
            "it does not pair exactly the odd numbers with the numbers after them",
        ),
    ],
)
def test_what_is_none(pattern: str, clauses: str, reason: str) -> None:
    found = verdict(body(pattern, clauses))
    assert found.conclusion is None
    assert found.reason == reason


def test_the_head_shows_the_key() -> None:
    found = verdict("EVENT held(a.room) AS PATTERN SEQ STRICT(Door a[n % 2 = 1], Door b) PARTITION BY room;")
    assert found.conclusion is not None
    assert found.conclusion.key == {"room": "room"}
    found = verdict("EVENT held(a.n) AS PATTERN SEQ STRICT(Door a[n % 2 = 1], Door b) PARTITION BY room;")
    assert found == Verdict(None, "its head does not show the KEY of Door")


def test_columns_lead_to_those_of_the_stream() -> None:
    (found,) = [
        verdict(
            "EVENT held(room AS place, a.who AS first, b.who AS last) AS PATTERN SEQ STRICT(Door a[n % 2 = 1], Door b)"
            " PARTITION BY room RETURN a.n AS number, b.n - a.n AS one;"
        ).conclusion
    ]
    assert found is not None
    assert found.key == {"place": "room"}
    assert found.opening == {"first": "who", "number": "n"}
    assert found.closing == {"last": "who"}


def test_roles_are_left_to_the_data() -> None:
    found = verdict(body("SEQ STRICT(Door a[what = 'open'], Door b[what = 'close'])"))
    assert found.reason == "it pairs each opening event with the next closing event, if the data has these roles"
    derived = found.conclusion
    assert derived is not None
    assert derived.asks_for_roles
    assert derived.fits([("open", 1), ("close", 2), ("open", 3)])
    assert derived.fits([])
    assert not derived.fits([("open", 1), ("close", 2), ("resume", 3)])
    assert not derived.fits([("Open", 1), ("close", 2)])
    assert not derived.fits([("open", 1), (None, 2)])
    assert not derived.fits([("close", 1), ("open", 2)])


def test_roles_in_any_spelling() -> None:
    derived = verdict(body("SEQ NEXT(Door a[lower(what) IN ('open', 'resume')], Door b)")).conclusion
    assert derived is not None
    assert derived.fits([("Open", 1), ("resume", 3), (None, 2), ("bye", 4)])
    assert not derived.fits([("Open", 1), ("resume", 2)])


def relation(text: str) -> tuple[p.ProgramPlan, p.EventPlan | None, str]:
    plan = bound(DOOR + BY_NUMBERS + text)
    found = over_streams(plan.events[-1], plan)
    return plan, None if found.conclusion is None else found.conclusion.event, found.reason


def test_a_relation_between_situations_is_one_between_streams() -> None:
    plan, event, reason = relation(
        "EVENT both(x.room AS one, y.room AS other) AS PATTERN SOME held x INTERSECTS ALL held y"
        " HAVING x.room < y.room;"
    )
    expected = bound(
        DOOR + "EVENT both(x.room AS one, y.room AS other) AS PATTERN SOME Door x INTERSECTS ALL Door y"
        " HAVING x.room < y.room;"
    ).events[0]
    assert event == expected
    assert reason == "its operands are the segments of Door"
    assert violations(p.ProgramPlan(plan.streams, (), (event,))) == ()


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("SOME Door x INTERSECTS SOME Door y", "the relation already compares segments of streams"),
        (
            "SOME held x INTERSECTS SOME Door y",
            "both sides are segments of Door, so keys would be compared with themselves",
        ),
        ("SOME held x INTERSECTS SOME held y ON SAME room", "ON SAME reads a column of only one of the two events"),
        (
            "ALL held x MEETS SOME held y WHERE x.room <> 'hall'",
            "a key of Door without matching segments stays open if its last segment was never closed",
        ),
        ("SOME held x INTERSECTS SOME Sure y PARTITION BY room", None),
    ],
)
def test_relations_that_stay_as_they_are(pattern: str, reason: str | None) -> None:
    _, event, why = relation(f"EVENT both(x.room AS one, y.room AS other) AS PATTERN {pattern};")
    assert (event is None) == (reason is not None)
    if reason is not None:
        assert why == reason


def test_no_relation_and_no_situation() -> None:
    plan = bound(DOOR + BY_NUMBERS)
    assert over_streams(plan.events[0], plan).reason == "the pattern is not a relation between segments"
    text = "EVENT any(room) AS PATTERN Door a PARTITION BY room;"
    _, event, why = relation(text + "EVENT both AS PATTERN SOME any x INTERSECTS SOME held y;")
    assert event is None
    assert why == "any does not derive the segments of a stream: it is not a sequence of two events"


def test_conditions_on_what_opens() -> None:
    head = "EVENT held(room, a.who AS first, b.who AS last) AS"
    pattern = "PATTERN SEQ STRICT(Door a[n % 2 = 1], Door b) PARTITION BY room;"
    for condition, reason in (
        ("x.first = 'ann'", "its operands are the segments of Door"),
        ("x.last = 'ann'", "a condition reads more than the event that opens a segment"),
        ("END(x) > 5", "a condition reads more than the event that opens a segment"),
    ):
        text = f"{head} {pattern} EVENT both(x.room) AS PATTERN SOME held x MEETS SOME Sure y WHERE {condition};"
        plan = bound(DOOR + text)
        assert over_streams(plan.events[-1], plan).reason == reason
