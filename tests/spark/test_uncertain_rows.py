"""Spark reads the columns that tell of uncertainty as a local run does, from files, frames and rows in memory."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest
from pyspark.sql import SparkSession

import inkling
from inkling.io import normalize, read_table
from inkling.io.normalize import stored_columns
from inkling.model.schema import Column, StreamSchema
from inkling.model.types import Type
from inkling.model.uncertainty import ImpreciseTime, LostEvents, ProbableValue, Uncertainty
from inkling.spark.read.inputs import read_frame
from inkling.spark.read.normalize import normalize_frame


def stream(uncertainty: Uncertainty) -> StreamSchema:
    start, end = ("lo", "hi") if isinstance(uncertainty, ImpreciseTime) else ("t", "t")
    columns = (Column("k", Type.STRING), Column("room", Type.STRING))
    return StreamSchema("Seen", columns, None, ("k",), start, end, Type.INTEGER, uncertainty=uncertainty)


STREAMS = {
    "when": stream(ImpreciseTime("lo", "hi", "w")),
    "what": stream(ProbableValue("p", ("before",))),
    "whether": stream(LostEvents("n", "role", "total", ("since", "until"))),
}
PLAIN = {"k": "a", "room": "x", "t": 5, "lo": 1, "hi": 3}
TOLD = {"w": [0.2, 0.5, 0.3], "p": 0.25, "before": "y", "n": 3, "role": "open", "total": 4, "since": 0, "until": 9}
ROWS: list[dict[str, object]] = [
    {**PLAIN, **TOLD},
    {**PLAIN, "p": 1.0, "n": 1},
    {**PLAIN, **TOLD, "w": [1.0, math.nan, -1.0], "lo": 4},
    {**PLAIN, **TOLD, "w": [], "p": -0.5, "n": 0, "until": -3},
]
SPELLED = ["0.2 0.5 0.3", "", "1;nan;-1", "[]"]


def csv_text() -> str:
    names = list(PLAIN | TOLD)
    lines = [
        ",".join("" if (value := {**row, "w": weights}.get(name)) is None else str(value) for name in names)
        for row, weights in zip(ROWS, SPELLED, strict=True)
    ]
    broken = ["a,x,5,1,3,1 x,0.25,y,3,open,4,0,9", 'a,x,5,1,3,"[1, 2, 3]",much,y,third,open,many,soon,9']
    return "\n".join([",".join(names), *lines, *broken])


def assert_same(spark: SparkSession, data: object, schema: StreamSchema, local: object = None) -> int:
    """Number of good rows, which are those of a local run, as are the rejects."""
    expected = normalize(read_table(data if local is None else local, what="Seen"), schema)
    names = [column.name for column in stored_columns(schema)]
    for whole_file_bytes in (0, 1 << 20) if isinstance(data, Path) else (0,):
        raw = read_frame(spark, data, what="Seen", columns=names, whole_file_bytes=whole_file_bytes)
        found = normalize_frame(raw, schema)
        rows = found.rows.toArrow()
        assert rows.schema.types == expected.rows.schema.types
        assert shown(rows) == shown(expected.rows)
        assert shown(found.rejects.toArrow()) == shown(expected.rejects)
    return len(expected.rows)


def shown(table: pa.Table) -> list[str]:
    return sorted(json.dumps(row, sort_keys=True) for row in table.to_pylist())


@pytest.mark.long
def test_columns_that_tell_of_uncertainty(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(csv_text())
    (tmp_path / "a.jsonl").write_text("\n".join(json.dumps(row) for row in ROWS))
    typed = pa.Table.from_pylist(ROWS)
    pa.parquet.write_table(typed, tmp_path / "a.parquet")
    narrow = typed.set_column(typed.schema.get_field_index("w"), "w", typed["w"].cast(pa.list_(pa.float32())))
    pa.parquet.write_table(narrow, tmp_path / "b.parquet")
    n_good = {
        kind: [
            assert_same(spark, tmp_path / "a.csv", schema),
            assert_same(spark, tmp_path / "a.jsonl", schema),
            assert_same(spark, tmp_path / "a.parquet", schema),
            assert_same(spark, tmp_path / "b.parquet", schema),
            assert_same(spark, ROWS, schema),
            assert_same(spark, spark.createDataFrame(typed), schema, local=typed),
        ]
        for kind, schema in STREAMS.items()
    }
    assert n_good == {"when": [4, 3, 3, 3, 3, 3], "what": [5, 4, 4, 4, 4, 4], "whether": [5, 4, 4, 4, 4, 4]}


CONTEXT = """
STREAM Far(k STRING, t TIMESTAMP) KEY k TIME t ± off TICK 10 SECONDS;
STREAM Wrong(k STRING, node STRING, t TIMESTAMP) KEY k TICK 10 SECONDS
    TIME t CLOCK node ERROR 20 SECONDS, 3 TICKS FOR 'gate', 0 TICKS FOR 'lab';
"""


def test_readings_with_errors(spark: SparkSession) -> None:
    times = pa.array([0, 12_345_678, -1, None, 7, 5_000_000], pa.timestamp("us", "UTC"))
    offs = pa.array([0, 2, None, 1, 2**63 - 1, -3])
    nodes = ["gate", "lab", None, "hall", "gate", ""]
    typed = pa.table({"k": ["a"] * 6, "t": times, "off": offs, "node": nodes})
    far, wrong = (stream.schema for stream in inkling.parse(CONTEXT).plan.streams)
    assert assert_same(spark, spark.createDataFrame(typed), far, local=typed) == 2
    assert assert_same(spark, spark.createDataFrame(typed), wrong, local=typed) == 4
