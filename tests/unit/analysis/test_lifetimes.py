"""Relations that need only keys of the same time, and why others need all keys."""

from __future__ import annotations

import pytest
from tests.kit.oracle import bound

import inkling
from inkling.analysis.bounds.lifetimes import lifetime_of
from inkling.analysis.relation import relation_of
from inkling.analysis.verdict import Verdict
from inkling.model.time import Duration

COLUMNS = "id STRING, k STRING, stop STRING, what STRING, n BIGINT, total BIGINT, since BIGINT, t BIGINT"
NUMBERED = f"({COLUMNS}) ID id KEY k TIME t NUMBERED BY n"
STREAMS = f"""
STREAM Bus{NUMBERED} SEGMENTS TIMEOUT 9 TICKS;
STREAM Tram{NUMBERED} SEGMENTS ROLE what TIMEOUT 5 TICKS;
STREAM Walk{NUMBERED} SEGMENTS COUNT total TIMEOUT 5 TICKS;
STREAM Ferry{NUMBERED} SEGMENTS;
STREAM Taxi{NUMBERED} SEGMENTS RATE 3 PER TICK TIMEOUT 9 TICKS;
STREAM Work(k STRING, stop STRING, t BIGINT) KEY k TIME t SEGMENTS;
"""
HEAD = "EVENT e(x.k AS one, y.k AS other) AS PATTERN"


def verdict(pattern: str, more: str = "") -> Verdict[tuple[Duration, ...]]:
    plan = bound(f"{STREAMS}{HEAD} {pattern};{more}")
    relation = relation_of(plan.events[0], plan).conclusion
    assert relation is not None
    return lifetime_of(relation, plan)


@pytest.mark.parametrize(
    ("pattern", "timeouts"),
    [
        ("SOME Bus x INTERSECTS SOME Bus y", [9]),
        ("SOME Bus x {MEETS, DURING} AT LEAST 2 Tram y", [9, 5]),
        ("ALL Bus x DURING SOME Tram y", [9, 5]),
        ("SOME Bus x CONTAINS ALL Bus y", [9]),
        ("ALL Bus x DURING SOME Bus y ON SAME stop", [9]),
        ("AT LEAST 3 Tram x OVERLAPS SOME Tram y WHERE x.stop = 'a'", [5]),
    ],
)
def test_keys_of_other_times_are_not_needed(pattern: str, timeouts: list[int]) -> None:
    assert [int(one.amount) for one in verdict(pattern).conclusion] == timeouts


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("SOME Bus x INTERSECTS SOME Ferry y", "Ferry has no TIMEOUT, so its keys do not end"),
        ("SOME Work x INTERSECTS SOME Bus y", "Work has no TIMEOUT, so its keys do not end"),
        ("SOME Taxi x INTERSECTS SOME Bus y", "with RATE, events of Taxi before its first row can be of any age"),
        ("SOME Bus x {MEETS, PRECEDES} SOME Bus y", "PRECEDES also holds for segments of which one ended long before"),
        ("SOME Bus x STARTS_BEFORE SOME Bus y", "STARTS_BEFORE also holds"),
        ("AT LEAST 0 Bus x INTERSECTS SOME Bus y", "AT LEAST 0 also holds for every key of Bus without related"),
        ("ALL Tram x DURING SOME Bus y", "ALL also holds for a key of Tram that has marks only"),
        ("ALL Walk x DURING SOME Bus y", "ALL also holds for a key of Walk whose `total` is 1"),
        ("SOME Bus x DURING ALL Bus y WHERE y.stop = 'a'", "ALL also holds for a key of Bus of which WHERE"),
        ("SOME Bus x DURING ALL Bus y ON SAME stop", "ALL also holds for a key of Bus of which no segment"),
        ("SOME Tram x DURING SOME Tram y WHERE x.what = 'in'", "conditions read roles of lost events"),
    ],
)
def test_all_keys_are_needed(pattern: str, why: str) -> None:
    found = verdict(pattern)
    assert found.conclusion == ()
    assert found.reason.startswith(why)


def test_an_event_that_uses_the_relation_needs_its_results_in_worlds() -> None:
    found = verdict("SOME Bus x INTERSECTS SOME Bus y", "EVENT twice(a.one) AS PATTERN SEQ(e a, e b) WITHIN 5 TICKS;")
    assert found.reason.startswith("twice reads its results in worlds")


def test_what_an_endless_stream_permits() -> None:
    endless = f"{STREAMS}{HEAD} SOME Bus x INTERSECTS SOME Bus y;"
    inkling.parse(endless).require_streamable()
    with pytest.raises(inkling.ProgramError, match="add `TIMEOUT 100 TICKS` to Ferry"):
        inkling.parse(endless.replace("Bus x", "Ferry x").replace("Bus y", "Ferry y")).require_streamable()


@pytest.mark.parametrize(
    ("pattern", "remedies"),
    [
        ("ALL Tram x DURING SOME Bus y", {"write `SOME`": ("ALL", "SOME"), "leave `ROLE`": (" ROLE what", "")}),
        ("ALL Walk x DURING SOME Tram y", {"write `SOME`": ("ALL", "AT LEAST 2")}),
        ("SOME Bus x DURING ALL Bus y ON SAME stop", {"write `SOME`": ("ALL", "SOME")}),
        ("ALL Bus x DURING SOME Bus y WHERE x.stop = 'a'", {"write `SOME`": ("ALL", "SOME")}),
        ("AT LEAST 0 Bus x INTERSECTS SOME Bus y", {"write `SOME`": ("AT LEAST 0", "SOME")}),
    ],
)
def test_each_remedy_is_enough_where_keys_may_have_no_segments(
    pattern: str, remedies: dict[str, tuple[str, str]]
) -> None:
    endless = f"{STREAMS}{HEAD} {pattern};"
    with pytest.raises(inkling.ProgramError) as raised:
        inkling.parse(endless).require_streamable()
    (said,) = raised.value.diagnostics
    assert all(one.startswith(remedy) for one, remedy in zip(said.helps[:-2], remedies, strict=True))
    for old, new in remedies.values():
        inkling.parse(endless.replace(old, new)).require_streamable()


def test_no_remedy_is_named_that_is_not_enough() -> None:
    with pytest.raises(inkling.ProgramError) as raised:
        inkling.parse(f"{STREAMS}{HEAD} ALL Ferry x STARTS_BEFORE SOME Ferry y;").require_streamable()
    (said,) = raised.value.diagnostics
    assert len(said.helps) == 2
