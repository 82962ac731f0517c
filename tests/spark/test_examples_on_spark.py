"""Examples about intervals and knowledge find on Spark what their generators put in."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from inkling import load
from inkling.scenarios import scenario

EXAMPLES = Path(__file__).parents[2] / "examples"
EVENTS, SEED = 1_500, 4


@pytest.mark.parametrize(
    "name",
    ["heat", "supply_chain", *(pytest.param(name, marks=pytest.mark.long) for name in ("traffic", "alarms", "stocks"))],
)
def test_the_truth_of_an_example(name: str, spark: SparkSession) -> None:
    source = scenario(name, events=EVENTS, seed=SEED)
    blocks = list(source.blocks())
    streams = {
        stream: pa.Table.from_batches([block[stream] for block in blocks], schema)
        for stream, schema in source.streams.items()
    }
    results = load(EXAMPLES / name / f"{name}.ink").run(spark, streams, source.tables(), partitions=2)
    found = {event: frame.count() for event, frame in results.items()}
    results.close()
    assert found == dict(source.truth().matches)
    assert sum(found.values()) > 100
