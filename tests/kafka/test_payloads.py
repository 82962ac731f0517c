"""Messages of a real broker become raw rows; damaged ones become rejects that say where they stand."""

import json
from datetime import UTC, datetime

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from tests.kafka import avro
from tests.kafka.broker import Broker

from inkling.errors import InputError
from inkling.io.normalize import Normalized, normalize
from inkling.io.readers.records import MALFORMED, ORIGINAL
from inkling.model.schema import Column, StreamSchema
from inkling.model.types import Type
from inkling.spark.kafka.avro import Avro
from inkling.spark.kafka.payloads import Json, KafkaField, Payload, decoded

pytestmark = pytest.mark.kafka

READING = StreamSchema(
    "Reading",
    (Column("id", Type.STRING), Column("sensor", Type.STRING), Column("value", Type.DOUBLE), Column("t", Type.INTEGER)),
    id="id",
    key=("sensor",),
    start="t",
    end="t",
    time_type=Type.INTEGER,
)
AVRO_SCHEMA = json.dumps(
    {
        "type": "record",
        "name": "Reading",
        "namespace": "org.example",
        "fields": [
            {"name": "id", "type": ["null", "string"]},
            {"name": "sensor", "type": ["null", "string"]},
            {"name": "value", "type": ["null", "double"]},
            {"name": "t", "type": ["null", "long"]},
        ],
    }
)


def reading(identity: str, sensor: str, value: float, t: int) -> bytes:
    fields = (avro.text(identity), avro.text(sensor), avro.double(value), avro.long(t))
    return b"".join(avro.present(field) for field in fields)


def messages(spark: SparkSession, broker: Broker, topic: str) -> DataFrame:
    source = spark.readStream.format("kafka").option("kafka.bootstrap.servers", broker.address)
    return source.option("subscribe", topic).option("startingOffsets", "earliest").load()


def streamed(
    spark: SparkSession, broker: Broker, topic: str, payload: Payload, schema: StreamSchema = READING
) -> pa.Table:
    """All messages that are there, decoded by a streaming query, in the order in which they were sent."""
    rows = decoded(messages(spark, broker, topic), schema, (), payload)
    query = rows.writeStream.format("memory").queryName(topic).trigger(availableNow=True).start()
    assert query.awaitTermination(120)
    return spark.table(topic).toArrow()


def checked(raw: pa.Table, schema: StreamSchema = READING) -> Normalized:
    return normalize(raw, schema)


def test_json_values_are_kept_as_they_are_spelled(spark: SparkSession, broker: Broker, topic: str) -> None:
    broker.produce(
        topic,
        [
            '{"id": "r1", "sensor": "s1", "value": 1.50, "t": 1}',
            '{"t": 12345678901234567890, "sensor": "ß\\u00e9", "other": [1], "id": "r2"}',
            '{"id": "r3", "sensor": "s1", "value": "many", "t": 3}',
            '{"id": 4, "sensor": "s1", "value": {"low": 1}, "t": null}',
        ],
    )
    raw = streamed(spark, broker, topic, Payload())
    assert raw.column_names == ["id", "sensor", "value", "t", MALFORMED, ORIGINAL]
    assert [list(row.values())[:4] for row in raw.to_pylist()] == [
        ["r1", "s1", "1.50", "1"],
        ["r2", "ßé", None, "12345678901234567890"],
        ["r3", "s1", "many", "3"],
        ["4", "s1", '{"low": 1}', None],
    ]
    assert raw[MALFORMED].null_count == 4
    found = checked(raw)
    assert found.rows["id"].to_pylist() == ["r1"]
    assert [(one["id"], one["reason"]) for one in found.rejects.to_pylist()] == [
        ("r2", "bad time"),
        ("r3", "bad value"),
        ("4", "null time"),
    ]


DAMAGED_JSON = {
    "nothing": (None, "no value"),
    "empty": (b"", "not a JSON object"),
    "no JSON": (b"speed 5", "not a JSON object"),
    "cut off": (b'{"id": "r1", "sens', "not a JSON object"),
    "followed by more": (b'{"id": "r1", "sensor": "s1", "t": 1} {', "not a JSON object"),
    "a list": (b'[{"id": "r1", "sensor": "s1", "t": 1}]', "not a JSON object"),
    "a number": (b"7", "not a JSON object"),
    "not UTF-8": (b'{"id": "\xff"}', "not UTF-8: byte 0xff in `id`"),
    "half a character": (b'{"id": "\\ud83d", "sensor": "s1", "t": 1}', "JSON with an unpaired surrogate"),
    "a number without end": (b'{"id": [' + b"7" * 5000 + b"]}", "JSON with a number of more than 4300 digits"),
    "nested without end": (b'{"id": ' + b"[" * 200_000 + b"]" * 200_000 + b"}", "JSON that is nested too deeply"),
}


