"""Declarations of imprecise times and of timestamps on a grid: what they mean, and what they contradict."""

from __future__ import annotations

from fractions import Fraction

import pytest

import inkling
from inkling.analysis.clock import time_unit
from inkling.errors import InputError, ProgramError
from inkling.logical.plan import StreamPlan
from inkling.model.time import Clock, Duration
from inkling.model.uncertainty import ClockErrors, ErrorColumn, ImpreciseTime
from inkling.model.watermarks import Clocks, Watermarks
from inkling.physical.streams import lateness_of

SECOND = 1_000_000


def bound(options: str, columns: str = "node STRING, t INT") -> StreamPlan:
    return inkling.parse(f"STREAM A({columns}) {options};").plan.streams[0]


def rejected(text: str) -> str:
    with pytest.raises(ProgramError) as raised:
        inkling.parse(text)
    (diagnostic,) = raised.value.diagnostics
    return f"{diagnostic.code}: {diagnostic.message} {diagnostic.label}"


def test_errors_are_lengths_columns_or_depend_on_the_clock() -> None:
    two, five = Duration(Fraction(2), "TICKS"), Duration(Fraction(5), "TICKS")
    assert bound("TIME t ± 5 TICKS").schema.uncertainty == ImpreciseTime("t", "t", error=five)
    assert bound("TIME t ± off AT MOST 5 TICKS").schema.uncertainty == ImpreciseTime(
        "t", "t", error=ErrorColumn("off"), widest=five
    )
    assert bound("TIME t CLOCK node ERROR 2 TICKS, 5 TICKS FOR 'gate'").schema.uncertainty == ImpreciseTime(
        "t", "t", error=ClockErrors("node", two, (("gate", five),))
    )


def test_ticks_of_timestamps_are_a_grid_and_ticks_of_integers_are_not() -> None:
    stamped = bound("TIME t ± 2 TICKS TICK 10 SECONDS", "t TIMESTAMP").schema
    assert (stamped.grid, stamped.uncertainty) == (
        10 * SECOND,
        ImpreciseTime("t", "t", step=10 * SECOND, error=Duration(Fraction(2), "TICKS")),
    )
    for columns in ("t INT", "node STRING"):
        counted = bound("TIME t ± 20 SECONDS TICK 10 SECONDS", columns).schema
        assert (counted.grid, counted.units(Duration(Fraction(20), "SECONDS"))) == (None, 2)


def test_points_of_a_grid_are_lengths() -> None:
    text = """
    STREAM A(t TIMESTAMP) TIME t TICK 15 SECONDS;
    EVENT e AS PATTERN SEQ(A a, (SEQ(A b, A c) WITHIN 2 POINTS)) WITHIN 5 POINTS;
    """
    program = inkling.parse(text)
    assert program.plan.events[0].within == Duration(Fraction(60), "SECONDS")
    rows = [{"t": f"2026-01-01 00:00:{second:02d}"} for second in (0, 16, 31, 59)]
    found = program.run_local({"A": rows}).tables["e"]
    assert sorted(found["lineage"].to_pylist()) == [[1, 2, 3], [1, 3, 4], [2, 3, 4]]


