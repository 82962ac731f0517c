"""Recorded rows are sent to a topic in their order, with their keys, and mean the same as the files."""

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.kafka.broker import Broker
from typer.testing import CliRunner

import inkling
from inkling import InputError
from inkling.cli import app
from inkling.spark.kafka.messages import TopicWriter
from inkling.spark.streaming.addresses import address_of

pytestmark = pytest.mark.kafka

PROGRAM = """
STREAM Door(id BIGINT, who STRING, room STRING, t BIGINT) ID id KEY who TIME t ORDER BY id;
EVENT visit AS PATTERN SEQ STRICT(Door[room = 'hall'], Door[room = 'lab']) PARTITION BY who;
"""
ROOMS = ("hall", "lab", "yard")
ROWS = [{"id": n, "who": f"0{n % 5}", "room": ROOMS[n * n % 3], "t": n // 2} for n in range(60)]


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    path = tmp_path / "Door.csv"
    lines = [",".join(ROWS[0]), *(",".join(map(str, row.values())) for row in ROWS)]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_rows_arrive_in_order_and_with_their_keys(
    spark: SparkSession, broker: Broker, recorded: Path, tmp_path: Path
) -> None:
    broker.create_topic("replayed", partitions=3)
    to = f"kafka://{broker.address}/replayed"
    told = ("replay", str(recorded), "--to", f"{to}?key=who", "--time", "t", "--speed", "1000", "--every", "0.01")
    result = CliRunner().invoke(app, told)
    assert result.exit_code == 0, result.output
    assert "60 rows sent" in result.stderr
    found = broker.messages("replayed")
    assert sorted(json.loads(one.value())["id"] for one in found) == [row["id"] for row in ROWS]
    by_key: dict[str, list[tuple[int, int]]] = {}
    for message in found:
        row = json.loads(message.value())
        assert message.key().decode() == row["who"]
        by_key.setdefault(row["who"], []).append((message.partition(), row["id"]))
    for key, some in by_key.items():
        assert len({partition for partition, _ in some}) == 1
        assert [number for _, number in some] == [row["id"] for row in ROWS if row["who"] == key]
    program = inkling.parse(PROGRAM)
    query = program.stream(
        spark,
        {"Door": to},
        checkpoint=tmp_path / "checkpoint",
        to=tmp_path / "out",
        settings=inkling.StreamSettings(available_now=True, unbounded=True),
    )
    query.finish()
    streamed = spark.read.parquet(str(tmp_path / "out" / "visit")).toArrow()["lineage"].to_pylist()
    at_once = program.run_local({"Door": recorded}).tables["visit"]["lineage"].to_pylist()
    assert len(at_once) > 5
    assert sorted(streamed) == sorted(at_once)


def test_a_broker_that_does_not_answer(spark: SparkSession) -> None:
    limits = "kafka.max.block.ms=2000&kafka.delivery.timeout.ms=3000&kafka.request.timeout.ms=1000"
    address = address_of(f"kafka://127.0.0.1:9/none?{limits}")
    with pytest.raises(InputError):
        TopicWriter.of(spark, address).send([(None, "{}")])
