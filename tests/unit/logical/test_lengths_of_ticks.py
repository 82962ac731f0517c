"""`seconds`, `minutes` and `hours` of times that count ticks: what the ticks last."""

import pytest
from tests.kit.oracle import bound, oracle

import inkling
from inkling.errors import InputError

PROGRAM = """
    STREAM Step(id STRING, t BIGINT) ID id TIME t TICK 30 SECONDS;
    EVENT pair(minutes(END(b) - START(a)) AS took) AS
      PATTERN SEQ(Step a, Step b)
      WHERE seconds(START(b) - END(a)) > 45 AND hours(END(b) - START(a)) <= 0.05;
"""
ROWS = [{"id": str(t), "t": t} for t in (0, 1, 3, 9)]
TOOK = [1.0, 1.5, 3.0]  # 1 to 3, 0 to 3, 3 to 9; 0 to 1 is 30 seconds, 1 to 9 and 0 to 9 are more than 3 minutes


def test_lengths_of_ticks_by_the_definition() -> None:
    found = oracle(bound(PROGRAM), {"Step": ROWS})["pair"]
    assert sorted(one.values[0] for one in found) == TOOK


def test_lengths_of_ticks_in_a_run() -> None:
    program = inkling.parse(PROGRAM)
    assert sorted(program.run_local(ROWS)["pair"]["took"].to_pylist()) == TOOK
    stream = program.open(unbounded=True)
    pushed = [took for row in ROWS for took in stream.push([row])["pair"]["took"].to_pylist()]
    assert sorted([*pushed, *stream.finish()["pair"]["took"].to_pylist()]) == TOOK


def test_lengths_of_integers_of_undeclared_type() -> None:
    program = inkling.parse("""
        STREAM Step(id STRING) ID id TIME t;
        EVENT pair(minutes(END(b) - START(a)) AS took) AS PATTERN SEQ(Step a, Step b);
    """)
    with pytest.raises(InputError, match="the times of the input are integers"):
        program.run_local(ROWS)