@pytest.mark.parametrize(
    ("stream", "message"),
    [
        ("A(t INT) TIME t AT MOST 5 TICKS", "INK0380: AT MOST limits imprecise times, and those of `A` are certain"),
        (
            "A(n STRING) TIME t CLOCK n ERROR 1 TICKS, 2 TICKS FOR 'g', 3 TICKS FOR 'g'",
            "INK0381: the clock 'g' has two errors: 2 TICKS and 3 TICKS",
        ),
        (
            "A(t INT) TIME t ± 3 TICKS AT MOST 5 TICKS",
            "INK0382: AT MOST 5 TICKS is shorter than the interval of ± 3 TICKS",
        ),
        (
            "A(n STRING) TIME t CLOCK n ERROR 1 SECONDS, 1 MINUTES FOR 'g' AT MOST 90 SECONDS",
            "INK0382: AT MOST 90 SECONDS is shorter than the interval of ± 1 MINUTES",
        ),
        ("A(t INT) TIME t CLOCK node ERROR 1 TICKS", "INK0204: `A` has no column `node`"),
        ("A(node INT) TIME t CLOCK node ERROR 1 TICKS", "INK0216: CLOCK needs a column of type STRING, found INT"),
        ("A(off STRING) TIME t ± off", "INK0216: ± needs a column of type INT, found STRING"),
        ("A(x INT, t INT) TIME t ± 1 TICKS ORDER BY x", "INK0302: ORDER BY cannot be combined with TIME … ±"),
        ("A(x INT) TIME t ± x KEY x", "INK0302: `x` cannot be both KEY and ±"),
        ("A(t TIMESTAMP) TIME t ± 3 TICKS", "TICKS need a time column of integers"),
        ("A(x INT) TIME t ± 0.5 TICKS", "0.5 TICKS is not a whole number of ticks"),
        (
            "A(t TIMESTAMP) TIME t ± 1500 MILLISECONDS TICK 1 SECONDS",
            "1500 MILLISECONDS is not a whole number of ticks, which last 1 SECONDS each",
        ),
        (
            "A(t TIMESTAMP) TIME t TICK 1 SECONDS; EVENT e AS PATTERN SEQ(A a, A b) WITHIN 2.5 SECONDS",
            "2.5 SECONDS is not a whole number of ticks, which last 1 SECONDS each",
        ),
        ("A(t TIMESTAMP) TIME t TICK 0.5 MICROSECONDS", "INK0304: a tick of timestamps lasts whole microseconds"),
        (
            "A(n INT, t TIMESTAMP) TIME t TICK 1 SECONDS NUMBERED BY n",
            "INK0302: TICK cannot be combined with NUMBERED BY",
        ),
    ],
)
def test_contradictions(stream: str, message: str) -> None:
    assert message in rejected(f"STREAM {stream};")


def test_streams_of_one_run_have_one_tick() -> None:
    plan = inkling.parse("STREAM A(x INT) TIME t TICK 1 SECONDS; STREAM B(x INT) TIME t TICK 1 MINUTES;").plan
    with pytest.raises(InputError, match="one tick of `A` lasts 1 SECONDS and one of `B` 1 MINUTES"):
        time_unit(plan, {"A": Clock.TICKS, "B": Clock.TICKS})


def test_errors_have_to_fit_what_the_times_of_the_data_count() -> None:
    program = inkling.parse("STREAM A(x INT) TIME t ± 2 SECONDS; EVENT e AS PATTERN SEQ(A a, A b);")
    with pytest.raises(InputError, match="2 SECONDS needs timestamps"):
        program.run_local({"A": [{"x": 1, "t": 5}]})


@pytest.mark.parametrize(
    ("options", "late"),
    [
        ("TIME BETWEEN t AND u", 0),
        ("TIME BETWEEN t AND u LATENESS 2 TICKS", 2),
        ("TIME BETWEEN t AND u AT MOST 9 TICKS LATENESS 2 TICKS", 11),
        ("TIME t ± 4 TICKS", 8),
        ("TIME t ± off", 0),
        ("TIME t ± off AT MOST 6 TICKS", 6),
        ("TIME t CLOCK node ERROR 1 TICKS, 3 TICKS FOR 'gate'", 6),
        ("TIME t CLOCK node ERROR 1 TICKS, 3 TICKS FOR 'gate' AT MOST 7 TICKS", 6),
    ],
)
def test_first_moments_may_be_out_of_order_by_the_widest_interval(options: str, late: int) -> None:
    plan = inkling.parse(f"STREAM A(node STRING, t INT, u INT) {options};").plan
    assert lateness_of(["A"], plan, time_unit(plan, {"A": Clock.TICKS})) == {"A": late}


def test_how_far_time_has_come_with_intervals_of_ten_points() -> None:
    plan = inkling.parse("STREAM A(x INT, t INT, u INT) TIME BETWEEN t AND u AT MOST 9 TICKS;").plan
    clocks = Clocks(lateness_of(["A"], plan, time_unit(plan, {"A": Clock.TICKS})))
    told = []
    for lower in (1, 1, 5, 16):
        clocks = clocks.after(Watermarks({"A": lower}))
        told.append(clocks.watermark)
    assert told == [-9, -9, -5, 6]
    assert clocks.watermark >= 5, "a row that begins at 5 is late now"
    assert clocks.after(Watermarks({"A": 30})).watermark == 1 + 19, "an event at 1 is done with a window of 20 points"
