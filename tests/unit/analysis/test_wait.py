"""The longest wait is a bound: no result is known later than that after its last event."""

from random import Random

import pytest
from tests.kit.oracle import oracle

import inkling
from inkling.analysis.bounds.lag import wait_of
from inkling.analysis.bounds.window import total_horizon
from inkling.logical import plan as p
from inkling.model.time import Clock, TimeUnit

STREAMS = "\n".join(f"STREAM {name}(id STRING, x BIGINT, t BIGINT) ID id TIME t;" for name in "ABC")
EVENTS = {
    "no_wait": "EVENT e AS PATTERN SEQ(A a, NOT C, B b) WITHIN 4 TICKS;",
    "deadline": "EVENT e AS PATTERN SEQ(A a, NOT B[x = a.x], AFTER 3 TICKS);",
    "trailing": "EVENT e AS PATTERN SEQ(A a, B b, NOT C) WITHIN 5 POINTS;",
    "leading": "EVENT e AS PATTERN SEQ(NOT C, A a, B b) WITHIN 4 TICKS;",
    "nested": "EVENT e AS PATTERN (SEQ(A a, NOT B, AFTER 2 TICKS)) OR (SEQ(B b, NOT C) WITHIN 3 TICKS);",
    "kept": "EVENT e AS PATTERN SEQ(A a, B b, NOT C, AFTER 2 TICKS) KEEP FOR 5 TICKS;",
    "inherited": """
        EVENT d AS PATTERN SEQ(A a, NOT B, AFTER 2 TICKS);
        EVENT e AS PATTERN SEQ(d x, NOT C, AFTER 3 TICKS);
    """,
    "inherited_only": """
        EVENT d AS PATTERN SEQ(A a, NOT B) WITHIN 4 TICKS;
        EVENT e AS PATTERN SEQ(d x, C c) WITHIN 6 TICKS;
    """,
}
WAITS = {
    "no_wait": 0,
    "deadline": 3,
    "trailing": 4,
    "leading": 0,
    "nested": 5,
    "kept": 2,
    "inherited": 5,
    "inherited_only": 4,
}


def ticks(window: p.Window) -> int:
    unit = TimeUnit(Clock.TICKS)
    return window.count - 1 if isinstance(window, p.Points | p.EventCount) else unit(window)


@pytest.mark.parametrize("name", EVENTS)
def test_the_bound_is_the_sum_of_what_is_written(name: str) -> None:
    program = inkling.parse(STREAMS + EVENTS[name])
    assert sum(ticks(window) for window in wait_of(program.plan.events[-1], program.plan).conclusion) == WAITS[name]


@pytest.mark.parametrize("name", EVENTS)
def test_no_result_is_known_later_or_reaches_further_back(name: str) -> None:
    program = inkling.parse(STREAMS + EVENTS[name])
    event = program.plan.events[-1]
    reach = total_horizon(program.plan.events, TimeUnit(Clock.TICKS))
    seen = latest = 0
    for seed in range(30):
        rows = random_rows(Random(seed))
        times = {row["id"]: row["t"] for some in rows.values() for row in some}
        for result in oracle(program.plan, rows)[event.name]:
            seen += 1
            latest = max(latest, result.detected_at - max(times[one] for one in result.lineage))
            assert reach is None or result.detected_at - result.start <= reach
    assert seen > 0
    assert latest <= WAITS[name]


def random_rows(rng: Random) -> dict[str, list[dict[str, int | str]]]:
    rows: dict[str, list[dict[str, int | str]]] = {name: [] for name in "ABC"}
    for number in range(8):
        rows[rng.choice("ABC")].append({"id": f"e{number}", "x": rng.randint(0, 1), "t": rng.randint(0, 9)})
    return rows