def test_damaged_json_becomes_rejects(spark: SparkSession, broker: Broker, topic: str) -> None:
    good = b'{"id": "r1", "sensor": "s1", "value": 2, "t": 1}'
    broker.produce(topic, [good, *(value for value, _ in DAMAGED_JSON.values()), good.replace(b"r1", b"r2")])
    found = checked(streamed(spark, broker, topic, Payload(Json())))
    assert found.rows["id"].to_pylist() == ["r1", "r2"]
    rejects = found.rejects.to_pylist()
    assert len(rejects) == len(DAMAGED_JSON)
    for offset, (reject, (value, fault)) in enumerate(zip(rejects, DAMAGED_JSON.values(), strict=True), start=1):
        assert reject["reason"] == "malformed"
        assert reject["detail"].startswith(fault)
        assert reject["detail"].endswith(f" (topic {topic}, partition 0, offset {offset})")
        told = json.loads(reject["row"])
        assert told == (value if value is None else value.decode(errors="backslashreplace"))


def test_avro_values_are_typed(spark: SparkSession, broker: Broker, topic: str) -> None:
    nothing = avro.null() * 4
    broker.produce(topic, [reading("r1", "s1", 1.5, 1), nothing, reading("r2", "ß", -0.25, -(2**40))])
    raw = streamed(spark, broker, topic, Payload(Avro(AVRO_SCHEMA)))
    assert raw.schema.field("value").type == pa.float64()
    assert [list(row.values()) for row in raw.to_pylist()] == [
        ["r1", "s1", 1.5, 1, None, None],
        [None, None, None, None, None, None],
        ["r2", "ß", -0.25, -(2**40), None, None],
    ]
    assert [one["reason"] for one in checked(raw).rejects.to_pylist()] == ["null time"]


WHOLE = reading("r1", "s1", 1.5, 1)
DAMAGED_AVRO = {
    "nothing": None,
    "empty": b"",
    "cut off": WHOLE[:-1],
    "cut off early": WHOLE[:1],
    "followed by more": WHOLE + b"\0",
    "a branch that is not there": avro.long(5) + WHOLE,
    "a text of 2 GB": avro.long(1) + avro.long(2**31 - 20) + b"r1",
    "a text of negative length": avro.long(1) + avro.long(-3) + b"r1",
    "a number of too many bytes": avro.null() * 3 + avro.long(1) + b"\xff" * 12,
    "JSON": b'{"id": "r1", "sensor": "s1", "value": 1.5, "t": 1}',
}


def test_damaged_avro_becomes_rejects(spark: SparkSession, broker: Broker, topic: str) -> None:
    broker.produce(topic, [WHOLE, *DAMAGED_AVRO.values(), reading("r2", "s1", 2.5, 2)])
    found = checked(streamed(spark, broker, topic, Payload(Avro(AVRO_SCHEMA))))
    assert found.rows["id"].to_pylist() == ["r1", "r2"]
    rejects = found.rejects.to_pylist()
    assert [json.loads(reject["row"]) for reject in rejects] == [
        value if value is None else value.hex() for value in DAMAGED_AVRO.values()
    ]
    faults = ["no value", *["not a record of the Avro schema"] * (len(DAMAGED_AVRO) - 1)]
    assert [reject["detail"] for reject in rejects] == [
        f"{fault} (topic {topic}, partition 0, offset {offset})" for offset, fault in enumerate(faults, start=1)
    ]


def test_avro_behind_the_header_of_a_registry(spark: SparkSession, broker: Broker, topic: str) -> None:
    broker.produce(topic, [avro.header(7) + WHOLE, avro.header(300) + WHOLE, WHOLE, b"\0\0\0", avro.header(7) + b"r"])
    any_number = checked(streamed(spark, broker, topic, Payload(Avro(AVRO_SCHEMA, has_header=True))))
    assert any_number.rows["id"].to_pylist() == ["r1", "r1"]
    assert [one["detail"].partition(" (")[0] for one in any_number.rejects.to_pylist()] == [
        "no number of a schema before the value",
        "no number of a schema before the value",
        "not a record of the Avro schema",
    ]


