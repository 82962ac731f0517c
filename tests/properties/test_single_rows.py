"""Rows pushed one by one: what a step per row gives, push by push, although most rows are deferred."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

import pytest
from tests.kit.arrival import coming_by, permitted_order, with_lateness
from tests.kit.arrow import arrow_streams, arrow_tables
from tests.kit.comparison import differences
from tests.kit.oracle import oracle
from tests.kit.programs import Case, Options, seeded_cases

import inkling
from inkling.local_stream import Found, LocalStream

SEEDS = range(3)
PROGRAMS_PER_SEED = 30
LATENESS = (0, 0, 2, 5)
ANY = Options(without=frozenset({"ties with order"}))
ROWS = 150
STREAMS = """
STREAM A(id STRING, k STRING, t INT, x INT, y DOUBLE, s STRING) ID id KEY k TIME t;
STREAM B(id STRING, k STRING, t INT, x INT, y DOUBLE, s STRING) ID id KEY k TIME t;
"""
EVENTS = (
    "SEQ NEXT (A a[x = 1], B b[y > 0.4 AND s = 'on']) PARTITION BY k PER END",
    "SEQ ANY (A a[x IN (1, 2)], B b[x <> 0], A c[3 = x]) WITHIN 9 TICKS PARTITION BY k",
    "SEQ NEXT (A a[x > 1]+, B b[x = 0]) WITHIN 8 TICKS",
    "SEQ STRICT (A a[x = 1 OR s = 'off'], A c[y >= 0.5 AND x > 1]) PARTITION BY k",
    "SEQ ANY (A a[s = 'on' AND x = 3], NOT B b[x = 1], A c[x = 2]) WITHIN 9 TICKS PARTITION BY k",
    "A a[x = 3] AND B b[x = 3 AND NOT s = 'on'] WITHIN 5 TICKS PARTITION BY k",
)
Arrival = tuple[str, dict[str, object]]


@pytest.mark.parametrize("seed", SEEDS)
def test_deferred_rows_eq_a_step_per_row(seed: int) -> None:
    rng = random.Random(seed)
    compared = [_compared(rng, case) for case in seeded_cases(seed + 3000, PROGRAMS_PER_SEED, ANY)]
    assert sum(n_deferred for n_deferred, _ in compared) > 0, "some rows wait"
    assert sum(n_results for _, n_results in compared) > PROGRAMS_PER_SEED // 3


@pytest.mark.parametrize("event", EVENTS)
def test_rows_of_which_most_are_deferred_eq_a_step_per_row(event: str) -> None:
    rng = random.Random(event)
    text = f"{STREAMS} EVENT e({'COUNT(a) AS n' if ']+' in event else 'a.id AS first'}) AS PATTERN {event};"
    case = Case(text, inkling.parse(text).plan, {name: _rows_of(rng, name) for name in "AB"}, {})
    n_deferred, n_results = _compared(rng, case)
    assert n_deferred > ROWS // 2
    assert n_results


OPERATIONS: dict[str, Callable[[LocalStream], object]] = {
    "replace": lambda stream: stream.replace(
        inkling.parse(f"{STREAMS} EVENT e(a.id AS first) AS PATTERN {EVENTS[1]}; EVENT f AS PATTERN {EVENTS[4]};")
    ),
    "change_windows": lambda stream: stream.change_windows("A", lateness="3 TICKS"),
    "open_matches": lambda stream: stream.open_matches("e").to_pylist(),
    "watermark": lambda stream: stream.watermark,
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_operations_see_deferred_rows(name: str) -> None:
    rng, operation = random.Random(name), OPERATIONS[name]
    text = f"{STREAMS} EVENT e(a.id AS first) AS PATTERN {EVENTS[1]};"
    case = Case(text, inkling.parse(text).plan, {stream: _rows_of(rng, stream) for stream in "AB"}, {})
    one, other = (inkling.parse(text).open() for _ in range(2))
    n_waiting = n_results = 0
    for number, (stream, row) in enumerate(_arrivals(rng, case)):
        if number % 40 == 39:
            n_waiting += one._deferring is not None and not one._deferring.is_empty
            assert operation(one) == operation(other)
        found, expected = one.push_event(stream, row), other.push({stream: [row]})
        _require_equal(found, expected, case)
        n_results += found.n_results
    _require_equal(one.finish(), other.finish(), case)
    assert n_waiting
    assert n_results


def test_rows_too_far_ahead_are_rejects() -> None:
    rng, time = random.Random(5), 0
    text = f"{STREAMS.replace('TIME t;', 'TIME t AHEAD 5 TICKS;')} EVENT e AS PATTERN {EVENTS[1]};"
    case = Case(text, inkling.parse(text).plan, {}, {})
    one, other = (inkling.parse(text).open() for _ in range(2))
    n_rejects = n_results = 0
    for stream in "AB" * ROWS:
        time += rng.choice([0, 0, 1, 1, 5, 6])
        row = {**rng.choice(_rows_of(rng, stream)), "id": f"{stream}{time}", "k": "p", "t": time}
        found, expected = one.push_event(stream, row), other.push({stream: [row]})
        _require_equal(found, expected, case)
        time -= 6 * len(found.rejects)
        n_rejects, n_results = n_rejects + len(found.rejects), n_results + found.n_results
    assert n_rejects
    assert n_results


@pytest.mark.parametrize("seed", SEEDS)
def test_single_rows_eq_definition(seed: int) -> None:
    rng, n_results = random.Random(seed), 0
    for case in seeded_cases(seed + 4000, PROGRAMS_PER_SEED, ANY):
        stream = inkling.parse(case.text).open(arrow_tables(case.plan, case.tables), unbounded=True)
        rows: dict[str, list[dict[str, object]]] = {one.schema.name: [] for one in case.plan.streams}
        results: dict[str, list[dict[str, object]]] = {event.name: [] for event in case.plan.events}
        founds = []
        for name, row in _arrivals(rng, case):
            rows[name].append(row)
            founds.append(stream.push_event(name, row))
        for found in [*founds, stream.finish()]:
            for name, table in found.tables.items():
                results[name] += table.to_pylist()
        expected = oracle(case.plan, rows, case.tables)
        n_results += sum(map(len, expected.values()))
        wrong = differences(case.plan, expected, results)
        assert not wrong, "\n".join([str(case), *wrong])
    assert n_results > PROGRAMS_PER_SEED // 3


def _compared(rng: random.Random, case: Case) -> tuple[int, int]:
    """Pushes all rows both ways; returns how many pushes left rows that wait, and the number of results.

    Rows may be late, bad or repeated; the streams are also read, declared idle and restored in between.
    """
    n_deferred = n_results = 0
    program = inkling.parse(with_lateness(case.text, rng.choice(LATENESS)))
    tables = arrow_tables(case.plan, case.tables)
    one, other = (program.open(tables, unbounded=True) for _ in range(2))
    for name, row in _arrivals(rng, case, disorder=rng.choice([0, 0, 1, 4]), repeats=rng.choice([0, 0, 0.1])):
        found, expected = one.push_event(name, row), other.push({name: [row]})
        _require_equal(found, expected, case)
        n_deferred += one._deferring is not None and not one._deferring.is_empty
        n_results += expected.n_results
        one = _used(rng, one, other, program, case, tables)
    _require_equal(one.finish(), other.finish(), case)
    return n_deferred, n_results


def _rows_of(rng: random.Random, name: str) -> list[dict[str, object]]:
    """Rows of which some have null, an integer for a DOUBLE, the same time as another one, or a bad value."""
    return [
        {
            "id": f"{name}{number}",
            "k": rng.choice(["p", "q", "é", None]),
            "t": number // 2 + rng.randint(0, 1),
            "x": rng.choice([0, 1, 2, 3, 3, None]),
            "y": rng.choice([0.1, 0.45, 0.5, -0.0, 1, None]),
            "s": rng.choice(["on", "off", None]),
        }
        for number in range(ROWS)
    ]


def _arrivals(rng: random.Random, case: Case, *, disorder: int = 0, repeats: float = 0) -> list[Arrival]:
    """The rows of all streams, about in the order of their times."""
    arrivals: list[Arrival] = []
    times: list[int | None] = []
    for stream in case.plan.streams:
        given = arrow_streams(case.plan, case.rows)[stream.schema.name]
        for row, time in zip(given.to_pylist(), given[coming_by(stream.schema)].to_pylist(), strict=True):
            for _ in range(1 + (rng.random() < repeats)):
                arrivals.append((stream.schema.name, row))
                times.append(time)
    return [arrivals[place] for place in permitted_order(rng, times, disorder)]


def _used(
    rng: random.Random,
    one: LocalStream,
    other: LocalStream,
    program: inkling.Program,
    case: Case,
    tables: Mapping[str, object],
) -> LocalStream:
    """The first stream after something that shows its state, and the same with the second."""
    choice = rng.random()
    if choice < 0.02:
        assert one.watermark == other.watermark
    elif choice < 0.04:
        name = rng.choice([stream.schema.name for stream in case.plan.streams])
        _require_equal(one.idle(name), other.idle(name), case)
    elif choice < 0.06:
        return LocalStream.restore(program, one.snapshot(), tables)
    return one


def _require_equal(found: Found, expected: Found, case: Case) -> None:
    assert found.late.to_pylist() == expected.late.to_pylist(), str(case)
    assert found.rejects.to_pylist() == expected.rejects.to_pylist(), str(case)
    assert found.n_results == expected.n_results, str(case)
    for name, table in expected.tables.items():
        assert found.tables[name].to_pylist() == table.to_pylist(), str(case)
