"""Which programs would distinguish results by the time of a lost event."""

import pytest

import inkling

STREAMS = """
STREAM Gate(car STRING, n BIGINT, role STRING, speed DOUBLE, t BIGINT) KEY car TIME t NUMBERED BY n SEGMENTS ROLE role;
STREAM Horn(id STRING, car STRING, t BIGINT) ID id KEY car TIME t;
"""


def rejected(event: str) -> bool:
    try:
        inkling.parse(STREAMS + event)
    except inkling.ProgramError as error:
        if {finding.code for finding in error.diagnostics} != {"INK0332"}:
            raise
        return True
    return False


@pytest.mark.parametrize(
    "pattern",
    [
        "SEQ(Horn h, Gate g)",
        "SEQ(Horn h, Gate g[role = 'in'])",
        "SEQ(Horn h, Gate g+)",
        "SEQ(Gate g, Horn h?)",
        "SEQ(Horn h, Gate g, AFTER 5 TICKS)",
        "Horn h AND Gate g",
        "Horn h OR Gate g",
        "SEQ(Horn h, (Gate g OR Horn i))",
        "SEQ(Horn h, _)",
        "SEQ(Horn h, Gate g[speed > 3 OR role = 'in'])",
    ],
)
def test_an_end_that_may_be_lost_cannot_tell_results_apart(pattern: str) -> None:
    over = " OVER (Gate, Horn)" if "_" in pattern else ""
    assert rejected(f"EVENT e AS PATTERN {pattern}{over} PER END;")
    assert not rejected(f"EVENT e AS PATTERN {pattern}{over} PER VALUES;")


@pytest.mark.parametrize(
    "pattern",
    [
        "SEQ(Gate g, Horn h)",
        "SEQ(Gate g, Horn h, AFTER 5 TICKS)",
        "SEQ(Horn h, NOT Gate, Horn i)",
        "SEQ(Horn h, Gate g[speed > 3])",
        "SEQ(Horn h, Gate g[speed + 1 IN (3, 4)])",
        "SEQ(Horn h, Gate g[speed IS NOT NULL])",
        "SEQ(Horn h, NOT Gate) WITHIN 5 TICKS",
    ],
)
def test_an_end_that_was_recorded_can(pattern: str) -> None:
    assert not rejected(f"EVENT e AS PATTERN {pattern} PER END;")


def test_intervals_have_two_ends() -> None:
    assert rejected("EVENT e AS PATTERN SEQ(Gate g, Horn h) PER INTERVAL;")
    assert not rejected("EVENT e AS PATTERN SEQ(Horn h, NOT Gate, Horn i) PER INTERVAL;")


def test_a_derived_event_ends_with_its_own_parts() -> None:
    derived = "EVENT d AS PATTERN SEQ(Horn h, Gate g); EVENT f AS PATTERN SEQ(Gate g, Horn h);"
    assert rejected(f"{derived} EVENT e AS PATTERN d x PER END;")
    assert not rejected(f"{derived} EVENT e AS PATTERN f x PER END;")


def test_times_of_lost_events_are_returned_but_tell_nothing_apart() -> None:
    assert rejected("EVENT e(END(g) AS at) AS PATTERN SEQ(Gate g, Horn h);")
    assert rejected("EVENT e(g.t AS at) AS PATTERN SEQ(Gate g, Horn h);")
    assert not rejected("EVENT e(END(h) AS at) AS PATTERN SEQ(Gate g, Horn h);")
    assert not rejected("EVENT e AS PATTERN SEQ(Gate g, Horn h) RETURN END(g) AS at;")


def test_what_a_table_tells_of_lost_events_does_not_show_that_they_were_recorded() -> None:
    told = "TABLE plan(n BIGINT, speed DOUBLE) FROM 'plan.csv';"
    event = "EVENT e AS PATTERN SEQ(Horn h, Gate g[speed > 3]) PER END;"
    known = STREAMS.replace("NUMBERED BY n", "NUMBERED BY n KNOWN FROM plan")
    assert not rejected(event)
    with pytest.raises(inkling.ProgramError, match="INK0332"):
        inkling.parse(told + known + event)
