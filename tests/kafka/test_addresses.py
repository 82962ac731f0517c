"""Programs from topic to topic by address, with a crash after the results of a batch were written."""

import json
from collections.abc import Iterable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.kafka.broker import Broker

import inkling
from inkling.errors import InklingError
from inkling.spark.streaming.sinks.kafka import KafkaSink
from inkling.spark.streaming.sinks.outputs import SinkOutput
from inkling.spark.streaming.sinks.protocol import sink_of

pytestmark = pytest.mark.kafka

PROGRAM = inkling.parse("""
STREAM Reading(sensor STRING, value DOUBLE, t BIGINT, place STRING) ID place KEY sensor TIME t;
EVENT high(r.sensor AS sensor, r.value AS value) AS PATTERN Reading r[value > 10];
""")


class Crashing(KafkaSink):
    """Fails after all is written, before Spark hears that it is."""

    def deliver(self, outputs: Iterable[SinkOutput], batch: int) -> None:
        KafkaSink.deliver(self, outputs, batch)
        raise RuntimeError("crash")


def test_results_once_although_a_batch_is_repeated(
    spark: SparkSession, broker: Broker, topic: str, tmp_path: Path
) -> None:
    readings = [{"sensor": "s1", "value": value, "t": t} for t, value in enumerate([12.5, 3.0, 11.0, 30.0])]
    broker.produce(topic, [*(json.dumps(row).encode() for row in readings), b"nonsense"])
    to = f"kafka://{broker.address}/{topic}-found"
    for name in (f"{topic}-found", f"{topic}-found.rejects"):
        broker.create_topic(name)

    def run(sink: KafkaSink) -> None:
        query = PROGRAM.stream(
            spark,
            {"Reading": f"kafka://{broker.address}/{topic}?position=place"},
            checkpoint=tmp_path / "checkpoint",
            to=sink,
            settings=inkling.StreamSettings(available_now=True, buckets=2),
        )
        query.await_end()

    for _ in range(2):
        with pytest.raises(InklingError):
            run(Crashing(broker.address, f"{topic}-found"))
    sink = sink_of(to)
    assert isinstance(sink, KafkaSink)
    run(sink)
    broker.produce(topic, [json.dumps({"sensor": "s1", "value": 40.0, "t": 9}).encode()])
    run(KafkaSink(broker.address, f"{topic}-found"))

    messages = broker.messages(f"{topic}-found")
    found = [json.loads(message.value() or b"") for message in messages]
    # the last reading of the topic is decided by a later one only
    assert sorted((row["event"], row["value"], row["lineage"]) for row in found) == [
        ("high", 11.0, [f"{topic}-0-2"]),
        ("high", 12.5, [f"{topic}-0-0"]),
        ("high", 30.0, [f"{topic}-0-3"]),
    ]
    assert len({message.key() for message in messages}) == 3
    rejected = [json.loads(value or b"") for value in broker.values(f"{topic}-found.rejects")]
    assert [(row["reason"], row["row"]) for row in rejected] == [("malformed", '"nonsense"')]
