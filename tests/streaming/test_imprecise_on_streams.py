"""Chains over imprecise times on Structured Streaming: exact, and what one run over all rows gives.

Every key is active for a while only, so that others must carry time on for it. The query ends in the middle of the
stream, and another one goes on from its checkpoint.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from tests.kit.chains import STREAMS

import inkling

N_KEYS = 24
N_FILES = 3
APART = 9
LATE = 2

PROGRAM = inkling.parse(
    "".join(
        f"STREAM {name}(id STRING, k STRING, v BIGINT, lo BIGINT, hi BIGINT) ID id KEY k TIME BETWEEN lo AND hi"
        f" AT MOST 3 TICKS LATENESS {LATE} TICKS;"
        for name in STREAMS
    )
    + """
    EVENT any AS PATTERN SEQ(A a, B b, C c[v <> a.v]) WITHIN 9 POINTS PARTITION BY k;
    EVENT likely AS PATTERN SEQ(A a, B b) WITHIN 9 POINTS PARTITION BY k CONFIDENCE >= 0.4;
    EVENT next AS PATTERN SEQ NEXT(A a, B b, C c) WITHIN 12 POINTS PARTITION BY k;
    EVENT adjacent AS PATTERN SEQ STRICT(A a, B b) WITHIN 6 POINTS PARTITION BY k OVER (A, B, C);
    EVENT without AS PATTERN SEQ(A a, NOT N, B b) WITHIN 9 POINTS PARTITION BY k EXACT;
    EVENT alone AS PATTERN SEQ(NOT N, A a, NOT C) WITHIN 4 POINTS PARTITION BY k;
    EVENT rising AS PATTERN SEQ NEXT(A a, B b+[v >= LAST(b).v], C c) WITHIN 12 POINTS PARTITION BY k;
    EVENT eager AS PATTERN SEQ NEXT(A a, B b+ EAGER, C c) WITHIN 12 POINTS PARTITION BY k;
    """.replace("B b+[v >= LAST(b).v]", "B b[v >= LAST(b).v]+")
)


def _rows(rng: random.Random) -> dict[str, list[dict[str, object]]]:
    rows: dict[str, list[dict[str, object]]] = {name: [] for name in STREAMS}
    for key in range(N_KEYS):
        for number in range(7):
            at = APART * key + rng.randrange(10)
            row = {"id": f"{key}-{number}", "k": f"key {key}", "v": rng.randrange(3)}
            rows[rng.choice("AABBCN")].append({**row, "lo": at, "hi": at + rng.randrange(4)})
    return rows


def _files(rng: random.Random, rows: dict[str, list[dict[str, object]]]) -> list[dict[str, pa.Table]]:
    """Rows of each stream in the order in which they come, cut anywhere."""
    latest = max(int(str(row["lo"])) for some in rows.values() for row in some) + LATE + 1
    borders = sorted(rng.randrange(latest) for _ in range(N_FILES - 1))
    files: list[dict[str, pa.Table]] = []
    for begin, end in zip([-1, *borders], [*borders, latest], strict=True):
        files.append({})
        for name, some in rows.items():
            here = [row for row in some if begin < _arrival(row) <= end]
            rng.shuffle(here)
            schema = pa.schema(
                [("id", pa.string()), ("k", pa.string()), *((one, pa.int64()) for one in ("v", "lo", "hi"))]
            )
            files[-1][name] = pa.Table.from_pylist(here, schema)
    return files


def _arrival(row: dict[str, object]) -> int:
    """Later than its first tick, by no more than may be."""
    return int(str(row["lo"])) + sum(map(ord, str(row["id"]))) % (LATE + 1)


@pytest.mark.long
def test_pieces_and_a_restart_eq_one_run(spark: SparkSession, tmp_path: Path) -> None:
    rng = random.Random(5)
    rows = _rows(rng)
    files = _files(rng, rows)
    found: dict[str, list[dict[str, object]]] = {}

    def keep(name: str, frame: DataFrame, batch: int) -> None:
        found.setdefault(name, []).extend(frame.toArrow().to_pylist())

    def write(numbers: range) -> None:
        for number in numbers:
            for name, table in files[number].items():
                (tmp_path / name).mkdir(exist_ok=True)
                file = tmp_path / name / f"{number}.parquet"
                pq.write_table(table, file)
                os.utime(file, (number, number))

    def start() -> inkling.spark.streaming.query.LiveQuery:  # type: ignore[name-defined]
        frames = {
            name: spark.readStream.schema(spark.read.parquet(str(tmp_path / name)).schema)
            .option("maxFilesPerTrigger", 1)
            .parquet(str(tmp_path / name))
            for name in STREAMS
        }
        return PROGRAM.stream(
            spark,
            frames,
            checkpoint=tmp_path / "checkpoint",
            to=keep,
            trigger={"availableNow": True},
            buckets=3,
        )

    write(range(2))
    start().await_end()
    n_before = sum(map(len, found.values()))
    write(range(2, N_FILES))
    query = start()
    query.await_end()
    query.finish()
    assert n_before > 0
    assert "late" not in found
    assert "rejects" not in found
    expected = PROGRAM.run_local(dict(rows))
    assert expected.worlds is None
    for name, table in expected.tables.items():
        assert len(table) > 3, name
        assert _lines(found.get(name, [])) == _lines(table.to_pylist()), name


def _lines(rows: list[dict[str, object]]) -> list[str]:
    return sorted(
        repr(sorted({**row, "probability": round(float(str(row["probability"])), 12)}.items())) for row in rows
    )
