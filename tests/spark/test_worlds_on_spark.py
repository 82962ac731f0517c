"""Uncertain streams on Spark: the same worlds, and so the same probabilities, as in this process."""

from __future__ import annotations

import random
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import inkling
from inkling.errors import InputError
from inkling.query import Program
from inkling.results import Results
from inkling.worlds.settings import Sampling

Row = dict[str, object]

KEYS = [f"k{number}" for number in range(7)]
ROOMS = ("lab", "hall", "yard")
COARSE = Sampling(epsilon=0.1, delta=0.1, seed=11, exact_up_to=32)

STREAMS = """
    STREAM Vague(id STRING, k STRING, v DOUBLE) ID id KEY k TIME BETWEEN lo AND hi WEIGHTS w;
    STREAM At(k STRING, room STRING) KEY k TIME t PROBABILITY p;
    STREAM Seen(k STRING, room STRING) KEY k TIME t PROBABILITY p GIVEN before;
    STREAM Gate(k STRING, role STRING) KEY k TIME t NUMBERED BY n SEGMENTS ROLE role;
    STREAM Sure(id STRING, k STRING, v DOUBLE, t BIGINT) ID id TIME t;
"""

BY_KEY = STREAMS + """
    EVENT plain(a.id AS first, b.id AS second) AS PATTERN SEQ(Sure a[v < 0.4], Sure b[v > 0.6])
        WITHIN 5 TICKS PARTITION BY k;
    EVENT rise(k, b.v AS v) AS PATTERN SEQ(Vague a[v < 0.4], Vague b[v > 0.6]) WITHIN 5 TICKS PARTITION BY k;
    EVENT moved(a.room AS old, b.room AS new) AS PATTERN SEQ NEXT(At a, At b[room != 'hall']) WITHIN 9 TICKS
        PARTITION BY k PER END RETURN START(a) AS since;
    EVENT walked(k, b.room AS room) AS PATTERN SEQ(Seen a[room = 'lab'], Seen b[room = 'yard']) WITHIN 9 TICKS
        PARTITION BY k PER INTERVAL CONFIDENCE > 0.2;
    EVENT open_close() AS PATTERN SEQ STRICT(Gate a[role = 'up'], Gate b[role = 'down']) PARTITION BY k;
    EVENT both(k, r.v AS v, w.room AS room) AS PATTERN SEQ(rise r, walked w) WITHIN 15 TICKS PARTITION BY k TOP 9;
    EVENT near(s.id AS sure) AS PATTERN SEQ(Sure s, NOT At[room = 'lab'], both b) WITHIN 25 TICKS PARTITION BY k;
    EVENT ever(k) AS PATTERN SEQ(Vague a[v > 0.9], Vague b[v < 0.1]) PARTITION BY k PER VALUES SAMPLED;
"""

IN_PARTS_BY_KEY = STREAMS + """
    EVENT rise(k, b.v AS v) AS PATTERN SEQ(Vague a[v < 0.5], Vague b[v > 0.4]) WITHIN 6 TICKS PARTITION BY k PER END;
    EVENT moved(k, b.room AS room) AS PATTERN SEQ NEXT(At a, At b[room != 'hall']) WITHIN 9 TICKS PARTITION BY k
        RETURN a.room AS old CONFIDENCE >= 0.25;
    EVENT after_rise(m.old AS old) AS PATTERN SEQ(rise r, moved m) WITHIN 20 TICKS PARTITION BY k TOP 5;
"""

WITHOUT_KEY = STREAMS + """
    EVENT rise(a.k AS one, b.k AS other) AS PATTERN SEQ(Vague a[v < 0.5], Vague b[v > 0.5]) WITHIN 6 TICKS
        RETURN b.v - a.v AS by;
    EVENT meet(a.room AS room) AS PATTERN SEQ(At a, Sure s[v < 0.5]) WITHIN 4 TICKS PER INTERVAL TOP 6;
    EVENT late(m.room AS room) AS PATTERN SEQ(rise r, meet m) WITHIN 15 TICKS PER END SAMPLED;
"""

