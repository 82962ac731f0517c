"""Messages whose values are Avro, read by Spark's own Avro functions.

These functions neither distinguish a damaged value from a record of nulls nor notice extra bytes at the end. So a mark
is appended to every value, and a record is valid if the mark is read right after it.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro
from pyspark.sql.types import ArrayType, DataType, MapType, StructType

from inkling.errors import InputError
from inkling.io.normalize import require_columns
from inkling.io.readers.records import MALFORMED, ORIGINAL
from inkling.model.schema import StreamSchema
from inkling.spark.kafka.connector import NO_VALUE, VALUE, WHERE, require_avro
from inkling.spark.stage_frame import named

_END_MARK = bytes.fromhex("8f1d7ac0b35e46929c0f6e21d4a87b53")
_READ = "@read"
_HEADER_BYTES = 5


@dataclass(frozen=True, slots=True)
class Avro:
    """Each value is one Avro record without its schema.

    Parameters
    ----------
    schema
        The schema that all values were written with, in JSON.
    has_header
        Whether each record is preceded by a zero byte and four bytes with the id of the schema, as schema registries
        write it.
    schema_id
        The only accepted id; by default, any.
    """

    schema: str
    has_header: bool = False
    schema_id: int | None = None


def avro_rows(
    messages: DataFrame, of_values: Sequence[str], own: Sequence[str], avro: Avro, schema: StreamSchema
) -> DataFrame:
    """Columns `of_values` with their Avro types, and `own` columns as they are."""
    require_avro(messages.sparkSession)
    value = named(VALUE)
    rows = _with_record(messages, avro, schema)
    record = _record_type(rows)
    require_columns(schema, of_values, record.names)
    fault = _fault(avro, F.coalesce(named(_READ)["end"] != F.lit(bytearray(_END_MARK)), F.lit(True)))
    is_sound = fault.isNull()
    return rows.select(
        *(
            F.when(is_sound, _plain(named(_READ)["record"][name], record[name].dataType)).alias(name)
            for name in of_values
        ),
        *(named(name) for name in own),
        F.concat(fault, named(WHERE)).alias(MALFORMED),
        F.when(~is_sound, F.lower(F.hex(value))).alias(ORIGINAL),
    )


def _fault(avro: Avro, is_damaged: Column) -> Column:
    """The reason why a message is rejected, or null."""
    value = named(VALUE)
    fault = F.when(value.isNull(), F.lit(NO_VALUE))
    if avro.has_header:
        header = F.hex(F.substring(value, 1, _HEADER_BYTES))
        no_header = (F.length(value) < _HEADER_BYTES) | ~header.startswith("00")
        fault = fault.when(no_header, F.lit("no number of a schema before the value"))
        if avro.schema_id is not None:
            other = header != F.lit(f"00{avro.schema_id:08X}")
            number = F.conv(F.substring(header, 3, 8), 16, 10)
            message = F.concat(F.lit("written with schema "), number, F.lit(f", expected {avro.schema_id}"))
            fault = fault.when(other, message)
    return fault.when(is_damaged, F.lit("not a record of the Avro schema"))


def _marked(text: str, schema: StreamSchema) -> str:
    """The schema of a record followed by the mark."""
    try:
        record = json.loads(text)
    except ValueError as problem:
        raise _unusable(schema, f"it is not JSON: {problem}") from problem
    if not isinstance(record, dict) or record.get("type") != "record":
        raise _unusable(schema, "it does not describe a record")
    mark = {"type": "fixed", "name": "inkling_end", "size": len(_END_MARK)}
    fields = [{"name": "record", "type": record}, {"name": "end", "type": mark}]
    return json.dumps({"type": "record", "name": "inkling_message", "fields": fields})


def _with_record(messages: DataFrame, avro: Avro, schema: StreamSchema) -> DataFrame:
    """The messages with their decoded records."""
    value = named(VALUE)
    body = F.substring(value, _HEADER_BYTES + 1, 2**31 - 1) if avro.has_header else value
    marked = F.concat(body, F.lit(bytearray(_END_MARK)))
    try:
        return messages.withColumn(_READ, from_avro(marked, _marked(avro.schema, schema), {"mode": "PERMISSIVE"}))
    except Py4JJavaError as problem:
        raise _unusable(schema, problem.java_exception.getMessage()) from problem
    except PySparkException as problem:
        raise _unusable(schema, problem.getMessage()) from problem


def _record_type(rows: DataFrame) -> StructType:
    """The columns of a decoded record."""
    read = rows.schema[_READ].dataType
    assert isinstance(read, StructType)
    record = read["record"].dataType
    assert isinstance(record, StructType)
    return record


def _plain(value: Column, kind: DataType) -> Column:
    """A scalar value as it is; a list, map or record as JSON."""
    return F.to_json(value) if isinstance(kind, ArrayType | MapType | StructType) else value


def _unusable(schema: StreamSchema, reason: str) -> InputError:
    return InputError.of("INK0512", f"the Avro schema for `{schema.name}` cannot be used", notes=(reason,))