def test_avro_of_one_schema_only(spark: SparkSession, broker: Broker, topic: str) -> None:
    broker.produce(topic, [avro.header(7) + WHOLE, avro.header(300) + WHOLE])
    found = checked(streamed(spark, broker, topic, Payload(Avro(AVRO_SCHEMA, has_header=True, schema_id=7))))
    assert len(found.rows) == 1
    assert found.rejects["detail"].to_pylist() == [
        f"written with schema 300, expected 7 (topic {topic}, partition 0, offset 1)"
    ]


def test_avro_times_lists_and_unused_fields(spark: SparkSession, broker: Broker, topic: str) -> None:
    schema = StreamSchema(
        "Trip", (Column("stops", Type.STRING), Column("at", Type.TIME)), id=None, key=(), start="at", end="at"
    )
    at = {"type": "long", "logicalType": "timestamp-micros"}
    fields = [
        {"name": "unused", "type": {"type": "enum", "name": "Color", "symbols": ["RED", "BLUE"]}},
        {"name": "stops", "type": {"type": "array", "items": "long"}},
        {"name": "at", "type": at},
    ]
    described = json.dumps({"type": "record", "name": "Trip", "fields": fields})
    stops = avro.long(2) + avro.long(5) + avro.long(9) + avro.long(0)
    broker.produce(topic, [avro.long(1) + stops + avro.long(1_000_001)])
    raw = streamed(spark, broker, topic, Payload(Avro(described)), schema)
    assert raw.select(["stops", "at"]).to_pylist() == [
        {"stops": "[5,9]", "at": datetime(1970, 1, 1, 0, 0, 1, 1, tzinfo=UTC)}
    ]
    assert checked(raw, schema).rows["@start"].to_pylist() == [1_000_001]


@pytest.mark.parametrize("kind", [Type.TIME, Type.INTEGER])
def test_columns_that_kafka_has(spark: SparkSession, broker: Broker, topic: str, kind: Type) -> None:
    schema = StreamSchema(
        "Reading", (Column("value", Type.DOUBLE),), id="id", key=("sensor",), start="at", end="at", time_type=kind
    )
    fields = {"at": KafkaField.TIMESTAMP, "sensor": KafkaField.KEY, "id": KafkaField.POSITION}
    broker.produce(topic, ['{"value": 1, "sensor": "another"}', "no JSON"], key="s1", timestamp_ms=86_400_123)
    found = checked(streamed(spark, broker, topic, Payload(Json(), fields), schema), schema)
    unit = 1000 if kind is Type.TIME else 1
    assert found.rows.select(["value", "sensor", "@start", "id"]).to_pylist() == [
        {"value": 1.0, "sensor": "s1", "@start": 86_400_123 * unit, "id": f"{topic}-0-0"}
    ]
    assert found.rejects["id"].to_pylist() == [f"{topic}-0-1"]


def test_avro_with_columns_that_kafka_has(spark: SparkSession, broker: Broker, topic: str) -> None:
    broker.produce(topic, [reading("r1", "s1", 1.5, 1)], timestamp_ms=77)
    payload = Payload(Avro(AVRO_SCHEMA), {"t": KafkaField.TIMESTAMP, "id": KafkaField.OFFSET})
    raw = streamed(spark, broker, topic, payload)
    assert raw.select(["id", "sensor", "t"]).to_pylist() == [{"id": 0, "sensor": "s1", "t": 77}]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "it is not JSON"),
        ('"string"', "it does not describe a record"),
        ('{"type": "record", "name": "R", "fields": [{"name": "id", "type": "word"}]}', "word"),
    ],
)
def test_avro_schema_that_is_none(spark: SparkSession, text: str, reason: str) -> None:
    frame = spark.createDataFrame([(b"",)], "value binary")
    with pytest.raises(InputError) as raised:
        decoded(frame, READING, (), Payload(Avro(text)))
    assert raised.value.diagnostics[0].code == "INK0512"
    assert reason in raised.value.diagnostics[0].notes[0]


def test_avro_schema_without_a_declared_column(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(b"",)], "value binary")
    fields = [{"name": "id", "type": "string"}, {"name": "senser", "type": "string"}]
    with pytest.raises(InputError) as raised:
        decoded(frame, READING, (), Payload(Avro(json.dumps({"type": "record", "name": "R", "fields": fields}))))
    assert raised.value.diagnostics[0].code == "INK0504"
