"""Which kinds of doubt reach an event, also through the events it is built on."""

import inkling
from inkling.analysis.doubt import DoubtKind, doubt_of, streams_of

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


def kinds(name: str) -> set[DoubtKind]:
    event = PROGRAM.plan.event(name)
    assert event is not None
    return set(doubt_of(event, PROGRAM.plan).conclusion)


def test_a_certain_event_has_none() -> None:
    assert kinds("sure") == set()


def test_doubt_comes_from_streams_and_through_events() -> None:
    assert kinds("vague") == {DoubtKind.WHEN}
    assert kinds("both") == {DoubtKind.WHEN, DoubtKind.WHAT}


def test_the_scope_counts() -> None:
    assert kinds("scope_only") == {DoubtKind.WHETHER}


def test_the_streams_behind_an_event() -> None:
    event = PROGRAM.plan.event("both")
    assert event is not None
    assert [stream.schema.name for stream in streams_of(event, PROGRAM.plan)] == ["Sure", "Vague", "Likely"]


def test_the_reason_names_the_streams() -> None:
    event = PROGRAM.plan.event("both")
    assert event is not None
    assert doubt_of(event, PROGRAM.plan).reason == (
        "Vague leaves open when its events happened, Likely leaves open what its events were"
    )
