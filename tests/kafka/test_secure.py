"""Topics behind TLS and a login with SCRAM; the password is in the environment and appears nowhere else."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.kafka.broker import Broker
from tests.kafka.secure import LOGIN, PASSWORD, secure_broker

import inkling
from inkling.errors import InklingError
from inkling.spark.kafka.connector import topic_ids
from inkling.spark.streaming.sources.control_messages import messages_of

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.skipif(shutil.which("openssl") is None, reason="certificates are made by openssl"),
]

PROGRAM = inkling.parse("""
STREAM Reading(sensor STRING, value DOUBLE, t BIGINT) KEY sensor TIME t;
EVENT high(r.sensor AS sensor, r.value AS value) AS PATTERN Reading r[value > 10];
""")
TOPICS = ("readings", "found", "found.late", "found.rejects", "settings")


@pytest.fixture(scope="module")
def secure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Broker, str, str]]:
    with secure_broker(tmp_path_factory.mktemp("secure")) as (broker, address, certificate):
        for topic in TOPICS:
            broker.create_topic(topic)
        options = (
            "kafka.security.protocol=SASL_SSL&kafka.sasl.mechanism=SCRAM-SHA-512&kafka.ssl.truststore.type=PEM"
            f"&kafka.ssl.truststore.location={certificate}&kafka.sasl.jaas.config=env:KAFKA_LOGIN"
        )
        yield broker, address, options


def test_from_topic_to_topic(
    spark: SparkSession,
    secure: tuple[Broker, str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    broker, address, options = secure
    monkeypatch.setenv("KAFKA_LOGIN", LOGIN)
    rows = [{"sensor": "s1", "value": value, "t": t} for t, value in enumerate([12.5, 3.0, 11.0])]
    broker.produce("readings", [json.dumps(row) for row in rows])
    checkpoint = tmp_path / "checkpoint"
    query = PROGRAM.stream(
        spark,
        f"kafka://{address}/readings?{options}",
        checkpoint=checkpoint,
        to=f"kafka://{address}/found?{options}",
        settings=inkling.StreamSettings(available_now=True, buckets=2, control=f"kafka://{address}/settings?{options}"),
    )
    query.await_end()
    shown = str([one.json for one in query.query.recentProgress]) + str(query.progress())
    query.finish()
    found = [json.loads(value) for value in broker.values("found") if value is not None]
    assert sorted(one["value"] for one in found) == [11.0, 12.5]

    stored = b"".join(file.read_bytes() for file in checkpoint.rglob("*") if file.is_file())
    assert len(stored) > 1000
    assert PASSWORD.encode() not in stored
    printed = capfd.readouterr()
    assert PASSWORD not in shown + printed.out + printed.err


def test_control_messages(
    spark: SparkSession, secure: tuple[Broker, str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    broker, address, options = secure
    monkeypatch.setenv("KAFKA_LOGIN", LOGIN)
    broker.produce("settings", ['{"forecast": "f"}'])
    found, _ = messages_of(spark, f"kafka://{address}/settings?{options}").after(0)
    assert found == [{"forecast": "f"}]


def test_a_wrong_password(
    spark: SparkSession, secure: tuple[Broker, str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, address, options = secure
    monkeypatch.setenv("KAFKA_LOGIN", LOGIN.replace(PASSWORD, "hush-of-another"))
    with pytest.raises(InklingError, match="INK0523") as raised:
        PROGRAM.stream(spark, f"kafka://{address}/readings?{options}", checkpoint=tmp_path, to="-")
    assert "hush" not in str(raised.value)


def test_spark_shows_no_password(spark: SparkSession, secure: tuple[Broker, str, str]) -> None:
    """Not even in its plans, which it logs when a query fails."""
    _, address, _ = secure
    reader = spark.read.format("kafka").option("kafka.bootstrap.servers", address).option("subscribe", "readings")
    plan = reader.option("kafka.sasl.jaas.config", LOGIN).load()._jdf.queryExecution().analyzed().toString()
    assert PASSWORD not in plan


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"security.protocol": "SASL_SSL", "sasl.jaas.config": "hushhush"}, "Login module control flag not specified"),
        ({"security.protocol": "NONSENSE"}, "Invalid value NONSENSE"),
    ],
)
def test_options_that_kafka_cannot_use(spark: SparkSession, options: dict[str, str], reason: str) -> None:
    given = {"kafka.bootstrap.servers": "127.0.0.1:1", "subscribe": "rows"}
    with pytest.raises(InklingError, match="INK0517") as raised:
        topic_ids(spark, given | {f"kafka.{name}": value for name, value in options.items()})
    assert reason in str(raised.value)
    assert "hushhush" not in str(raised.value)
