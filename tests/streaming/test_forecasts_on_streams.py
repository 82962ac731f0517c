"""Forecasts on Structured Streaming: those of one run over all rows, however rows are cut into micro-batches."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from tests.properties.naive_forecasts import RESET, STREAM, some_asked, some_rows
from tests.spark.one_job import KeptRows

from inkling import parse

N_FORECASTS, MICRO_BATCHES = 4, 3


@pytest.mark.long
def test_forecasts_on_streams_eq_one_run(spark: SparkSession, tmp_path: Path) -> None:
    chance = random.Random("forecasts on streams")
    asked = [some_asked(chance, number, resets=True) for number in range(N_FORECASTS)]
    program = parse(STREAM.format(reset=RESET) + "".join(one.text for one in asked))
    rows = some_rows(chance, 90, resets=True)
    models = program.fit({"V": some_rows(chance, 100, resets=True)}, order=2)
    (tmp_path / "V").mkdir()
    for number in range(MICRO_BATCHES):
        file = tmp_path / "V" / f"{number}.parquet"
        pq.write_table(pa.Table.from_pylist(rows[number * 30 : (number + 1) * 30]), file)
        os.utime(file, (number, number))  # Spark takes files in the order of their times
    schema = spark.read.parquet(str(tmp_path / "V")).schema
    frame = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(tmp_path / "V"))
    kept = KeptRows()
    query = program.stream(
        spark,
        {"V": frame},
        models,
        checkpoint=tmp_path / "checkpoint",
        to=kept,
        trigger={"availableNow": True},
        buckets=2,
        unbounded=True,
    )
    query.await_end()
    query.finish()
    found = kept.rows()
    for name, table in program.run_local({"V": rows}, models).tables.items():
        wanted = table.to_pylist()
        assert sorted(row["lineage"] for row in found.get(name, [])) == sorted(row["lineage"] for row in wanted)
        said = {tuple(row["lineage"]): row for row in found.get(name, [])}
        if name.startswith("f"):
            for row in wanted:
                mine = said[tuple(row["lineage"])]
                assert [mine[one] for one in ("event_number", "first", "last", "chance", "model")] == [
                    row[one] for one in ("event_number", "first", "last", "chance", "model")
                ]
