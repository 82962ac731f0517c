"""A real Kafka broker of one node: start, stop, kill and restart it, and look into its topics."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from inkling.spark.jvm.jars import fetched, read_jars
from inkling.spark.jvm.java import find_java

HOST = "127.0.0.1"
START_LIMIT_S = 60
CLUSTER = "inklingInklingInklingA"  # 22 characters of base 64, as Kafka wants it
PINS = Path(__file__).with_name("broker.jars")

LOGGING = """\
<Configuration>
  <Appenders><Console name="out"><PatternLayout pattern="%d %p %c{1} %m%n"/></Console></Appenders>
  <Loggers><Root level="warn"><AppenderRef ref="out"/></Root></Loggers>
</Configuration>
"""


def broker_jars() -> list[Path]:
    """The broker's own jars, fetched if this machine has never had them."""
    return fetched(read_jars(PINS.read_text()), "a Kafka broker")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def require_free(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # what a killed broker leaves behind is no one
        probe.bind((HOST, port))


@dataclass(slots=True)
class Broker:
    """A broker that keeps its data in `folder`, so that it can go away and come back at the same address."""

    folder: Path
    port: int
    controller_port: int
    settings: dict[str, str]
    users: dict[str, str] = field(default_factory=dict)  # passwords of those who log in with SCRAM
    process: subprocess.Popen[bytes] | None = None

    @classmethod
    def in_folder(cls, folder: Path, *, port: int | None = None, **settings: str) -> Broker:
        """A broker that is not started yet; `settings` are Kafka's, with underscores for dots."""
        named = {name.replace("_", "."): value for name, value in settings.items()}
        return cls(folder, port or free_port(), free_port(), named)

    @property
    def address(self) -> str:
        """What Kafka calls the bootstrap servers."""
        return f"{HOST}:{self.port}"

    @property
    def log(self) -> Path:
        return self.folder / "broker.log"

    @property
    def pid(self) -> int:
        assert self.process is not None, "the broker does not run"
        return self.process.pid

    def start(self) -> None:
        """Starts the broker and waits until it answers."""
        assert self.process is None, "the broker runs already"
        require_free(self.port)
        self.folder.mkdir(parents=True, exist_ok=True)
        properties, logging = self.folder / "server.properties", self.folder / "log4j2.xml"
        properties.write_text("".join(f"{name}={value}\n" for name, value in self._properties().items()))
        logging.write_text(LOGGING)
        with self.log.open("ab") as log:
            if not (self.folder / "data" / "meta.properties").exists():
                format_storage = self._java("kafka.tools.StorageTool", "format", "-t", CLUSTER, "-c", str(properties))
                for user, password in self.users.items():
                    format_storage += ["--add-scram", f"SCRAM-SHA-512=[name={user},password={password}]"]
                ran = subprocess.run(format_storage, stdout=log, stderr=log, check=False, timeout=START_LIMIT_S)
                self._require(ran.returncode == 0, "the broker's folder could not be prepared")
            self.process = subprocess.Popen(
                self._java("kafka.Kafka", str(properties)), stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        self._wait_until_ready()

    def stop(self) -> None:
        """Lets the broker finish what it does; nothing happens if it does not run."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """Ends the broker at once, as a power cut would."""
        self._end(signal.SIGKILL)

    def restart(self) -> None:
        """Stops the broker, unless it is down, and starts it on the same data at the same address."""
        self.stop()
        self.start()

    def create_topic(self, name: str, *, partitions: int = 1, **config: str) -> None:
        topic = NewTopic(name, partitions, 1, config={key.replace("_", "."): value for key, value in config.items()})
        admin = self._admin()
        admin.create_topics([topic])[name].result()
        wait_until(lambda: self.n_partitions(name) == partitions, f"topic {name} is there")

    def delete_topic(self, name: str) -> None:
        admin = self._admin()
        admin.delete_topics([name])[name].result()
        wait_until(lambda: name not in self.topics(), f"topic {name} is gone")

    def topics(self) -> list[str]:
        """Topics of users, in alphabetical order."""
        found = self._admin().list_topics(timeout=10).topics
        return sorted(name for name in found if not name.startswith("__"))

    def n_partitions(self, topic: str) -> int:
        found = self._admin().list_topics(timeout=10).topics.get(topic)
        return 0 if found is None or found.error is not None else len(found.partitions)

    def produce(
        self,
        topic: str,
        values: Iterable[bytes | str | None],
        *,
        key: bytes | str | None = None,
        partition: int | None = None,
        timestamp_ms: int | None = None,
    ) -> None:
        """Sends messages in order and waits until the broker has them all; None is a tombstone."""
        failures: list[KafkaError] = []

        def told(error: KafkaError | None, _: Message) -> None:
            if error is not None:
                failures.append(error)

        where = {} if partition is None else {"partition": partition}
        when = {} if timestamp_ms is None else {"timestamp": timestamp_ms}
        producer = Producer({**self._client(), "enable.idempotence": True, "linger.ms": 5})
        for value in values:
            while True:
                try:
                    producer.produce(topic, value, key, on_delivery=told, **where, **when)
                    break
                except BufferError:
                    producer.poll(0.1)
            producer.poll(0)
        left = producer.flush(60)
        if failures or left:
            raise KafkaException(failures[0] if failures else KafkaError(KafkaError._TIMED_OUT))

    def messages(self, topic: str) -> list[Message]:
        """All committed messages of a topic, partition after partition."""
        return [message for part in range(self.n_partitions(topic)) for message in self._messages(topic, part)]

    def ends(self, topic: str) -> list[int]:
        """How many messages were ever sent, for each partition."""
        consumer = Consumer({**self._client(), "group.id": "look"})
        try:
            partitions = range(self.n_partitions(topic))
            return [consumer.get_watermark_offsets(TopicPartition(topic, one), timeout=10)[1] for one in partitions]
        finally:
            consumer.close()

    def values(self, topic: str) -> list[bytes | None]:
        return [message.value() for message in self.messages(topic)]

    def _messages(self, topic: str, partition: int) -> Iterator[Message]:
        options = {
            **self._client(),
            "group.id": "look",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "isolation.level": "read_committed",
            "fetch.wait.max.ms": 10,
        }
        consumer = Consumer(options)
        try:
            consumer.assign([TopicPartition(topic, partition, OFFSET_BEGINNING)])
            while True:
                message = consumer.poll(30)
                if message is None:
                    raise TimeoutError(f"no answer about {topic} for 30 s")
                error = message.error()
                if error is None:
                    yield message
                elif error.code() == KafkaError._PARTITION_EOF:
                    return
                else:
                    raise KafkaException(error)
        finally:
            consumer.close()

    def _admin(self) -> AdminClient:
        return AdminClient(self._client())

    def _client(self) -> dict[str, object]:
        return {"bootstrap.servers": self.address, "log_level": 0}

    def _properties(self) -> dict[str, str]:
        return {
            "process.roles": "broker,controller",
            "node.id": "1",
            "controller.quorum.voters": f"1@{HOST}:{self.controller_port}",
            "controller.listener.names": "CONTROLLER",
            "listeners": f"PLAINTEXT://{self.address},CONTROLLER://{HOST}:{self.controller_port}",
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
            "log.dirs": str(self.folder / "data"),
            # one node holds the only copy of everything
            "offsets.topic.replication.factor": "1",
            "offsets.topic.num.partitions": "1",
            "transaction.state.log.replication.factor": "1",
            "transaction.state.log.num.partitions": "1",
            "transaction.state.log.min.isr": "1",
            "share.coordinator.state.topic.replication.factor": "1",
            "share.coordinator.state.topic.min.isr": "1",
            "group.initial.rebalance.delay.ms": "0",
            # a killed broker may not come back before its session has run out
            "broker.session.timeout.ms": "3000",
            "broker.heartbeat.interval.ms": "500",
            # a test that misspells a topic should hear of it
            "auto.create.topics.enable": "false",
            **self.settings,
        }

    def _java(self, *words: str) -> list[str]:
        options = ["-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Djava.awt.headless=true"]
        options.append(f"-Dlog4j2.configurationFile={self.folder / 'log4j2.xml'}")
        class_path = os.pathsep.join(str(jar) for jar in broker_jars())
        return [str(find_java().executable), *options, "-cp", class_path, *words]

    def _require(self, holds: bool, otherwise: str) -> None:
        if not holds:
            raise RuntimeError(f"{otherwise}:\n{self.log.read_text()[-2000:]}")

    def _wait_until_ready(self) -> None:
        def answers() -> bool:
            assert self.process is not None
            status = self.process.poll()
            self._require(status is None, f"the broker ended with status {status}")
            try:
                with socket.create_connection((HOST, self.port), timeout=1):
                    pass
                return bool(self._admin().list_topics(timeout=2).brokers)
            except (OSError, KafkaException):
                return False

        try:
            wait_until(answers, "the broker answers", limit_s=START_LIMIT_S)
        except BaseException:
            self.kill()
            raise

    def _end(self, how: signal.Signals) -> None:
        if self.process is None:
            return
        process, self.process = self.process, None
        process.send_signal(how)
        try:
            process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_until(holds: Callable[[], bool], what: str, *, limit_s: float = 30) -> None:
    """Waits until `holds` says so."""
    end = time.monotonic() + limit_s
    while not holds():
        if time.monotonic() > end:
            raise TimeoutError(f"after {limit_s} s it is still not so that {what}")
        time.sleep(0.05)


@contextmanager
def running_broker(folder: Path | None = None, *, port: int | None = None, **settings: str) -> Iterator[Broker]:
    """A started broker, which is gone afterwards; so are its data, unless `folder` says where to keep them."""
    with tempfile.TemporaryDirectory(prefix="inkling-kafka-") as scratch:
        broker = Broker.in_folder(folder or Path(scratch), port=port, **settings)
        broker.start()
        try:
            yield broker
        finally:
            broker.stop()
