"""What befalls brokers, topics and disks while a program runs: a clear error or recovery, and nothing lost."""

from __future__ import annotations

import json
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.kafka import sensors
from tests.kafka.broker import HOST, Broker, free_port, wait_until
from tests.kafka.sensors import PROGRAM, chunk, in_json

import inkling
from inkling.errors import InklingError
from inkling.spark.streaming.query import LiveQuery

pytestmark = pytest.mark.kafka

PATIENCE_S = 240.0
_numbers = count(1)


class Sensors:
    """Two topics, and a program that reads them into a folder."""

    def __init__(self, spark: SparkSession, broker: Broker, folder: Path) -> None:
        self.spark, self.broker, self.folder = spark, broker, folder
        self.out = folder / "out"
        number = next(_numbers)
        self.topics = {"Reading": f"failing-readings{number}", "Visit": f"failing-visits{number}"}
        for topic in self.topics.values():
            broker.create_topic(topic)

    def send(self, number: int) -> None:
        for stream, rows in chunk(number).items():
            self.broker.produce(self.topics[stream], map(in_json, rows))

    def start(
        self, *, checkpoint: str = "checkpoint", at: str | None = None, options: str = "", to: str | None = None
    ) -> LiveQuery:
        server = f"kafka://{at or self.broker.address}"
        return inkling.parse(PROGRAM).stream(
            self.spark,
            {stream: f"{server}/{topic}{options}" for stream, topic in self.topics.items()},
            checkpoint=self.folder / checkpoint,
            to=to or self.out,
            settings=inkling.StreamSettings(buckets=2, idle_after=None),
        )


@pytest.fixture
def sent(spark: SparkSession, broker: Broker, tmp_path: Path) -> Iterator[Sensors]:
    yield Sensors(spark, broker, tmp_path)
    for query in spark.streams.active:
        query.stop()


def await_rows(query: LiveQuery, n_chunks: int) -> None:
    """Until so many chunks were taken in since the query was started."""
    n_rows = n_chunks * (sensors.READINGS_PER_CHUNK + sensors.VISITS_PER_CHUNK)
    wait_until(lambda: _n_read(query) >= n_rows, f"{n_rows} rows were read", limit_s=PATIENCE_S)


def _n_read(query: LiveQuery) -> int:
    problem = query.query.exception()
    assert problem is None, str(problem)
    return sum(sum(tally.read.values()) for tally in query.tallies)


def failure_of(query: LiveQuery) -> str:
    with pytest.raises(InklingError) as raised:
        assert query.await_end(int(PATIENCE_S)), "the query continues"
    return str(raised.value)


def test_a_broker_that_comes_back(sent: Sensors) -> None:
    sent.send(0)
    query = sent.start()
    await_rows(query, 1)
    sent.broker.kill()
    time.sleep(2)  # long enough for the query to notice
    sent.broker.start()
    sent.send(1)
    await_rows(query, 2)
    query.finish()
    assert sensors.written_matches(sent.out) == sensors.expected([0, 1])


def test_a_topic_that_goes_and_comes_back(sent: Sensors) -> None:
    sent.send(0)
    query = sent.start()
    await_rows(query, 1)
    sent.broker.delete_topic(sent.topics["Reading"])
    assert "error[INK0521]" in failure_of(query)

    with pytest.raises(InklingError, match=rf"INK0521.*no Kafka topic `{sent.topics['Reading']}` for `Reading`"):
        sent.start()
    sent.broker.create_topic(sent.topics["Reading"])
    sent.send(1)
    sent.send(2)
    with pytest.raises(InklingError, match=r"INK0612.*was deleted and created again"):
        sent.start()

    sent.out = sent.folder / "out of the new topic"
    query = sent.start(checkpoint="checkpoint of the new topic")
    query.finish()
    assert sensors.written_matches(sent.out) == sensors.expected([1, 2], visits=[0, 1, 2])


def test_no_broker_at_the_start(sent: Sensors) -> None:
    nobody = f"{HOST}:{free_port()}"
    began = time.monotonic()
    with pytest.raises(InklingError, match=r"INK0522.*no Kafka broker answers") as raised:
        sent.start(at=nobody, options="?kafka.default.api.timeout.ms=3000&kafka.request.timeout.ms=2000")
    assert nobody in str(raised.value)
    assert time.monotonic() - began < 60


def test_results_for_a_topic_that_is_not_there(sent: Sensors) -> None:
    to = f"kafka://{sent.broker.address}/failing-results?kafka.max.block.ms=3000"
    for number in range(3):
        sent.send(number)
    assert "error[INK0521]" in failure_of(sent.start(to=to))

    sent.broker.create_topic("failing-results")
    sent.start(to=to).finish()
    found = [json.loads(value) for value in sent.broker.values("failing-results") if value is not None]
    assert sensors.bag(found) == sum(sensors.expected(range(3)).values(), Counter())


@pytest.fixture
def small_disk(sent: Sensors) -> Iterator[Path]:
    """Where the results go, on a file system of its own."""
    sent.out.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(sent.out)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root may make a file system")
    yield sent.out
    for query in sent.spark.streams.active:
        query.stop()
    subprocess.run(["umount", str(sent.out)], check=True)


def test_a_full_disk(sent: Sensors, small_disk: Path) -> None:
    sent.send(0)
    query = sent.start()
    await_rows(query, 1)
    filling = small_disk / "_others"
    with pytest.raises(OSError, match="No space"):
        filling.write_bytes(bytes(2 << 20))
    for number in (1, 2, 3):
        sent.send(number)
    said = failure_of(query)
    assert "error[INK0610]: no space is left for the results of batch" in said
    assert str(small_disk) in said

    filling.unlink()
    query = sent.start()
    query.finish()
    assert sensors.written_matches(small_disk) == sensors.expected(range(4))
