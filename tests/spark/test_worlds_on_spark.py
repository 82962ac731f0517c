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
from tests.kit.arrow import arrow_streams, arrow_tables
from tests.kit.uncertain import uncertain_cases

import inkling
from inkling.errors import InputError
from inkling.evaluators.sampling import Sampling
from inkling.query import Program
from inkling.results import Results

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

BY_KEY = (
    STREAMS
    + """
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
)

IN_PARTS_BY_KEY = (
    STREAMS
    + """
    EVENT rise(k, b.v AS v) AS PATTERN SEQ(Vague a[v < 0.5], Vague b[v > 0.4]) WITHIN 6 TICKS PARTITION BY k PER END;
    EVENT moved(k, b.room AS room) AS PATTERN SEQ NEXT(At a, At b[room != 'hall']) WITHIN 9 TICKS PARTITION BY k
        RETURN a.room AS old CONFIDENCE >= 0.25;
    EVENT after_rise(m.old AS old) AS PATTERN SEQ(rise r, moved m) WITHIN 20 TICKS PARTITION BY k TOP 5;
"""
)

WITHOUT_KEY = (
    STREAMS
    + """
    EVENT rise(a.k AS one, b.k AS other) AS PATTERN SEQ(Vague a[v < 0.5], Vague b[v > 0.5]) WITHIN 6 TICKS
        RETURN b.v - a.v AS by;
    EVENT meet(a.room AS room) AS PATTERN SEQ(At a, Sure s[v < 0.5]) WITHIN 4 TICKS PER INTERVAL TOP 6;
    EVENT late(m.room AS room) AS PATTERN SEQ(rise r, meet m) WITHIN 15 TICKS PER END SAMPLED;
"""
)

UNDECIDED = (
    STREAMS
    + """
    EVENT own(b.v AS v) AS PATTERN SEQ(Vague a[v < 0.4], Vague b[v > 0.6]) WITHIN 5 TICKS PARTITION BY k
        PER END CONFIDENCE >= 0.5;
    EVENT others(b.room AS room) AS PATTERN SEQ NEXT(Seen a, Seen b[room = 'lab']) WITHIN 3 TICKS CONFIDENCE > 0.3;
    EVENT steps() AS PATTERN SEQ(Gate a[role = 'up'], Vague b[v > 0.7], Gate c[role = 'down']) WITHIN 12 TICKS
        PARTITION BY k;
"""
)


def _inputs(seed: int, span: int, n: int = 12) -> dict[str, list[Row]]:
    rng = random.Random(seed)
    found: dict[str, list[Row]] = {name: [] for name in ("Vague", "At", "Seen", "Gate", "Sure")}
    vague, at, seen, gate, sure = found.values()
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
        gate += [
            {"k": key, "role": "up" if number % 2 else "down", "t": 6 * number, "n": number} for number in recorded
        ]
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


def _methods(results: Results) -> set[str]:
    return {method for table in results.tables.values() for method in table["method"].to_pylist()}


def _told(row: Row) -> tuple[str, float]:
    """A result without its probability, in words that can be sorted, and its probability."""
    probability = row.pop("probability")
    assert isinstance(probability, float)
    return repr(row), probability


@pytest.mark.parametrize(
    ("text", "seed", "span", "methods"),
    [
        pytest.param(BY_KEY, 5, 150, {"exact", "sampled", "undecided"}, id="by key"),
        pytest.param(
            IN_PARTS_BY_KEY, 1, 300, {"exact", "sampled", "undecided"}, id="in parts, by key", marks=pytest.mark.long
        ),
        pytest.param(WITHOUT_KEY, 2, 2100, {"exact", "sampled"}, id="without a key"),
        pytest.param(UNDECIDED, 5, 150, {"sampled", "undecided"}, id="undecided", marks=pytest.mark.long),
    ],
)
def test_the_same_worlds_everywhere(text: str, seed: int, span: int, methods: set[str], spark: SparkSession) -> None:
    program = inkling.parse(text)
    inputs = _only(program, _inputs(seed, span))
    expected = program.run_local(inputs, sampling=COARSE)
    assert all(table.num_rows for table in expected.tables.values()), "some event finds nothing"
    assert _methods(expected) == methods
    for partitions in (1, 5):
        results = program.run(spark, inputs, partitions=partitions, sampling=COARSE)
        _same(expected, results.collect())
        results.close()


@pytest.mark.long
@pytest.mark.parametrize("exact_up_to", [4, 64])
def test_random_programs(exact_up_to: int, spark: SparkSession) -> None:
    settings = Sampling(epsilon=0.12, delta=0.12, exact_up_to=exact_up_to)
    for case in uncertain_cases(seed=exact_up_to, n_programs=3):
        given = arrow_streams(case.plan, case.rows), arrow_tables(case.plan, case.tables)
        results = case.program.run(spark, *given, partitions=3, sampling=settings)
        _same(case.program.run_local(*given, sampling=settings), results.collect())
        results.close()


EXACT = """
    STREAM Vague(id STRING, k STRING, lo BIGINT, hi BIGINT) ID id KEY k TIME BETWEEN lo AND hi;
    EVENT pair(a.id AS first) AS PATTERN SEQ(Vague a, Vague b) WITHIN 3 TICKS {by} PER END EXACT;
"""


@pytest.mark.parametrize("by", ["PARTITION BY k", ""])
def test_exact_where_it_can_be_had(by: str, spark: SparkSession) -> None:
    program = inkling.parse(EXACT.format(by=by))
    few = [{"id": f"{key}/{t}", "k": key, "lo": t, "hi": t + 2} for key in KEYS for t in range(0, 20, 10)]
    settings = Sampling(exact_up_to=3 ** len(KEYS))
    expected = program.run_local({"Vague": few}, sampling=settings)
    _same(expected, program.run(spark, {"Vague": few}, partitions=3, sampling=settings).collect())
    many = [
        *few,
        *({"id": f"more {key}/{t}", "k": key, "lo": t, "hi": t + 2} for key in KEYS[2:5] for t in range(30, 70, 3)),
    ]
    with pytest.raises(InputError) as here:
        program.run_local({"Vague": many}, sampling=settings)
    for partitions in (1, 4):
        with pytest.raises(InputError) as there:
            program.run(spark, {"Vague": many}, partitions=partitions, sampling=settings)
        assert str(there.value) == str(here.value)
        assert there.value.diagnostics[0].code == "INK0615"


def _rejected(row: Row) -> str:
    """A reject; what is wrong with a certain stream, Spark says in words of its own."""
    return repr((row["stream"], row["reason"], row["id"]) if row["stream"] == "Sure" else row)


def test_rows_that_contradict_each_other_are_rejected_once(spark: SparkSession) -> None:
    program = inkling.parse(
        STREAMS
        + "EVENT rise(b.v AS v) AS PATTERN SEQ(Vague a, Vague b[v > 0.5]) WITHIN 5 TICKS PARTITION BY k;"
        + "EVENT odd() AS PATTERN SEQ(At a[room = 'lab'], Gate g) WITHIN 9 TICKS PARTITION BY k;"
        + "EVENT sure(s.id AS id) AS PATTERN SEQ(Sure s[v < 0.2], At a) WITHIN 9 TICKS PARTITION BY k;"
    )
    inputs = _inputs(3, 150)
    vague, at, seen, gate = (inputs[name] for name in ("Vague", "At", "Seen", "Gate"))
    vague += [
        {"id": "long", "k": "k1", "v": 0.9, "lo": 4, "hi": 6, "w": [1.0]},
        {"id": "none", "k": "k2", "v": 0.9, "lo": 4, "hi": 5, "w": [0.0, 0.0]},
        {"id": "back", "k": "k2", "v": 0.9, "lo": 5, "hi": 4, "w": None},
        dict(vague[0]),
    ]
    at += [{"k": "k3", "room": room, "t": 400, "p": 0.7} for room in ROOMS]
    at += [{"k": "k3", "room": "lab", "t": 401, "p": 1.5}, {"k": "k4", "room": "lab", "t": 401, "p": None}]
    seen += [{"k": "k5", "room": "lab", "t": 999, "p": 0.7, "before": "cellar"}]
    gate += [{"k": "k0", "role": "up", "t": 300, "n": 1}, {"k": "k1", "role": "up", "t": 300, "n": None}]
    # not KEY k: rows with one id are one event, in whichever partitions they fall
    inputs["Sure"] += [{"id": "twice", "k": key, "v": 0.1, "t": 3} for key in KEYS]
    expected = program.run_local(inputs, sampling=COARSE)
    reasons = {row["reason"] for row in expected.rejects.to_pylist()}
    assert len(reasons) >= 9, reasons
    found = program.run(spark, inputs, partitions=3, sampling=COARSE).collect()
    _same(expected, found)
    assert sorted(map(_rejected, expected.rejects.to_pylist())) == sorted(map(_rejected, found.rejects.to_pylist()))


@pytest.mark.long
def test_timestamps_and_rows_without_ids(spark: SparkSession, tmp_path: Path) -> None:
    """Rows of files are numbered as in this process, so events are the same and so are their worlds."""
    program = inkling.parse("""
        STREAM At(k STRING, room STRING) KEY k TIME t PROBABILITY p;
        STREAM Vague(k STRING, v DOUBLE) KEY k TIME BETWEEN lo AND hi;
        EVENT there(a.room AS room) AS PATTERN SEQ(Vague b[v > 0.2], At a) WITHIN 20 MINUTES PARTITION BY k
            RETURN START(b) AS since;
        EVENT first(v.k AS k) AS PATTERN SEQ(Vague v, Vague w) WITHIN 25 MINUTES PARTITION BY k;
        STREAM Door(k STRING, node STRING, t TIMESTAMP) KEY k TICK 1 MINUTES
            TIME t CLOCK node ERROR 2 MINUTES, 5 TICKS FOR 'gate' AT MOST 10 MINUTES;
        EVENT twice(d.node AS node) AS PATTERN SEQ(Door d, Door e) WITHIN 9 POINTS PARTITION BY k PER END;
    """)
    start = datetime(2026, 3, 1, tzinfo=UTC)
    rng = random.Random(8)
    at = [
        {"k": key, "room": room, "t": start + timedelta(minutes=150 * step), "p": 0.3}
        for step in range(12)
        for key in KEYS
        for room in ROOMS
    ]
    vague = []
    for _ in range(90):
        lo = start + timedelta(seconds=rng.randrange(100_000))
        vague.append({"k": rng.choice(KEYS), "v": rng.random(), "lo": lo, "hi": lo + timedelta(microseconds=2)})
    door = [
        {"k": key, "node": rng.choice(("gate", "hall", None)), "t": start + timedelta(minutes=75 + 150 * step + more)}
        for key in KEYS[:4]
        for step in range(6)
        for more in (0, rng.random() * 9)
    ]
    paths = {}
    for name, rows in (("At", at), ("Vague", vague), ("Door", door)):
        paths[name] = tmp_path / f"{name}.parquet"
        pq.write_table(pa.Table.from_pylist(rows), paths[name], row_group_size=50)
    expected = program.run_local(paths, sampling=COARSE)
    assert _methods(expected) == {"exact", "sampled"}
    _same(expected, program.run(spark, paths, sampling=COARSE).collect())
    frames = {name: spark.read.parquet(str(path)) for name, path in paths.items()}
    _same(expected, program.run(spark, frames, partitions=3, sampling=COARSE).collect())


@pytest.mark.parametrize("by", ["PARTITION BY k", ""])
def test_no_rows_at_all(by: str, spark: SparkSession) -> None:
    program = inkling.parse(EXACT.format(by=by) + f"EVENT likely() AS PATTERN Vague a {by} CONFIDENCE > 0.5 TOP 3;")
    expected = program.run_local({"Vague": []})
    found = program.run(spark, {"Vague": []}).collect()
    _same(expected, found)
    for name, table in expected.tables.items():
        assert table.num_rows == 0
        assert found.tables[name].column_names == table.column_names
