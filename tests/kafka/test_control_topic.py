"""Control messages from a topic: each once, also for one who comes back with what was heard."""

import json

import pytest
from pyspark.sql import SparkSession
from tests.kafka.broker import Broker

from inkling.spark.streaming.sources.control_messages import MessageTopic, messages_of

pytestmark = pytest.mark.kafka


def test_messages_are_heard_once(spark: SparkSession, broker: Broker, topic: str) -> None:
    source = messages_of(spark, f"kafka://{broker.address}/{topic}")
    assert isinstance(source, MessageTopic)
    first, second = ({"forecast": "f", "parameter": "order", "value": value} for value in (1, 2))
    broker.produce(topic, [json.dumps(first)])
    found, heard = source.after(0)
    assert found == [first]
    assert source.after(heard) == ([], heard)  # asked too soon
    broker.produce(topic, [json.dumps(second), "nonsense"])
    again = MessageTopic(spark, broker.address, topic)
    found, heard = again.after(heard)
    assert found == [second, {"line": "nonsense"}]
    assert MessageTopic(spark, broker.address, topic).after(heard) == ([], heard)
