"""Uncertain streams in sampled worlds, on one core: events times worlds per second, and how cost grows with either."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from benchmarks.meter import best_of
from benchmarks.results import Baseline, Goal, Row, quantity
from benchmarks.sizes import Sizes
from inkling.evaluators.sampling import Sampling
from inkling.query import parse

LEAST_REGULAR, LEAST_SEQUENCE = 50e6, 5e6
MOST_FOR_TEN_TIMES = 11.0

REGULAR = """
STREAM At(person INT, room STRING, t INT) KEY person TIME t PROBABILITY p;
EVENT moved(person) AS
  PATTERN SEQ NEXT(At a[room = 'a'], At c[room = 'c'])
  PARTITION BY person PER END;
"""
SEQUENCE = """
STREAM A(id INT, task INT, lo INT) ID id TIME BETWEEN lo AND hi;
STREAM B(id INT, task INT, lo INT) ID id TIME BETWEEN lo AND hi;
STREAM C(id INT, task INT, lo INT) ID id TIME BETWEEN lo AND hi;
EVENT done AS
  PATTERN SEQ(A a, B b, C c)
  WHERE a.task = b.task AND b.task = c.task
  WITHIN 300 TICKS;
"""


def alternatives(n_events: int, seed: int) -> dict[str, pa.Table]:
    """Places of people: three alternatives for each of a hundred times."""
    n_people = max(1, n_events // 100)
    person, t = np.repeat(np.arange(n_people), 300), np.tile(np.repeat(np.arange(100), 3), n_people)
    shares = np.random.default_rng(seed).dirichlet([1.0, 1.0, 1.0, 0.3], n_people * 100)[:, :3].reshape(-1)
    rooms = pa.array(np.tile(np.array(["a", "b", "c"]), n_people * 100))
    return {"At": pa.table({"person": person, "room": rooms, "t": t, "p": np.round(shares, 6)})}


def imprecise(n_events: int, seed: int) -> dict[str, pa.Table]:
    """Three streams of events known to five ticks, one every fifth of a tick; one in some hundred ends a match."""
    found = {}
    for number, name in enumerate("ABC"):
        rng = np.random.default_rng(seed + number)
        n = n_events // 3
        low = np.sort(rng.integers(0, max(1, n_events // 5), n))
        columns = {"id": np.arange(n), "task": rng.integers(0, max(1, n_events // 2), n), "lo": low}
        found[name] = pa.table({**columns, "hi": low + rng.integers(0, 5, n)})
    return found


def regular(sizes: Sizes) -> Iterator[Row]:
    return _rows("regular pattern, three alternatives", REGULAR, alternatives, sizes.world_events, sizes, LEAST_REGULAR)


def sequence(sizes: Sizes) -> Iterator[Row]:
    n_events = sizes.world_events // 2
    return _rows("three steps, equality, window, imprecise times", SEQUENCE, imprecise, n_events, sizes, LEAST_SEQUENCE)


def _rows(name: str, text: str, made: object, n_events: int, sizes: Sizes, least: float) -> Iterator[Row]:
    assert callable(made)
    program = parse(text)
    few, many = made(n_events // 10, sizes.seed), made(n_events, sizes.seed)
    loose = Sampling(epsilon=sizes.world_epsilon, delta=0.01, exact_up_to=0, budget=1)
    close = Sampling(epsilon=sizes.world_epsilon / 10**0.5, delta=0.01, exact_up_to=0, budget=1)

    def found(rows: dict[str, pa.Table], sampling: Sampling) -> int:
        return sum(table.num_rows for table in program.run_local(rows, sampling=sampling).tables.values())

    fewer, plain, finer = best_of(
        sizes.repeats, lambda: found(few, loose), lambda: found(many, loose), lambda: found(many, close)
    )
    cells = n_events * close.n_worlds
    times = close.n_worlds / loose.n_worlds
    yield Row(
        name,
        f"{quantity(n_events)} events, {quantity(close.n_worlds)} worlds",
        finer.seconds,
        finer.cpu_seconds,
        cells,
        f"{quantity(finer.answer)} results",
        (
            Baseline.of(f"{quantity(loose.n_worlds)} worlds", plain),
            Baseline.of(f"{quantity(n_events // 10)} events, {quantity(loose.n_worlds)} worlds", fewer),
        ),
        (
            Goal("world-events/s", cells / finer.seconds, least=least),
            Goal("× cost for 10 × worlds", finer.seconds / plain.seconds, most=MOST_FOR_TEN_TIMES * times / 10),
            Goal("× cost for 10 × events", plain.seconds / fewer.seconds, most=MOST_FOR_TEN_TIMES),
        ),
    )


BENCHMARKS = {"regular pattern in worlds": regular, "sequence in worlds": sequence}
