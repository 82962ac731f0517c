"""What the page about Kafka shows is what happens, with the broker of the tests in place of the user's."""

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from tests.kafka.broker import Broker

from inkling.io.records import MALFORMED
from inkling.testing.documents import blocks

pytestmark = pytest.mark.kafka

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "stream-from-kafka.md"


def test_the_page_reads_a_topic(spark: SparkSession, broker: Broker) -> None:
    broker.create_topic("readings")
    broker.produce("readings", ['{"id": "r1", "sensor": "s1", "value": 12, "t": 3}', "12"])
    names: dict[str, object] = {}
    for block in blocks(PAGE.read_text()):
        if block.language == "py":
            exec(compile(block.text.replace("127.0.0.1:9092", broker.address), str(PAGE), "exec"), names)
    rows = names["rows"]
    assert isinstance(rows, DataFrame)
    query = rows.writeStream.format("memory").queryName("page").trigger(availableNow=True).start()
    assert query.awaitTermination(120)
    found = [(row["id"], row["t"], row[MALFORMED]) for row in spark.table("page").collect()]
    assert found == [("r1", "3", None), (None, None, "not a JSON object (topic readings, partition 0, offset 1)")]
