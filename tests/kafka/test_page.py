"""What the page about Kafka shows is what happens, with the broker of the tests in place of the user's."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from tests.kafka.broker import Broker
from tests.kit.documents import blocks

from inkling.spark.streaming.query import LiveQuery

pytestmark = pytest.mark.kafka

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "stream-from-kafka.md"


def test_the_page_does_what_it_shows(
    spark: SparkSession, broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    broker.create_topic("readings")
    names: dict[str, object] = {}
    for block in blocks(PAGE.read_text()):
        if block.language == "py":
            exec(compile(block.text.replace("127.0.0.1:9092", broker.address), str(PAGE), "exec"), names)
    query, rows = names["query"], names["rows"]
    assert isinstance(query, LiveQuery)
    query.finish()
    assert pq.read_table("found/rising")["lineage"].to_pylist() == [["r1", "r2"]]
    assert pq.read_table("found/rejects")["row"].to_pylist() == ['"no JSON"']

    assert isinstance(rows, DataFrame)
    shown = rows.writeStream.format("memory").queryName("page").trigger(availableNow=True).start()
    assert shown.awaitTermination(120)
    found = [(row["id"], row["t"]) for row in spark.table("page").collect()]
    assert found == [("readings-0-0", "3"), ("readings-0-1", "5"), ("readings-0-2", None)]
