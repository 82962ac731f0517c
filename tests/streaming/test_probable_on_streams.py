"""Queries over probable streams on Structured Streaming: exact, and what one run over all rows gives.

The query ends in the middle of the stream, and another one goes on from its checkpoint.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession

import inkling
from inkling.query import Program

N_KEYS, N_TIMES, N_FILES = 10, 12, 2
ROOMS = ("hall", "lab", "kitchen")
STREAMS = """
    STREAM At(who STRING, room STRING, t BIGINT) KEY who TIME t PROBABILITY p LATENESS 2 TICKS;
    STREAM Seen(who STRING, room STRING, t BIGINT) KEY who TIME t PROBABILITY p GIVEN previous LATENESS 2 TICKS;
    STREAM Bell(who STRING, t BIGINT) KEY who TIME t LATENESS 2 TICKS;
"""
BY_KEY = inkling.parse(
    STREAMS
    + """
    EVENT detour(who) AS PATTERN SEQ NEXT(At a[room = 'hall'], At b[room = 'lab']+, At c[room = 'kitchen'])
      PARTITION BY who PER END CONFIDENCE > 0.01;
    EVENT straight(who) AS PATTERN SEQ NEXT(Seen a[room = 'hall'], Seen b) HAVING b.room = 'kitchen'
      PARTITION BY who PER END EXACT;
    EVENT direct(who) AS PATTERN SEQ STRICT(Seen[room = 'hall'], Seen[room <> 'hall'], Seen[room = 'lab'])
      PARTITION BY who PER END CONSUME RESTART;
    EVENT called(who) AS PATTERN SEQ NEXT(Bell x, Seen a[room = 'hall'], At b[room = 'hall']) PARTITION BY who PER END;
    """
)
FOR_ANYONE = inkling.parse(
    STREAMS
    + """
    EVENT anyone AS PATTERN SEQ NEXT(At a[room = 'hall'], At b[room = 'lab' AND who = a.who]) PER END;
    EVENT then AS PATTERN SEQ NEXT(At a[room = 'hall'], At b[who = a.who], Seen c[who = 'p0' AND room = 'lab']) PER END;
    EVENT ever AS PATTERN SEQ NEXT(Seen a[room = 'lab'], Seen b[room = 'hall' AND who = a.who]) PER VALUES;
    EVENT same AS PATTERN SEQ NEXT(At a[who = 'p1'], At b[who = 'p1' AND room = a.room]) PER END;
    """
)
Rows = dict[str, list[dict[str, object]]]


def _rows(rng: random.Random) -> Rows:
    rows: Rows = {"At": [], "Seen": [], "Bell": []}
    for key in range(N_KEYS):
        who = f"p{key}"
        for t in range(key % 3, N_TIMES):
            if rng.random() < 0.2:
                rows["Bell"].append({"who": who, "t": t})
            if rng.random() < 0.8:
                shares = [rng.randint(1, 4) for _ in ROOMS]
                rows["At"] += [
                    {"who": who, "t": t, "room": room, "p": share / 12}
                    for room, share in zip(ROOMS, shares, strict=True)
                ]
            given = [None] if t == key % 3 else list(ROOMS)
            for previous in given:
                shares = [rng.randint(0, 3) for _ in ROOMS[1:]]
                parts = [6 - sum(shares), *shares]
                rows["Seen"] += [
                    {"who": who, "t": t, "room": room, "previous": previous, "p": share / 6}
                    for room, share in zip(ROOMS, parts, strict=True)
                ]
    return rows


SCHEMAS = {
    "At": pa.schema([("who", pa.string()), ("t", pa.int64()), ("room", pa.string()), ("p", pa.float64())]),
    "Seen": pa.schema(
        [(name, pa.string()) for name in ("who", "room", "previous")] + [("t", pa.int64()), ("p", pa.float64())]
    ),
    "Bell": pa.schema([("who", pa.string()), ("t", pa.int64())]),
}


def _arrival(row: dict[str, object]) -> int:
    """Later than its time, by no more than may be; rows of one key and time come apart."""
    return int(str(row["t"])) + sum(map(ord, repr(row))) % 3


@pytest.mark.long
@pytest.mark.parametrize(
    ("program", "buckets"),
    [(BY_KEY, 2), (FOR_ANYONE, 1)],
    ids=["by key", "for anyone"],
)
def test_pieces_and_a_restart_eq_one_run(spark: SparkSession, tmp_path: Path, program: Program, buckets: int) -> None:
    rows = _rows(random.Random(7))
    found: dict[str, list[dict[str, object]]] = {}
    border = N_TIMES // 2

    def keep(name: str, frame: DataFrame, batch: int) -> None:
        found.setdefault(name, []).extend(frame.toArrow().to_pylist())

    def write(number: int) -> None:
        for name, some in rows.items():
            here = [row for row in some if (_arrival(row) <= border) == (number == 0)]
            (tmp_path / name).mkdir(exist_ok=True)
            file = tmp_path / name / f"{number}.parquet"
            pq.write_table(pa.Table.from_pylist(here, SCHEMAS[name]), file)
            os.utime(file, (number, number))

    def start() -> inkling.spark.streaming.query.LiveQuery:  # type: ignore[name-defined]
        frames = {
            name: spark.readStream.schema(spark.read.parquet(str(tmp_path / name)).schema).parquet(str(tmp_path / name))
            for name in rows
        }
        return program.stream(
            spark,
            frames,
            checkpoint=tmp_path / "checkpoint",
            to=keep,
            trigger={"availableNow": True},
            buckets=buckets,
            unbounded=True,
        )

    write(0)
    start().await_end()
    n_before = sum(map(len, found.values()))
    write(1)
    query = start()
    query.await_end()
    query.finish()
    assert n_before > 0
    assert found.keys() <= {event.name for event in program.plan.events}, found.keys()
    expected = program.run_local(dict(rows))
    assert expected.worlds is None
    for name, table in expected.tables.items():
        assert len(table), name
        assert set(table["method"].to_pylist()) == {"exact"}
        assert _lines(found.get(name, [])) == _lines(table.to_pylist()), name


def _lines(rows: list[dict[str, object]]) -> list[str]:
    """Rows without ids have other numbers on a stream; what a safe plan neglects there is less than 1e-9."""
    plain = [{**row, "probability": round(float(str(row["probability"])), 8)} for row in rows]
    return sorted(
        repr(sorted((name, one) for name, one in row.items() if name not in ("lineage", "error"))) for row in plain
    )
