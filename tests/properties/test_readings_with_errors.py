"""Readings that may be off, on integers and on a grid of timestamps, mean the intervals that one can work out by hand.

The same data is written a second time as `TIME BETWEEN`, in whole ticks; what the definition says of that must come of
the readings, by the definition, in one go and pushed piece by piece.
"""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest
from tests.kit.probable_oracle import ProbableResult, probable_oracle

import inkling
from inkling import Sampling
from inkling.meaning.streams import plain
from inkling.model.time import Clock

TICK = timedelta(seconds=10)
ZERO = datetime(2026, 3, 1, tzinfo=UTC)
ERRORS = {"gate": 2, "hall": 1, "lab": 0}
EXACT = Sampling(exact_up_to=1_000_000)

INTERVALS = """
STREAM A(id STRING, x INT, lo INT, hi INT) ID id TIME BETWEEN lo AND hi;
STREAM B(id STRING, x INT, lo INT, hi INT) ID id TIME BETWEEN lo AND hi;
STREAM C(id STRING, x INT, t INT) ID id TIME t;
"""
INTEGERS = """
STREAM A(id STRING, x INT, t INT) ID id TIME t ± off AT MOST 4 TICKS;
STREAM B(id STRING, x INT, node STRING, t INT) ID id
    TIME t CLOCK node ERROR 1 TICKS, 2 TICKS FOR 'gate', 0 TICKS FOR 'lab';
STREAM C(id STRING, x INT, t INT) ID id TIME t;
"""
TIMESTAMPS = """
STREAM A(id STRING, x INT, t TIMESTAMP) ID id TIME t ± off AT MOST 40 SECONDS TICK 10 SECONDS;
STREAM B(id STRING, x INT, node STRING, t TIMESTAMP) ID id TICK 10 SECONDS
    TIME t CLOCK node ERROR 10 SECONDS, 2 TICKS FOR 'gate', 0 SECONDS FOR 'lab';
STREAM C(id STRING, x INT, t TIMESTAMP) ID id TIME t TICK 10 SECONDS;
"""
EVENTS = """
EVENT pair AS PATTERN SEQ(A a, B b[x <> a.x], C c) WITHIN 5 POINTS;
EVENT early AS PATTERN SEQ NEXT(A a, A b) WITHIN {two} PER END;
EVENT free(b.x AS x) AS PATTERN SEQ(B b, NOT C, A a) PER INTERVAL;
EVENT past AS PATTERN A a WHERE START(a) > {third} PER END;
"""


@pytest.mark.parametrize("on_grid", [False, True])
def test_readings_are_intervals(on_grid: bool) -> None:
    two, third = ("2 TICKS", "3") if not on_grid else ("20 SECONDS", "END(a) - 10 SECONDS")
    readings = inkling.parse((TIMESTAMPS if on_grid else INTEGERS) + EVENTS.format(two=two, third=third))
    intervals = inkling.parse(INTERVALS + EVENTS.format(two="2 TICKS", third="3" if not on_grid else "END(a) - 1"))
    clock = Clock.TIMESTAMP if on_grid else Clock.TICKS
    n_results = 0
    for seed in range(8):
        rng = random.Random(seed)
        raw, whole = _rows(rng, on_grid)
        expected = _told(probable_oracle(intervals.plan, whole), Fraction(1), 0)
        scale, zero = (TICK // timedelta(microseconds=1), plain(ZERO)) if on_grid else (1, 0)
        assert isinstance(zero, int)
        plainly = {name: [{**row, "t": plain(row["t"])} for row in some] for name, some in raw.items()}
        assert _told(probable_oracle(readings.plan, plainly, clock=clock), Fraction(scale), zero) == expected
        assert _found(readings.run_local(raw, sampling=EXACT).tables, on_grid) == _approximately(expected)
        n_results += sum(map(len, expected.values()))
    assert n_results > 60


def test_pushed_in_an_order_that_the_widest_interval_permits() -> None:
    """Rows come by their readings, so that first moments are out of order by more than a tick."""
    events = EVENTS.format(two="20 SECONDS", third="END(a) - 10 SECONDS").replace(
        "NOT C, A a)", "NOT C, A a) WITHIN 8 POINTS"
    )
    program = inkling.parse(TIMESTAMPS + events)
    sampling = Sampling(epsilon=0.2, delta=0.2, seed=2, exact_up_to=0, budget=1)
    n_behind = 0
    for seed in range(3):
        raw, _ = _rows(random.Random(seed), True)
        stream = program.open(sampling=sampling)
        told: dict[str, list[str]] = {event.name: [] for event in program.plan.events}
        latest = ZERO - TICK
        coming = [(row, source) for source, rows in raw.items() for row in rows]
        for row, name in sorted(coming, key=lambda one: _reading(one[0])):
            found = stream.push({name: [row]})
            if name == "A":
                first = _reading(row) - int(str(row["off"])) * TICK
                n_behind += first < latest - TICK
                latest = max(latest, first)
            assert not len(found.late), found.late.to_pylist()
            for event in told:
                told[event] += map(repr, found[event].to_pylist())
        last = stream.finish()
        whole = program.run_local(raw, sampling=sampling).tables
        for event, some in told.items():
            assert sorted([*some, *map(repr, last[event].to_pylist())]) == sorted(map(repr, whole[event].to_pylist()))
    assert n_behind


def _reading(row: dict[str, object]) -> datetime:
    time = row["t"]
    assert isinstance(time, datetime)
    return time


Rows = dict[str, list[dict[str, object]]]


def _rows(rng: random.Random, on_grid: bool) -> tuple[Rows, Rows]:
    """Readings, and the intervals that they mean."""
    raw: Rows = {"A": [], "B": [], "C": []}
    whole: Rows = {"A": [], "B": [], "C": []}
    for name in raw:
        for number in range(rng.randint(2, 3)):
            about: dict[str, object] = {"id": f"{name}{number}", "x": rng.randint(0, 1)}
            t, node = rng.randint(-2, 6), rng.choice(tuple(ERRORS))
            time = ZERO + t * TICK + rng.choice((0, 1, 9_999_999)) * timedelta(microseconds=1) if on_grid else t
            error = {"A": rng.randint(0, 2), "B": ERRORS[node], "C": 0}[name]
            raw[name].append({**about, "t": time, "off": error, "node": node})
            whole[name].append({**about, "t": t, "lo": t - error, "hi": t + error})
    return raw, whole


Told = dict[str, dict[tuple[object, ...], Fraction]]


def _told(results: dict[str, tuple[ProbableResult, ...]], scale: Fraction, zero: int) -> Told:
    return {
        name: {
            (one.values, one.lineage, (one.start - zero) / scale, (one.end - zero) / scale): one.probability
            for one in some
        }
        for name, some in results.items()
    }


def _found(tables: dict[str, object], on_grid: bool) -> dict[str, dict[tuple[object, ...], float]]:
    found: dict[str, dict[tuple[object, ...], float]] = {}
    for name, table in tables.items():
        found[name] = {}
        for row in table.to_pylist():  # type: ignore[attr-defined]
            start, end = ((row[edge] - ZERO) / TICK if on_grid else row[edge] for edge in ("start", "end"))
            values = (row["x"],) if "x" in row else ()
            lineage = tuple(row["lineage"]) if name == "pair" else None
            found[name][values, lineage, start, end] = row["probability"]
    return found


def _approximately(told: Told) -> object:
    return {
        name: pytest.approx({identity: float(probability) for identity, probability in some.items()}, abs=1e-9)
        for name, some in told.items()
    }
