"""Options of files, compression and EPOCH give the same rows on Spark, in batch and on streams, as in this process."""

import bz2
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import inkling
from inkling.io import normalize, read_table
from inkling.io.normalize import stored_columns
from inkling.logical.plan import StreamPlan
from inkling.spark.read.inputs import LinesOfFiles, WholeFiles, read_frame
from inkling.spark.read.normalize import normalize_frame
from inkling.spark.streaming.settings import StreamSettings

PROGRAM = inkling.parse(
    "STREAM S(id STRING, v DOUBLE, t TIMESTAMP) ID id TIME t EPOCH SECONDS;\nEVENT e(s.v AS v) AS PATTERN S s;"
)
ROWS = 'a;1.5;1772445600\n"b;c";2;1772445600.25\n\nc;3;2026-03-02T10:00:01Z\nd;4;soon\ne;5\n'
OPTIONS = "sep=;&header=no&columns=id,v,t"
STREAM: StreamPlan = PROGRAM.plan.streams[0]


def read_on_spark(
    spark: SparkSession, address: str, whole_file_bytes: int, kind: type
) -> list[list[tuple[object, ...]]]:
    names = [column.name for column in stored_columns(STREAM.schema)]
    raw = read_frame(spark, address, what="S", columns=names, whole_file_bytes=whole_file_bytes)
    assert isinstance(raw, kind)
    found = normalize_frame(raw, STREAM.schema)
    rows = found.rows.select(*names, "`@start`").collect()
    return [sorted(map(tuple, rows)), sorted(row["reason"] for row in found.rejects.collect())]


def test_files(spark: SparkSession, tmp_path: Path) -> None:
    """Whole, as lines that Spark splits, compressed, and through the file systems of Arrow."""
    (tmp_path / "a.txt").write_text(ROWS)
    (tmp_path / "b.csv.bz2").write_bytes(bz2.compress(ROWS.encode()))
    plain = f"{tmp_path}/a.txt?format=csv&{OPTIONS}"
    local = normalize(read_table(plain, what="S"), STREAM.schema)
    names = [*(column.name for column in stored_columns(STREAM.schema)), "@start"]
    expected = [
        sorted(tuple(row.values()) for row in local.rows.select(names).to_pylist()),
        sorted(local.rejects["reason"].to_pylist()),
    ]
    assert len(expected[0]) == 3
    assert len(expected[1]) == 2
    assert read_on_spark(spark, plain, 1 << 20, WholeFiles) == expected
    assert read_on_spark(spark, plain, 0, LinesOfFiles) == expected
    assert read_on_spark(spark, f"{tmp_path}/b.csv.bz2?{OPTIONS}", 0, LinesOfFiles) == expected
    assert read_on_spark(spark, f"file://{tmp_path}/b.csv.bz2?{OPTIONS}", 0, WholeFiles) == expected


@pytest.mark.parametrize(("unit", "per_second"), [("SECONDS", 1), ("MILLISECONDS", 10**3), ("NANOSECONDS", 10**9)])
def test_columns_of_integers(spark: SparkSession, unit: str, per_second: int) -> None:
    """Catalyst converts them; those beyond the limits of timestamps are rejected."""
    program = inkling.parse(f"STREAM S(id INT, t TIMESTAMP) ID id TIME t EPOCH {unit}; EVENT e AS PATTERN S s;")
    counts = [0, 5 * per_second, -per_second, -per_second - 1, 2**62 - 1 if per_second < 10**9 else None]
    frame = spark.createDataFrame(list(enumerate(counts)), "id int, t bigint")
    found = normalize_frame(frame, program.plan.streams[0].schema)
    micros = {row["id"]: row["start"] for row in found.rows.selectExpr("id", "`@start` AS start").collect()}
    assert micros == {place: count * 10**6 // per_second for place, count in enumerate(counts[:4]) if count is not None}
    assert found.rejects.count() == 1


def test_streams(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "incoming"
    folder.mkdir()
    (folder / "a.csv").write_text(ROWS)
    (folder / "b.csv.bz2").write_bytes(bz2.compress(b"x;9;1772445602\n"))
    query = PROGRAM.stream(
        spark,
        {"S": f"{folder}?format=csv&{OPTIONS}"},
        to=tmp_path / "found",
        checkpoint=tmp_path / "checkpoint",
        settings=StreamSettings(buckets=1, available_now=True, unbounded=True),
    )
    try:
        assert query.await_end(300)
        query.finish()
    finally:
        query.stop()
    rows = spark.read.parquet(str(tmp_path / "found" / "e")).selectExpr("v", "unix_micros(start) AS at").collect()
    base = 1_772_445_600_000_000
    expected = [(1.5, base), (2.0, base + 250_000), (3.0, base + 1_000_000), (9.0, base + 2_000_000)]
    assert sorted(map(tuple, rows)) == expected
