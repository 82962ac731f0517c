"""Decodes the messages of a topic: JSON, Avro or RDF values become the raw columns of a stream.

A message that cannot be decoded stays a row, with the reason in `MALFORMED` and its text in `ORIGINAL`; `io.normalize`
makes it a reject. No message ends the job, whatever its bytes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from inkling.errors import InputError, nearest
from inkling.io.normalize import stored_columns
from inkling.io.readers.records import MALFORMED, ORIGINAL
from inkling.model.schema import Column as Declared
from inkling.model.schema import StreamSchema
from inkling.model.types import Type
from inkling.spark.kafka.avro import Avro, avro_rows
from inkling.spark.kafka.connector import VALUE, WHERE
from inkling.spark.kafka.json import json_rows
from inkling.spark.kafka.rdf import Rdf, rdf_rows
from inkling.spark.stage_frame import named


@dataclass(frozen=True, slots=True)
class Json:
    """Each value is a JSON object in UTF-8."""


class KafkaField(Enum):
    """What Kafka records about a message besides its value."""

    TIMESTAMP = "timestamp"
    KEY = "key"
    TOPIC = "topic"
    PARTITION = "partition"
    OFFSET = "offset"
    POSITION = "position"
    """Topic, partition and offset in one text, such as `traffic-0-17`: an id that no two messages share."""

    @property
    def sources(self) -> tuple[str, ...]:
        """The columns of Spark's Kafka source that the field consists of."""
        return ("topic", "partition", "offset") if self is KafkaField.POSITION else (self.value,)


@dataclass(frozen=True, slots=True)
class Payload:
    """How to decode messages: the encoding of values, and the columns that come from Kafka itself.

    As an INTEGER, Kafka's timestamp counts milliseconds since 1970.
    """

    encoding: Json | Avro | Rdf = Json()
    fields: Mapping[str, KafkaField] = field(default_factory=dict)


def decoded(frame: DataFrame, schema: StreamSchema, derived: Sequence[str], payload: Payload) -> DataFrame:
    """The messages of Spark's Kafka source as raw rows of a stream.

    The result has the stored columns, `MALFORMED` and `ORIGINAL`. A column that a JSON object lacks is null; one that
    an Avro schema lacks is an error.
    """
    stored = stored_columns(schema, derived)
    _require_fields(frame, schema, stored, payload.fields)
    own = {one.name: _own(payload.fields[one.name], one.type) for one in stored if one.name in payload.fields}
    of_values = [one.name for one in stored if one.name not in own]
    messages = frame.select(
        named("value").cast("binary").alias(VALUE),
        _where(frame).alias(WHERE),
        *(column.alias(name) for name, column in own.items()),
    )
    rows = _values(messages, of_values, list(own), payload.encoding, schema)
    return rows.select(*(named(name) for name in (*(one.name for one in stored), MALFORMED, ORIGINAL)))


def _values(
    messages: DataFrame, of_values: Sequence[str], own: Sequence[str], encoding: Json | Avro | Rdf, schema: StreamSchema
) -> DataFrame:
    match encoding:
        case Avro():
            return avro_rows(messages, of_values, own, encoding, schema)
        case Rdf():
            return rdf_rows(messages, of_values, own, encoding)
        case Json():
            return json_rows(messages, of_values, own)


def _where(frame: DataFrame) -> Column:
    """Topic, partition and offset of a message in words."""
    if not set(KafkaField.POSITION.sources) <= set(frame.columns):
        return F.lit("")
    return F.format_string(" (topic %s, partition %d, offset %d)", named("topic"), named("partition"), named("offset"))


def _own(kafka: KafkaField, kind: Type) -> Column:
    match kafka:
        case KafkaField.POSITION:
            return F.concat_ws("-", *(named(name) for name in kafka.sources))
        case KafkaField.TIMESTAMP if kind is Type.INTEGER:
            return F.unix_millis(named("timestamp"))
        case _:
            return named(kafka.value)


def _require_fields(
    frame: DataFrame, schema: StreamSchema, stored: Sequence[Declared], fields: Mapping[str, KafkaField]
) -> None:
    names = [one.name for one in stored]
    for name, kafka in fields.items():
        if name not in names:
            close = nearest(name, names, n=1)
            raise InputError.of(
                "INK0513",
                f"`{schema.name}` has no stored column `{name}` to take from Kafka's {kafka.value}",
                notes=(f"its stored columns are {', '.join(names)}",),
                helps=tuple(f"write `{one}` instead" for one in close),
            )
        lacking = [source for source in kafka.sources if source not in frame.columns]
        if lacking:
            raise InputError.of(
                "INK0513",
                f"the input for `{schema.name}` has no column `{lacking[0]}` of Kafka's",
                notes=(f"`{name}` is to be taken from Kafka's {kafka.value}",),
            )
