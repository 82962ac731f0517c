"""Messages as Spark's Kafka source gives them, without Kafka: JSON needs no connector, and errors are named."""

from dataclasses import replace

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from inkling.errors import InputError
from inkling.io.readers.formats import Format
from inkling.io.readers.records import MALFORMED, ORIGINAL
from inkling.model.schema import Column, StreamSchema
from inkling.model.types import Type
from inkling.spark.kafka.avro import Avro
from inkling.spark.kafka.connector import NoKafkaError, require_kafka
from inkling.spark.kafka.payloads import KafkaField, Payload, decoded
from inkling.spark.kafka.rdf import Rdf

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


TRIPLE = StreamSchema(
    "triple", tuple(Column(name, Type.TERM) for name in ("s", "p", "o")), id=None, key=(), start="t", end="t"
)


def test_a_message_is_a_small_rdf_document_with_blank_nodes_of_its_own(spark: SparkSession) -> None:
    graph = """_:r <http://ex.org/of> <http://ex.org/a> <http://ex.org/g> .
    _:r <http://ex.org/is> "1" <http://ex.org/g> .
    <http://ex.org/g> <http://www.w3.org/ns/prov#generatedAtTime> "5"^^<http://www.w3.org/2001/XMLSchema#integer> ."""
    values = pa.array([graph.encode(), graph.replace('"5"', '"6"').encode(), b"no", None], pa.binary())
    place = {"topic": ["t"] * 4, "partition": pa.array([0] * 4, pa.int32()), "offset": range(4)}
    messages = spark.createDataFrame(pa.table({"value": values, **place}))
    payload = Payload(Rdf(Format.N_QUADS), {"offset": KafkaField.OFFSET})
    schema = replace(TRIPLE, columns=(*TRIPLE.columns, Column("offset", Type.INTEGER)))
    found = decoded(messages.coalesce(1), schema, (), payload).toArrow().to_pylist()
    found.sort(key=lambda row: row["offset"])
    assert [(row["p"], row["t"], row["offset"]) for row in found[:4]] == [
        ("<http://ex.org/of>", "5", 0),
        ("<http://ex.org/is>", "5", 0),
        ("<http://ex.org/of>", "6", 1),
        ("<http://ex.org/is>", "6", 1),
    ]
    assert found[0]["s"] == found[1]["s"] != found[2]["s"]
    assert [row[MALFORMED] for row in found[4:]] == [
        "line 1: not a statement of N-Quads: The subject of a triple must be an IRI or a blank node"
        " (topic t, partition 0, offset 2)",
        "no value (topic t, partition 0, offset 3)",
    ]


def test_a_message_in_turtle_takes_its_time_from_kafka(spark: SparkSession) -> None:
    values = pa.array([b"<http://ex.org/a> a 5 , 6 .", b"<http://ex.org/a> a", b""], pa.binary())
    messages = spark.createDataFrame(pa.table({"value": values, "timestamp": [1, 2, 3]}))
    payload = Payload(Rdf(Format.TURTLE), {"t": KafkaField.TIMESTAMP})
    found = decoded(messages.coalesce(1), TRIPLE, (), payload).toArrow().to_pylist()
    assert [(row["o"], row["t"]) for row in found] == [
        ('"5"^^<http://www.w3.org/2001/XMLSchema#integer>', 1),
        ('"6"^^<http://www.w3.org/2001/XMLSchema#integer>', 1),
        (None, 2),
    ]
    assert found[2][MALFORMED].startswith("not Turtle: Parser error")
    assert found[2][ORIGINAL] == "<http://ex.org/a> a"


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
