"""Relations between segments on Structured Streaming: told when the stream has ended, as the definition has them."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from tests.kit.arrival import arrivals, with_lateness
from tests.kit.arrow import arrow_streams
from tests.kit.comparison import same_results
from tests.kit.oracle import bound, oracle
from tests.spark.one_job import KeptRows

import inkling

MICRO_BATCHES = 2
PROGRAM = """
STREAM Report(id BIGINT, sector STRING, speed BIGINT, t BIGINT) ID id KEY sector TIME t DERIVE before = PREV(speed);
EVENT jam(sector) AS
  PATTERN SEQ STRICT(
    Report a[speed < 4 AND (before IS NULL OR before >= 4)], Report b[speed < 4]*, Report c[speed >= 4]
  )
  PARTITION BY sector;
EVENT spread(x.sector AS one, y.sector AS other, n) AS PATTERN AT LEAST n FROM 1 TO 5 jam x INTERSECTS SOME jam y;
EVENT apart(x.sector AS one, y.sector AS other) AS PATTERN SOME jam x PRECEDES ALL jam y;
"""


@pytest.mark.long
def test_relations_between_events_eq_definition(spark: SparkSession, tmp_path: Path) -> None:
    rng = random.Random(3)
    reports = [(sector, time) for sector in "nmsw" for time in range(24)]
    rows = {
        "Report": [
            {"id": number, "sector": sector, "speed": rng.randrange(8), "t": time}
            for number, (sector, time) in enumerate(reports)
        ]
    }
    plan = bound(PROGRAM)
    expected = oracle(plan, rows)
    assert min(map(len, expected.values())) >= 3
    folder = tmp_path / "Report"
    folder.mkdir()
    for number, piece in enumerate(arrivals(rng, plan, arrow_streams(plan, rows), MICRO_BATCHES, lateness=3)["Report"]):
        file = folder / f"{number:03d}.parquet"
        pq.write_table(piece, file)
        os.utime(file, (number, number))  # Spark takes files in the order of their times
    schema = spark.read.parquet(str(folder)).schema
    frame = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder))
    kept = KeptRows()
    query = inkling.parse(with_lateness(PROGRAM, 3)).stream(
        spark,
        {"Report": frame},
        checkpoint=tmp_path / "checkpoint",
        to=kept,
        settings=inkling.StreamSettings(available_now=True, buckets=2, unbounded=True),
    )
    query.await_end()
    early = kept.rows()
    assert early.get("jam")
    assert not early.get("spread")
    query.finish()
    found = kept.rows()
    assert not found.keys() - expected.keys(), "rows were late or rejected"
    same_results(plan, expected, {event.name: found.get(event.name, []) for event in plan.events})
