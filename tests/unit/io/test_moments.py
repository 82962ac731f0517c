"""Times that are read around a reading, and on a grid: when events may have happened, and which rows do not say."""

from __future__ import annotations

import pyarrow as pa
import pytest

import inkling
from inkling.io.checks import checked
from inkling.io.moments import largest_error
from inkling.io.normalize import END, START, Normalizer, normalize
from inkling.model.schema import StreamSchema
from inkling.model.time import FARTHEST, Clock

SECOND = 1_000_000


def schema(options: str, columns: str = "node STRING, t INT") -> StreamSchema:
    return inkling.parse(f"STREAM A({columns}) {options};").plan.streams[0].schema


def read(declared: StreamSchema, **columns: pa.Array) -> tuple[list[tuple[int, int]], list[tuple[str, str]]]:
    """Moments of good rows and reasons for the others, which are the same batch by batch."""
    raw = pa.table(columns)
    found = normalize(raw, declared)
    again = Normalizer(declared, (), found.clock)(raw)
    assert (again.rows.to_pylist(), again.rejects) == (found.rows.to_pylist(), found.rejects)
    good, rejected = checked(declared, found.rows)
    rejects = pa.concat_tables([found.rejects, rejected]).to_pylist()
    moments = list(zip(good[START].to_pylist(), good[END].to_pylist(), strict=True))
    return moments, [(row["reason"], row["detail"]) for row in rejects]


def times(*seconds: float) -> pa.Array:
    return pa.array([round(one * SECOND) for one in seconds], pa.timestamp("us"))


def test_around_a_reading() -> None:
    assert read(schema("TIME t ± 3 TICKS"), node=["a"], t=[10]) == ([(7, 13)], [])
    assert read(schema("TIME t ± 20 SECONDS TICK 10 SECONDS"), node=["a"], t=[10]) == ([(8, 12)], [])


def test_errors_in_a_column() -> None:
    moments, rejected = read(
        schema("TIME t ± off"), node=["a"] * 5, t=[10, 10, 10, 10, FARTHEST], off=[0, 4, None, -2, 1]
    )
    assert moments == [(10, 10), (6, 14)]
    assert rejected == [
        ("null error", "`off` is missing"),
        ("bad error", "`off` is -2, expected 0 or more"),
        ("bad time", f"`t` is {FARTHEST}, expected a time within {FARTHEST} of zero, errors included"),
    ]


def test_an_error_that_no_time_can_hold() -> None:
    declared = schema("TIME t ± off TICK 1 SECONDS", "t TIMESTAMP")
    most = largest_error(declared)
    _, rejected = read(declared, t=times(1, 1), off=[most + 1, 2**63 - 1])
    assert rejected == [("bad error", f"`off` is {off}, expected at most {most}") for off in (most + 1, 2**63 - 1)]


def test_errors_by_clock() -> None:
    declared = schema("TIME t CLOCK node ERROR 1 TICKS, 5 TICKS FOR 'gate', 0 TICKS FOR 'lab'")
    moments, rejected = read(declared, node=["gate", "lab", "hall", None, ""], t=[10] * 5)
    assert moments == [(5, 15), (10, 10), (9, 11), (9, 11)]
    assert rejected == [("null clock", "`node` is missing")]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("TIME t TICK 10 SECONDS", [(0, 0), (10, 10), (-10, -10)]),
        ("TIME t ± 10 SECONDS TICK 10 SECONDS", [(-10, 10), (0, 20), (-20, 0)]),
        ("TIME t ± off TICK 10 SECONDS", [(0, 0), (0, 20), (-30, 10)]),
        ("TIME BETWEEN t AND u TICK 10 SECONDS", [(0, 10), (10, 10), (-10, 0)]),
        ("TIME FROM t TO u TICK 10 SECONDS", [(0, 10), (10, 10), (-10, 0)]),
    ],
)
def test_timestamps_are_rounded_down_to_whole_ticks(options: str, expected: list[tuple[int, int]]) -> None:
    declared = schema(options, "t TIMESTAMP, u TIMESTAMP")
    moments, rejected = read(declared, t=times(9.9, 10, -0.1), u=times(10, 19.999999, 0), off=[0, 1, 2])
    assert (moments, rejected) == ([(lo * SECOND, hi * SECOND) for lo, hi in expected], [])


def test_the_times_of_a_grid_show_their_tick() -> None:
    declared = schema("TIME t TICK 10 SECONDS", "t TIMESTAMP")
    assert normalize(pa.table({"t": times(19.5)}), declared).rows["t"].to_pylist() == [10 * SECOND]


def test_intervals_that_are_too_wide() -> None:
    moments, rejected = read(schema("TIME BETWEEN t AND u AT MOST 3 TICKS", "t INT, u INT"), t=[1, 1, 1], u=[4, 5, 11])
    assert moments == [(1, 4)]
    assert rejected == [
        ("too wide", "`t` and `u` are 4 ticks apart, more than 3 ticks"),
        ("too wide", "`t` and `u` are 10 ticks apart, more than 3 ticks"),
    ]
    declared = schema("TIME t ± off AT MOST 40 SECONDS TICK 10 SECONDS", "t TIMESTAMP")
    _, rejected = read(declared, t=times(5, 5), off=[2, 3])
    assert rejected == [("too wide", "the first and last moment of `t` are 6 ticks apart, more than 4 ticks")]
    _, rejected = read(
        schema("TIME BETWEEN t AND u AT MOST 1 MILLISECONDS", "x INT"), x=[1], t=times(0), u=times(0.002)
    )
    assert rejected == [("too wide", "`t` and `u` are 2000 microseconds apart, more than 1000 microseconds")]


def test_weights_are_one_per_tick_of_the_grid() -> None:
    declared = schema("TIME BETWEEN t AND u WEIGHTS w TICK 10 SECONDS", "t TIMESTAMP")
    moments, rejected = read(declared, t=times(5, 5), u=times(25, 25), w=[[1.0, 0.0, 3.0], [1.0, 1.0]])
    assert moments == [(0, 20 * SECOND)]
    assert rejected == [("weight count", "`w` has 2 weights for 3 ticks")]


def test_a_grid_needs_timestamps() -> None:
    declared = schema("TIME t TICK 10 SECONDS", "t TIMESTAMP")
    assert normalize(pa.table({"t": ["2026-01-01 00:00:19"]}), declared).clock is Clock.TIMESTAMP
    with pytest.raises(inkling.errors.InputError, match="expected timestamps"):
        normalize(pa.table({"t": [19]}), declared)
