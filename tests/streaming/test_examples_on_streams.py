"""Examples about intervals and knowledge find on Structured Streaming what their generators put in."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from tests.spark.one_job import KeptRows

import inkling
from inkling import load
from inkling.scenarios import generate, scenario

EXAMPLES = Path(__file__).parents[2] / "examples"
EVENTS, SEED = 1_000, 4
CHUNK_ROWS = 500


@pytest.mark.long
@pytest.mark.parametrize("name", ["supply_chain", pytest.param("heat", marks=pytest.mark.long)])
def test_the_truth_of_an_example(name: str, spark: SparkSession, tmp_path: Path) -> None:
    source = scenario(name, events=EVENTS, seed=SEED)
    for number, chunk in enumerate(generate(name, events=EVENTS, seed=SEED, chunk_rows=CHUNK_ROWS)):
        for stream, rows in chunk.items():
            file = tmp_path / stream / f"{number:03d}.parquet"
            file.parent.mkdir(exist_ok=True)
            pq.write_table(pa.table(rows), file)
            os.utime(file, (number, number))  # Spark takes files in the order of their times
    frames = {}
    for stream in source.streams:
        folder = str(tmp_path / stream)
        reader = spark.readStream.schema(spark.read.parquet(folder).schema)
        frames[stream] = reader.option("maxFilesPerTrigger", 1).parquet(folder)
    kept = KeptRows()
    query = load(EXAMPLES / name / f"{name}.ink").stream(
        spark,
        frames,
        source.tables(),
        checkpoint=tmp_path / "checkpoint",
        to=kept,
        settings=inkling.StreamSettings(available_now=True, buckets=2),
    )
    query.await_end()
    query.finish()
    found = Counter({event: len(rows) for event, rows in kept.rows().items()})
    for _ in source.blocks():  # the truth is complete once everything was drawn
        pass
    assert found == Counter(source.truth().matches)
