"""How long results are held back so that no match that is known later can change them."""

import pytest

import inkling
from inkling.analysis.bounds.lag import settling_time
from inkling.model.time import Clock, TimeUnit

STREAMS = "\n".join(f"STREAM {name}(id STRING, x BIGINT, t BIGINT) ID id TIME t;" for name in "ABC")
HELD_BACK = {
    "SEQ(A a, B b) WITHIN 9 TICKS CONSUME RESTART": 0,
    "SEQ(A a, NOT B, AFTER 4 TICKS) CONSUME RESTART": 0,
    "SEQ(A a, B b, NOT C) WITHIN 9 TICKS PER END": 0,
    "SEQ(A a, B b, NOT C) WITHIN 9 TICKS CONSUME RESTART": 9,
    "SEQ(A a, NOT C, B b?) WITHIN 9 TICKS PER END": 9,
    "SEQ(A a, B b) OR (SEQ(A c, NOT C) WITHIN 9 TICKS) PER END": 9,
    "(SEQ(A a, NOT B) WITHIN 4 TICKS) OR (SEQ(A c, NOT C) WITHIN 9 TICKS)": 13,
    "(SEQ(A a, NOT B) WITHIN 9 TICKS) OR (SEQ(A c, NOT C) WITHIN 9 TICKS)": 0,
    "SEQ(A a, (SEQ(B b, NOT C) WITHIN 5 POINTS)) PER END": 4,
}


@pytest.mark.parametrize("event", HELD_BACK)
def test_settling_time(event: str) -> None:
    program = inkling.parse(f"{STREAMS} EVENT e AS PATTERN {event};")
    assert settling_time(program.physical.program.events[0], TimeUnit(Clock.TICKS)) == HELD_BACK[event]


def test_timeouts_are_told_when_the_time_is_up() -> None:
    text = f"{STREAMS} EVENT e AS PATTERN SEQ(A a, B b, C c) WITHIN 9 TICKS ON TIMEOUT late;"
    program = inkling.parse(text)
    assert [settling_time(event, TimeUnit(Clock.TICKS)) for event in program.physical.program.events] == [0, 0]


def test_alternatives_that_wait_for_different_times_are_one_result() -> None:
    """Both deadlines belong to one result, which ends with the later one: it is held back until then."""
    program = inkling.parse(
        "STREAM A(id STRING, t INT) ID id TIME t;EVENT e AS PATTERN SEQ(A a, AFTER 3 TICKS) OR SEQ(A b, AFTER 5 TICKS);"
    )
    rows = [{"id": "a1", "t": 1}, {"id": "a2", "t": 5}, {"id": "a3", "t": 30}]
    stream = program.open()
    pushed = [row for one in rows for row in stream.push({"A": [one]}).tables["e"].to_pylist()]
    pushed += stream.finish().tables["e"].to_pylist()
    assert pushed == program.run_local({"A": rows}).tables["e"].to_pylist()
    assert [(row["start"], row["end"]) for row in pushed] == [(1, 6), (5, 10), (30, 35)]
