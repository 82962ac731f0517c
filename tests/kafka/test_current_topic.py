"""A topic of current matches: what a compacted topic keeps of it is what holds."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from tests.kafka.broker import Broker
from tests.streaming.corrections import random_batches

from inkling.spark.streaming.checkpoint.storage import CheckpointFolder
from inkling.spark.streaming.sinks.kafka import KafkaSink
from inkling.spark.streaming.sinks.protocol import SinkStart, sink_of

pytestmark = pytest.mark.kafka


def shown(row: dict[str, Any]) -> tuple[object, ...]:
    return row["event"], row["room"], row["lineage"][0], row["probability"], row["method"]


def test_the_last_message_of_every_key_is_what_holds(
    broker: Broker, topic: str, spark: SparkSession, tmp_path: Path
) -> None:
    """Every batch is delivered twice, as after a crash; no message is repeated."""
    sink = sink_of(f"kafka://{broker.address}/{topic}?keep=current")
    assert isinstance(sink, KafkaSink)
    sink.begin(SinkStart(spark, ("fire", "Two words"), CheckpointFolder(spark, str(tmp_path)), is_new=True))
    broker.create_topic(f"{topic}.late")
    n_changes = 0
    for batch in random_batches(4, 3):
        for _ in range(2):
            sink.deliver(batch.outputs(spark), batch.number)
        n_changes += sum(len({str(row["lineage"]) for row in rows}) for rows in batch.signed.values())
    messages = broker.messages(topic)
    assert len(messages) == n_changes
    last = {message.key(): message.value() for message in messages}
    held = [json.loads(value) for value in last.values() if value is not None]
    assert None in last.values()
    assert Counter(map(shown, held)) == Counter(map(shown, batch.rows))
