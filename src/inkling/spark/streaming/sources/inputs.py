"""The inputs of a streaming query: streaming DataFrames, folders in which files appear, tables, topics, a rate."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T
from pyspark.sql.pandas.types import to_arrow_type

from inkling.analysis.inputs import require_inputs
from inkling.errors import InputError
from inkling.io import Data
from inkling.io.casting import SAMPLE
from inkling.io.normalize import (
    clock_in,
    declared_clock,
    require_columns,
    require_readable,
    stored_columns,
    times_of_events,
)
from inkling.io.readers.files import read_sample
from inkling.io.readers.formats import Format, format_of_folder, is_visible
from inkling.io.readers.options import NAMES, FileOptions, options_of
from inkling.io.readers.places import missing_file
from inkling.io.readers.records import MALFORMED, ORIGINAL
from inkling.logical.plan import ProgramPlan, StreamPlan
from inkling.model.schema import Column, StreamSchema
from inkling.model.time import Clock
from inkling.physical.plan import Runnable
from inkling.spark.kafka.avro import Avro
from inkling.spark.kafka.payloads import Json, KafkaField, Payload, decoded
from inkling.spark.kafka.rdf import Rdf
from inkling.spark.read.inputs import is_table, read_facts
from inkling.spark.streaming.addresses import Address, absolute, address_of, one_of, servers_and_topic
from inkling.spark.streaming.checkpoint.storage import CheckpointFolder
from inkling.spark.streaming.sources.file_reader import CONTENT, PATH, FileReader

SAMPLED_FILES = 10
_FILES = f"{PATH} string, modificationTime timestamp, length bigint, {CONTENT} binary"


@dataclass(frozen=True, slots=True)
class StreamSource:
    """A streaming frame, the columns to read, and how a worker makes rows of the stream from them."""

    frame: DataFrame
    columns: tuple[str, ...]
    clock: Clock
    reader: Callable[[pa.Table], Iterator[pa.Table]] | None = None  # None if the frame has the rows themselves
    kafka: Mapping[str, str] | None = None  # options of Spark's source, for topics


def opened(spark: SparkSession, stream: StreamPlan, given: Any) -> StreamSource:
    """The source of a stream that is given as a streaming frame, a folder, or an address."""
    derived = [column.name for column in stream.derived]
    if isinstance(given, DataFrame):
        return _of_frame(given, stream.schema, derived)
    if isinstance(given, Path):
        return _of_folder(spark, Address(str(given), "", str(given)), stream.schema, derived)
    if not isinstance(given, str):
        raise _no_stream(stream.schema.name, f"data of type {type(given).__name__}")
    address = address_of(given)
    match address.kind:
        case "kafka":
            return _of_topic(spark, address, stream.schema, derived)
        case "rate":
            return _of_frame(_rate(spark, address), stream.schema, derived)
        case "postgresql":
            raise InputError.of("INK0515", f"`{address.text}` can be written, but not read")
        case "table":
            return _of_frame(_table(spark, address, stream.schema.name), stream.schema, derived)
        case _:
            if not _is_remote(address.place) and not Path(address.place).exists() and is_table(spark, address.place):
                return _of_frame(_table(spark, address, stream.schema.name), stream.schema, derived)
            return _of_folder(spark, address, stream.schema, derived)


def _of_frame(frame: DataFrame, schema: StreamSchema, derived: Sequence[str]) -> StreamSource:
    if not frame.isStreaming:
        raise _no_stream(schema.name, "a DataFrame that is not a stream")
    wanted = stored_columns(schema, derived)
    require_columns(schema, [column.name for column in wanted], frame.columns)
    clock = clock_of_frame(frame, schema)
    for column in wanted:
        kind = to_arrow_type(frame.schema[column.name].dataType, timezone="UTC")
        require_readable(schema, column, kind, clock)
    about = [name for name in (MALFORMED, ORIGINAL) if name in frame.columns]
    return StreamSource(frame, (*(column.name for column in wanted), *about), clock)


def _of_folder(spark: SparkSession, address: Address, schema: StreamSchema, derived: Sequence[str]) -> StreamSource:
    mine, options = address.taken(*NAMES)
    written = options_of(mine, address.text, "&".join(f"{name}={value}" for name, value in mine.items()))
    files = _files_in(spark, address, schema.name)
    kind = written.format or _format(address, files, schema.name)
    written.require_fit(kind, address.text, what=schema.name)
    wanted = stored_columns(schema, derived)
    clock = _clock_of_files(kind, files, written, schema, wanted)
    reader = spark.readStream.format("binaryFile").schema(_FILES).option("recursiveFileLookup", "true")
    frame = reader.options(**options).load(absolute(address.place))
    return StreamSource(frame, (PATH, CONTENT), clock, FileReader(kind, tuple(wanted), clock, written, schema.epoch))


def _files_in(spark: SparkSession, address: Address, what: str) -> list[str]:
    """The names of existing files, as paths if they are on this machine."""
    if _is_remote(address.place):
        return CheckpointFolder(spark, address.place).names()
    path = Path(address.place)
    if path.is_file():
        raise _no_stream(what, f"the file `{path}`", "name the folder in which new files appear")
    if not path.is_dir():
        raise missing_file(path, what=what)
    inside = (one for one in path.rglob("*") if one.is_file())
    return sorted(str(one) for one in inside if is_visible(one.relative_to(path)))


def _format(address: Address, files: Sequence[str], what: str) -> Format:
    if files:
        return format_of_folder(Path(address.place), [Path(one).name for one in files], what=what)
    raise InputError.of(
        "INK0502",
        f"nothing in the folder `{address.place}` for `{what}` shows the format of future files",
        helps=(f"write `{address.place}?format=parquet`, or csv or json",),
    )


def _clock_of_files(
    kind: Format, files: Sequence[str], options: FileOptions, schema: StreamSchema, wanted: Sequence[Column]
) -> Clock:
    """The clock that the first file with rows shows; without one, times are timestamps."""
    names = [column.name for column in wanted]
    for path in [path for one in files if (path := Path(one)).is_file()][:SAMPLED_FILES]:
        try:
            sample = read_sample(kind, [options.at(path)], SAMPLE, what=schema.name, columns=names)
        except InputError:
            continue
        if len(sample) and schema.start in sample.column_names:
            return clock_in(schema, times_of_events(sample, schema))
    return declared_clock(schema) or Clock.TIMESTAMP


def _of_topic(spark: SparkSession, address: Address, schema: StreamSchema, derived: Sequence[str]) -> StreamSource:
    from inkling.spark.kafka.connector import require_kafka

    servers, topic = servers_and_topic(address)
    require_kafka(spark)
    fields = {kafka.value for kafka in KafkaField}
    mine, options = address.taken("format", "schema", "header", "starting", *fields)
    payload = Payload(_encoding(mine, address), {mine[name]: KafkaField(name) for name in fields if name in mine})
    options = {"kafka.bootstrap.servers": servers, "subscribe": topic, **options}
    reader = spark.readStream.format("kafka").option("startingOffsets", mine.get("starting", "earliest"))
    frame = reader.options(**options).load()
    return replace(_of_frame(decoded(frame, schema, derived, payload), schema, derived), kafka=options)


RDF_MESSAGES = {"nquads": Format.N_QUADS, "ntriples": Format.N_TRIPLES, "trig": Format.TRIG, "turtle": Format.TURTLE}


def _encoding(options: dict[str, str], address: Address) -> Json | Avro | Rdf:
    choices = ("json", "avro", *RDF_MESSAGES)
    kind = one_of(options.get("format", "json"), choices, option="format", address=address)
    if kind == "json":
        return Json()
    if kind in RDF_MESSAGES:
        return Rdf(RDF_MESSAGES[kind])
    if "schema" not in options:
        raise InputError.of("INK0515", f"`{address.text}` names no Avro schema", helps=("add `&schema=FILE.avsc`",))
    path = Path(options["schema"])
    if not path.is_file():
        raise missing_file(path, what="the Avro schema")
    return Avro(path.read_text(encoding="utf-8"), has_header=options.get("header", "none") == "registry")


def _rate(spark: SparkSession, address: Address) -> DataFrame:
    if not address.place.isdigit():
        raise InputError.of(
            "INK0515", f"`{address.text}` has no number of rows per second", helps=("write `rate://100`",)
        )
    reader = spark.readStream.format("rate").option("rowsPerSecond", address.place)
    return reader.options(**address.options).load()


def _table(spark: SparkSession, address: Address, what: str) -> DataFrame:
    try:
        return spark.readStream.options(**address.options).table(address.place)
    except (AnalysisException, PySparkException) as problem:
        reason = str(problem).strip().splitlines()[0]
        raise InputError.of(
            "INK0514", f"the table `{address.place}` for `{what}` cannot be read as a stream", notes=(reason,)
        ) from None


def _is_remote(place: str) -> bool:
    return "://" in place and not place.startswith("file://")


def _no_stream(what: str, found: str, *helps: str) -> InputError:
    return InputError.of(
        "INK0514",
        f"`{what}` was given {found}, expected a stream",
        notes=(
            "a stream is a streaming DataFrame, a folder in which files appear, `table://NAME`, "
            "`kafka://HOST:PORT/TOPIC` or `rate://ROWS-PER-SECOND`",
        ),
        helps=helps or ("`program.run` and `inkling run` read what is there already",),
    )


def clock_of_frame(frame: DataFrame, schema: StreamSchema) -> Clock:
    """Integers are ticks; timestamps and texts are timestamps, unless the stream declares its clock."""
    whole = (T.ByteType, T.ShortType, T.IntegerType, T.LongType, T.DecimalType)
    is_whole = isinstance(frame.schema[schema.start].dataType, whole)
    return clock_in(schema, pa.chunked_array([], pa.int64() if is_whole else pa.string()))


@dataclass(frozen=True, slots=True)
class GivenStreams:
    """The streams and tables of a user, for the running program and those that replace it."""

    spark: SparkSession
    inputs: Mapping[str, Any]
    tables: Mapping[str, Data]

    def sources(self, program: ProgramPlan) -> dict[str, StreamSource]:
        """The sources of all streams, in a fixed order, because a checkpoint refers to sources by their number."""
        require_inputs(program, self.inputs)
        streams = sorted(program.streams, key=lambda stream: stream.schema.name)
        return {
            stream.schema.name: opened(self.spark, stream, self.inputs[stream.schema.name])
            for stream in streams
            if stream.schema.name in self.inputs
        }

    def facts(self, program: Runnable, *, strict: bool = False) -> dict[str, pa.Table]:
        """The tables as they are now; `strict` rejects tables that the program does not have."""
        declared = {table.name for table in program.plan.tables}
        mine = {name: data for name, data in self.tables.items() if strict or name in declared}
        return read_facts(self.spark, program, mine)
