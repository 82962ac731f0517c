"""Windows on Spark, in batch and on a stream: what the local runner gives, aggregates in Python included."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession

import inkling
from inkling.logical.user_aggregates import REGISTERED

PROGRAM = """
STREAM Temp(id INT, k STRING, v INT, x DOUBLE, t INT) ID id KEY k TIME t;
EVENT mean(k) AS PATTERN WINDOW Temp w[v > 0] LAST 4 EVENTS PARTITION BY k
  RETURN AVG(w.x) AS mean, MEDIAN(w.x) AS middle, STDDEV(w.x) AS spread, reach(w.v) AS reach;
EVENT high(m, k) AS PATTERN WINDOW Temp w LAST 5 TICKS WHERE m = MAX(w.v) PARTITION BY k RETURN COUNT(w) AS n ON CHANGE;
EVENT everywhere(m) AS PATTERN WINDOW Temp w LAST 7 EVENTS WHERE m = SUM(w.x);
EVENT warm(k) AS PATTERN mean a[mean > 0.3] AND high b[m = 4] WITHIN 6 TICKS PARTITION BY k;
"""


@pytest.fixture(autouse=True)
def reach() -> Iterator[None]:
    before = dict(REGISTERED)
    inkling.aggregate("reach", returns="INTEGER")(lambda values: int(values.max() - values.min()))
    yield
    REGISTERED.clear()
    REGISTERED.update(before)


def rows() -> pa.Table:
    return pa.Table.from_pylist(
        [
            {"id": n, "k": "abc"[n % 3], "v": n * 7 % 5, "x": None if n % 11 == 0 else (n * 13 % 7) / 10, "t": n // 2}
            for n in range(90)
        ]
    )


def expected() -> dict[str, list[dict[str, object]]]:
    found = inkling.parse(PROGRAM).run_local({"Temp": rows()})
    assert all(len(table) > 3 for table in found.tables.values())
    return {name: in_order(table.to_pylist()) for name, table in found.tables.items()}


def in_order(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    return sorted(rows, key=lambda row: (row["end"], str(row["lineage"])))


def test_batch(spark: SparkSession) -> None:
    results = inkling.parse(PROGRAM).run(spark, {"Temp": rows()}, partitions=3)
    found = {name: in_order(frame.toArrow().to_pylist()) for name, frame in results.items()}
    results.close()
    assert found == expected()


@pytest.mark.long
def test_stream(spark: SparkSession, tmp_path: Path) -> None:
    found: dict[str, dict[int, list[dict[str, object]]]] = {}

    def keep(name: str, frame: DataFrame, batch: int) -> None:
        found.setdefault(name, {})[batch] = frame.toArrow().to_pylist()

    folder = tmp_path / "Temp"
    folder.mkdir()
    for number in range(6):
        file = folder / f"{number}.parquet"
        pq.write_table(rows().slice(15 * number, 15), file)
        os.utime(file, (number, number))  # Spark takes files in the order of their times
    schema = spark.read.parquet(str(folder)).schema
    frame = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder))
    query = inkling.parse(PROGRAM).stream(
        spark,
        {"Temp": frame},
        checkpoint=tmp_path / "checkpoint",
        to=keep,
        settings=inkling.StreamSettings(available_now=True, buckets=2),
    )
    query.await_end()
    query.finish()
    assert {name: in_order([row for some in batches.values() for row in some]) for name, batches in found.items()} == (
        expected()
    )
