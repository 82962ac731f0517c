"""Messages as Spark's Kafka source gives them, without Kafka: JSON needs no connector, and errors are named."""

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from inkling.errors import InputError
from inkling.io.readers.records import MALFORMED, ORIGINAL
from inkling.model.schema import Column, StreamSchema
from inkling.model.types import Type
from inkling.spark.kafka.avro import Avro
from inkling.spark.kafka.connector import NoKafkaError, require_kafka
from inkling.spark.kafka.payloads import KafkaField, Payload, decoded

CAR = StreamSchema(
    "Car",
    (Column("speed", Type.DOUBLE), Column("speed.max", Type.DOUBLE), Column("kmh", Type.DOUBLE)),
    id=None,
    key=(),
    start="t",
    end="t",
    time_type=Type.INTEGER,
)


def test_stored_columns_in_their_order_and_none_that_are_derived(spark: SparkSession) -> None:
    values = [b'{"t": 1, "speed.max": 9, "kmh": 3, "speed": 5}', b"{", None]
    messages = spark.createDataFrame(pa.table({"value": pa.array(values, pa.binary())}))
    rows = decoded(messages, CAR, ("kmh",), Payload())
    assert rows.columns == ["speed", "speed.max", "t", MALFORMED, ORIGINAL]
    assert [tuple(row) for row in rows.collect()] == [
        ("5", "9", "1", None, values[0].decode()),
        (None, None, None, "not a JSON object", "{"),
        (None, None, None, "no value", None),
    ]


def test_values_may_be_texts(spark: SparkSession) -> None:
    messages = spark.createDataFrame([('{"t": 1}',)], "value string")
    assert [row["t"] for row in decoded(messages, CAR, ("kmh",), Payload()).collect()] == ["1"]


def test_no_messages_are_no_rows(spark: SparkSession) -> None:
    messages = spark.createDataFrame([], "value binary")
    assert decoded(messages, CAR, (), Payload()).collect() == []


@pytest.mark.parametrize(
    ("column", "kafka", "message"),
    [
        ("sped", KafkaField.KEY, "`Car` has no stored column `sped` to take from Kafka's key"),
        ("kmh", KafkaField.KEY, "`Car` has no stored column `kmh` to take from Kafka's key"),
        ("t", KafkaField.TIMESTAMP, "the input for `Car` has no column `timestamp` of Kafka's"),
        ("speed", KafkaField.POSITION, "the input for `Car` has no column `topic` of Kafka's"),
    ],
)
def test_a_field_that_cannot_be_a_column(spark: SparkSession, column: str, kafka: KafkaField, message: str) -> None:
    messages = spark.createDataFrame([], "value binary")
    with pytest.raises(InputError) as raised:
        decoded(messages, CAR, ("kmh",), Payload(fields={column: kafka}))
    assert (raised.value.diagnostics[0].code, raised.value.diagnostics[0].message) == ("INK0513", message)


def test_a_session_without_the_connector_is_rejected(spark: SparkSession) -> None:
    with pytest.raises(NoKafkaError) as raised:
        require_kafka(spark)
    assert raised.value.diagnostics[0].code == "INK0604"
    with pytest.raises(NoKafkaError) as raised:
        decoded(spark.createDataFrame([], "value binary"), CAR, (), Payload(Avro("{}")))
    assert raised.value.diagnostics[0].code == "INK0604"
