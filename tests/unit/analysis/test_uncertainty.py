"""Which kinds of uncertainty reach an event, also through the events it is built on."""

import inkling
from inkling.analysis.uncertainty import UncertaintyKind, streams_of, uncertainty_of

PROGRAM = inkling.parse(
    """
    STREAM Sure(id STRING, t BIGINT) ID id TIME t;
    STREAM Vague(id STRING, lo BIGINT, hi BIGINT) ID id TIME BETWEEN lo AND hi;
    STREAM Likely(id STRING, room STRING, t BIGINT, p DOUBLE) ID id TIME t PROBABILITY p;
    STREAM Lossy(id STRING, n BIGINT, t BIGINT) ID id TIME t NUMBERED BY n;

    EVENT sure AS PATTERN Sure s;
    EVENT vague AS PATTERN SEQ(Sure s, Vague v);
    EVENT both AS PATTERN SEQ(vague x, Likely y);
    EVENT scope_only AS PATTERN SEQ STRICT(Sure a, Sure b) OVER (Sure, Lossy);
    """
)


def kinds(name: str) -> set[UncertaintyKind]:
    event = PROGRAM.plan.event(name)
    assert event is not None
    return set(uncertainty_of(event, PROGRAM.plan).conclusion)


def test_a_certain_event_has_none() -> None:
    assert kinds("sure") == set()


def test_uncertainty_comes_from_streams_and_through_events() -> None:
    assert kinds("vague") == {UncertaintyKind.WHEN}
    assert kinds("both") == {UncertaintyKind.WHEN, UncertaintyKind.WHAT}


def test_the_scope_counts() -> None:
    assert kinds("scope_only") == {UncertaintyKind.WHETHER}


def test_the_streams_behind_an_event() -> None:
    event = PROGRAM.plan.event("both")
    assert event is not None
    assert [stream.schema.name for stream in streams_of(event, PROGRAM.plan)] == ["Sure", "Vague", "Likely"]


def test_the_reason_names_the_streams() -> None:
    event = PROGRAM.plan.event("both")
    assert event is not None
    assert uncertainty_of(event, PROGRAM.plan).reason == ("Vague has imprecise times, Likely has alternatives")
