"""Recursive events over one batch and pushed: the closure of a chain, policies, running sums, and how they grow."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa

import inkling
from benchmarks import etalis
from benchmarks.meter import Measured, best_of, measured
from benchmarks.results import Baseline, Goal, Row, quantity
from benchmarks.sizes import Sizes

MOST_CLOSURE_S, LEAST_RATE, LEAST_ETALIS = 1.0, 50_000, 10
MOST_SUM_S, MOST_PUSH_MS = 0.2, 1.0
MOST_GROWTH = 1.5
LOOP = "a loop in Python for this one rule"

EDGES = "STREAM Edge(id BIGINT, t BIGINT, x BIGINT, y BIGINT) ID id TIME t;"
CLOSURE = f"""{EDGES}
EVENT path(e.x AS x, e.y AS y) AS PATTERN Edge e PER INTERVAL;
EVENT path(p.x AS x, e.y AS y) AS PATTERN SEQ(path p, Edge e[x = p.y]) PER INTERVAL;
"""
ETALIS_CLOSURE = """
path(X, Y) <- edge(X, Y).
path(X, Z) <- path(X, Y) seq edge(Y, Z).
"""
CHRONOLOGICAL = CLOSURE.replace("PER INTERVAL", "CONSUME CHRONOLOGICAL PER INTERVAL")
RUNNING_SUM = """STREAM A(id BIGINT, t BIGINT, x BIGINT) ID id TIME t;
EVENT total(a.x AS n) AS PATTERN A a[x = 0] PER INTERVAL;
EVENT total(s.n + a.x AS n) AS PATTERN NOT A BETWEEN total s AND A a PER INTERVAL;
"""

Ids = tuple[int, ...]


def closure(sizes: Sizes) -> Iterator[Row]:
    """W7 without a policy: every path of a chain of edges is a result, with the edges that it depends on."""
    program, least = inkling.parse(CLOSURE), None
    for n in sizes.chained_edges:
        edges = _chain(n)
        rows = edges.to_pylist()
        own, loop = best_of(sizes.repeats, lambda edges=edges: _batch(program, edges), lambda rows=rows: _paths(rows))
        goals = (Goal("seconds", own.cpu_seconds, most=MOST_CLOSURE_S),) if n == 500 else ()
        least = least or own
        yield _row(f"closure of {quantity(n)} chained edges", n, own, Baseline.of(LOOP, loop), _smallest(least), *goals)


def beside_etalis(sizes: Sizes) -> Iterator[Row]:
    if not etalis.is_present("closure of chained edges"):
        return
    program, n = inkling.parse(CLOSURE), sizes.chained_edges[-2]
    edges = _chain(n)
    (own,) = best_of(sizes.repeats, lambda: _batch(program, edges))
    events = ((f"edge({one['x']}, {one['y']})", one["t"] + 1) for one in edges.to_pylist())
    other = etalis.etalis(ETALIS_CLOSURE, events, "path", 2)
    paths = {(str(one), str(last)) for one in range(n) for last in range(one + 1, n + 1)}
    assert other.answer == paths, (len(other.answer), len(paths))
    assert own.answer == len(paths), (own.answer, len(paths))
    goal = Goal("× ETALIS", other.cpu_seconds / own.cpu_seconds, least=LEAST_ETALIS)
    name = f"closure of {quantity(n)} chained edges beside ETALIS"
    yield _row(name, n, own, Baseline.of(etalis.name(), other), None, goal)


def chronological(sizes: Sizes) -> Iterator[Row]:
    """W7: each path is extended once."""
    program, least = inkling.parse(CHRONOLOGICAL), None
    for n in (sizes.recursive_events // 4, sizes.recursive_events):
        edges = _chain(n)
        (own,) = best_of(sizes.repeats, lambda edges=edges: _batch(program, edges))
        least = least or own
        goal = Goal("events/s", n / own.cpu_seconds, least=LEAST_RATE)
        yield _row(f"closure of {quantity(n)} edges, CONSUME CHRONOLOGICAL", n, own, _smallest(least), None, goal)


def running_sum(sizes: Sizes) -> Iterator[Row]:
    """A sum that each event moves on, at once and event by event."""
    program, least = inkling.parse(RUNNING_SUM), None
    for n in (sizes.recursive_events // 5, sizes.recursive_events):
        numbers = _numbers(n)
        own, loop = best_of(
            sizes.repeats, lambda numbers=numbers: _batch(program, numbers), lambda numbers=numbers: _sums(numbers)
        )
        least = least or own
        goal = Goal("seconds", own.cpu_seconds, most=MOST_SUM_S)
        yield _row(f"running sum of {quantity(n)} events", n, own, Baseline.of(LOOP, loop), _smallest(least), goal)
    n = sizes.recursive_events
    pushed = measured(lambda: _pushed(program, _numbers(n)))
    tenth = n // 10
    first, last = (1e3 * float(np.median(part)) for part in (pushed.answer[tenth : 2 * tenth], pushed.answer[-tenth:]))
    looped = measured(lambda: _sums(_numbers(n)))
    yield Row(
        f"running sum of {quantity(n)} events, one by one",
        f"{quantity(n)} events",
        pushed.seconds,
        pushed.cpu_seconds,
        n,
        f"median {first:.2f} ms at first, {last:.2f} ms at last",
        (Baseline.of(LOOP, looped),),
        (Goal("ms per event", last, most=MOST_PUSH_MS), Goal("growth of an event", last / first, most=MOST_GROWTH)),
    )


def _row(name: str, n: int, own: Measured[int], baseline: Baseline, other: Baseline | None = None, *goals: Goal) -> Row:
    return Row(
        name,
        f"{quantity(n)} events",
        own.seconds,
        own.cpu_seconds,
        n,
        f"{quantity(own.answer)} results",
        (baseline,) if other is None else (baseline, other),
        goals,
    )


def _smallest(least: Measured[int]) -> Baseline:
    return Baseline.of(f"the smallest size: {quantity(least.answer)} results", least)


def _batch(program: inkling.Program, rows: pa.Table) -> int:
    """The number of results."""
    (name,) = (stream.schema.name for stream in program.plan.streams)
    return sum(len(table) for table in program.run_local({name: rows}).tables.values())


def _pushed(program: inkling.Program, rows: pa.Table) -> list[float]:
    """Processor seconds of each push."""
    stream, times = program.open(unbounded=True), []
    for row in rows.to_pylist():
        started = time.process_time()
        stream.push_event("A", row)
        times.append(time.process_time() - started)
    return times


def _chain(n: int) -> pa.Table:
    number = np.arange(n)
    return pa.table({"id": number, "t": number, "x": number, "y": number + 1})


def _numbers(n: int) -> pa.Table:
    number = np.arange(n)
    return pa.table({"id": number, "t": number, "x": np.where(number > 0, 1 + number % 7, 0)})


def _paths(edges: list[dict[str, int]]) -> int:
    """The paths that end at each node, with their edges."""
    ending: dict[int, list[tuple[int, Ids]]] = defaultdict(list)
    for edge in edges:
        known = ending[edge["x"]]
        ending[edge["y"]] += [(edge["x"], (edge["id"],)), *((first, (*ids, edge["id"])) for first, ids in known)]
    return sum(map(len, ending.values()))


def _sums(rows: pa.Table) -> int:
    """The sum after each event, with the events so far."""
    total, ids, found = 0, (), []
    for row in rows.to_pylist():
        total, ids = total + row["x"], (*ids, row["id"])
        found.append((total, ids))
    return len(found)


BENCHMARKS: dict[str, Callable[[Sizes], Iterator[Row]]] = {
    "closure": closure,
    "closure beside ETALIS": beside_etalis,
    "closure under a policy": chronological,
    "running sum": running_sum,
}