UNDECIDED = STREAMS + """
    EVENT own(b.v AS v) AS PATTERN SEQ(Vague a[v < 0.4], Vague b[v > 0.6]) WITHIN 5 TICKS PARTITION BY k
        CONFIDENCE >= 0.5;
    EVENT others(b.room AS room) AS PATTERN SEQ NEXT(Seen a, Seen b[room = 'lab']) WITHIN 3 TICKS CONFIDENCE > 0.3;
    EVENT steps() AS PATTERN SEQ(Gate a[role = 'up'], Vague b[v > 0.7], Gate c[role = 'down']) WITHIN 12 TICKS
        PARTITION BY k;
"""


def _inputs(seed: int, span: int, n: int = 12) -> dict[str, list[Row]]:
    rng = random.Random(seed)
    vague, at, seen, gate, sure = [], [], [], [], []
    for key in KEYS:
        times = sorted(rng.sample(range(span), n))
        for number, time in enumerate(times):
            width = rng.choice((1, 1, 2, 3))
            weights = [rng.choice((0.5, 1.0, 2.0)) for _ in range(width)] if rng.random() < 0.5 else None
            name = f"{key}/{number}"
            vague.append({"id": name, "k": key, "v": rng.random(), "lo": time, "hi": time + width - 1, "w": weights})
            sure.append({"id": f"s{name}", "k": key, "v": rng.random(), "t": time + rng.randrange(3)})
            chances = rng.choice(((0.5, 0.5), (0.3, 0.3), (0.9,), (0.2, 0.3, 0.5)))
            rooms = rng.sample(ROOMS, len(chances))
            at += [{"k": key, "room": room, "t": time, "p": p} for room, p in zip(rooms, chances, strict=True)]
            before = [None] if number % 4 == 0 else ROOMS
            for one in before:
                share = rng.random()
                seen += [
                    {"k": key, "room": room, "t": time, "p": p, "before": one}
                    for room, p in zip(ROOMS, (share / 2, share / 2, 1 - share), strict=True)
                ]
        # the last key knows no event that closes
        recorded = [1, 3] if key == KEYS[-1] else [1, *sorted(rng.sample(range(2, 2 * n), n))]
        gate += [{"k": key, "role": "up" if number % 2 else "down", "t": 6 * number, "n": number} for number in recorded]
    found = {"Vague": vague, "At": at, "Seen": seen, "Gate": gate, "Sure": sure}
    for rows in found.values():
        rng.shuffle(rows)
    return found


def _only(program: Program, inputs: Mapping[str, list[Row]]) -> dict[str, list[Row]]:
    read = {source for event in program.plan.events for source in event.sources}
    return {name: rows for name, rows in inputs.items() if name in read}


def _same(one: Results, other: Results) -> None:
    """Equal results; probabilities that were counted out may differ in the last digits."""
    assert one.worlds == other.worlds
    assert one.tables.keys() == other.tables.keys()
    for name, table in one.tables.items():
        expected, found = (sorted(map(_told, some.to_pylist())) for some in (table, other.tables[name]))
        assert [row for row, _ in expected] == [row for row, _ in found], name
        for (row, probability), (_, again) in zip(expected, found, strict=True):
            assert again == (pytest.approx(probability, abs=1e-12) if "exact" in row else probability), (name, row)


def _told(row: Row) -> tuple[str, float]:
    """A result without its probability, in words that can be sorted, and its probability."""
    probability = row.pop("probability")
    assert isinstance(probability, float)
    return repr(row), probability


@pytest.mark.parametrize(
    ("text", "span", "methods"),
    [
        pytest.param(BY_KEY, 150, {"exact", "sampled", "undecided"}, id="by key"),
        pytest.param(IN_PARTS_BY_KEY, 250, {"exact", "sampled", "undecided"}, id="in parts, by key"),
        pytest.param(WITHOUT_KEY, 1000, {"exact", "sampled"}, id="without a key"),
        pytest.param(UNDECIDED, 150, {"sampled", "undecided"}, id="undecided"),
    ],
)
def test_the_same_worlds_everywhere(text: str, span: int, methods: set[str], spark: SparkSession) -> None:
    program = inkling.parse(text)
    inputs = _only(program, _inputs(5, span))
    expected = program.run_local(inputs, sampling=COARSE)
    assert all(table.num_rows for table in expected.tables.values()), "some event finds nothing"
    said = {method for table in expected.tables.values() for method in table["method"].to_pylist()}
    assert said == methods
    for partitions in (1, 2, 5):
        results = program.run(spark, inputs, partitions=partitions, sampling=COARSE)
        _same(expected, results.collect())
        results.close()
