"""What a failed query says of Kafka, and how a topic that was made anew is told from the old one."""

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession
from tests.kafka.broker import HOST, Broker, free_port

from inkling.spark.kafka.connector import kafka_trouble, topic_ids
from inkling.spark.streaming.failures import FailedRun, stream_failed

pytestmark = pytest.mark.kafka


def run(spark: SparkSession, checkpoint: object, **options: str) -> None:
    """Reads all that there is, and lets failures through."""
    source = spark.readStream.format("kafka").option("startingOffsets", "earliest")
    for name, value in options.items():
        source = source.option(name.replace("_", "."), value)
    sink = source.load().writeStream.format("noop").option("checkpointLocation", str(checkpoint))
    query = sink.trigger(availableNow=True).start()
    try:
        assert query.awaitTermination(120)
    finally:
        query.stop()


def code_of(problem: StreamingQueryException) -> str:
    told = kafka_trouble(str(problem))
    assert told is not None, str(problem)
    return told.code


def test_a_topic_that_is_not_there(spark: SparkSession, broker: Broker, tmp_path: object) -> None:
    with pytest.raises(StreamingQueryException) as raised:
        run(spark, tmp_path, kafka_bootstrap_servers=broker.address, subscribe="nowhere")
    assert code_of(raised.value) == "INK0521"


def test_a_topic_with_less_than_was_read(spark: SparkSession, broker: Broker, topic: str, tmp_path: object) -> None:
    options = {"kafka_bootstrap_servers": broker.address, "subscribe": topic}
    broker.produce(topic, ["1", "2", "3"])
    run(spark, tmp_path, **options)
    broker.delete_topic(topic)
    broker.create_topic(topic)
    broker.produce(topic, ["4"])
    with pytest.raises(StreamingQueryException) as raised:
        run(spark, tmp_path, **options)
    assert kafka_trouble(str(raised.value)) is None
    told = stream_failed(raised.value, FailedRun("checkpoint", "sink"))
    assert told.diagnostics[0].code == "INK0612"


def test_a_broker_that_is_not_there(spark: SparkSession, tmp_path: object) -> None:
    options = {"kafka_default_api_timeout_ms": "3000", "kafka_request_timeout_ms": "2000", "subscribe": "any"}
    with pytest.raises(StreamingQueryException) as raised:
        run(spark, tmp_path, kafka_bootstrap_servers=f"{HOST}:{free_port()}", **options)
    assert code_of(raised.value) == "INK0522"


def test_other_failures_are_not_explained() -> None:
    assert kafka_trouble("java.util.concurrent.TimeoutException: Futures timed out") is None


def test_a_topic_made_again_has_another_id(spark: SparkSession, broker: Broker, topic: str) -> None:
    options = {"kafka.bootstrap.servers": broker.address, "subscribe": f"{topic}, nowhere"}
    before = topic_ids(spark, options)
    assert topic_ids(spark, options) == before
    broker.delete_topic(topic)
    assert topic_ids(spark, options) == {}
    broker.create_topic(topic)
    after = topic_ids(spark, options)
    assert before.keys() == after.keys() == {topic}
    assert before != after
