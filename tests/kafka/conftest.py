"""A broker and a Spark session that can talk to it, one of each for the whole run."""

from collections.abc import Iterator
from itertools import count

import pytest
from pyspark.sql import SparkSession
from tests.kafka.broker import Broker, running_broker

from inkling.spark.kafka.connector import kafka_settings, require_kafka
from inkling.spark.session import spark_session

_numbers = count(1)


@pytest.fixture(scope="session")
def broker() -> Iterator[Broker]:
    with running_broker() as started:
        yield started


@pytest.fixture
def topic(broker: Broker) -> str:
    """A new topic with one partition."""
    name = f"topic{next(_numbers)}"
    broker.create_topic(name)
    return name


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """Takes the place of the session of other tests, which has no connector."""
    session = spark_session(master="local[2]", app_name="inkling-kafka-tests", quick=True, config=kafka_settings())
    require_kafka(session)
    yield session
    session.stop()
