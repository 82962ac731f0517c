"""The protocol of sinks, and the sinks for files, tables, memory, the terminal and functions.

After a crash a micro-batch is delivered again; a sink must then hold its results once.
"""

import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from operator import and_
from pathlib import Path
from typing import Protocol, TextIO, TypeAlias, runtime_checkable

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, StringType, StructType

from inkling.errors import InputError
from inkling.io.readers.rdf_lines import TERMS
from inkling.results import ADDED, as_text
from inkling.spark.stage_frame import named
from inkling.spark.streaming.addresses import Address, absolute, address_of, one_of, servers_and_topic
from inkling.spark.streaming.checkpoint.storage import CheckpointFolder
from inkling.spark.streaming.sinks.outputs import LATE, REJECTS, SinkOutput
from inkling.whole_files import file_name

RDF = ("ntriples", "turtle")
"""One statement per line, which is N-Triples and Turtle alike."""
FORMATS = ("parquet", "json", "csv", *RDF)
BATCH = "batch"
_FORMULA = "^[=+\\-@\t\r]"
ROWS_IN_ONE_FILE = 100_000
TIMES = "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"
"""The format of times; Spark's default has milliseconds only."""


@dataclass(frozen=True, slots=True)
class SinkStart:
    """What a sink may need before the first delivery."""

    spark: SparkSession
    outputs: tuple[str, ...]
    checkpoint: CheckpointFolder
    is_new: bool  # whether the checkpoint has never been used
    columns: Mapping[str, StructType] = field(default_factory=dict)  # of the outputs whose rows can be withdrawn

    @property
    def run_id(self) -> str:
        """The id of the query, which is the same after a restart with the same checkpoint."""
        stored = self.checkpoint.inside("spark").read("metadata")
        return str(json.loads(stored)["id"]) if stored else ""


class Sink(Protocol):
    """Receives the outputs of a micro-batch; called again with the same batch number after a crash."""

    def deliver(self, outputs: Iterable[SinkOutput], batch: int) -> None: ...


@runtime_checkable
class PreparedSink(Protocol):
    """A sink that checks its target before the first delivery, and may reject it."""

    def begin(self, start: SinkStart) -> None: ...


@runtime_checkable
class ShapedSink(Protocol):
    """A sink whose tables have fixed columns, and which may reject results with other columns."""

    def require_columns(self, spark: SparkSession, columns: Mapping[str, StructType]) -> None: ...


SinkFunction: TypeAlias = Callable[[str, DataFrame, int], None]


@dataclass(frozen=True, slots=True)
class FileSink:
    """A folder per output, with a folder per micro-batch, which a repeated delivery replaces.

    N-Triples and Turtle have the columns `s`, `p` and `o` of added results; outputs without them are written as JSON.
    """

    path: str
    format: str = "parquet"
    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    escapes_formulas: bool = False  # in CSV, text that a spreadsheet would compute

    def begin(self, start: SinkStart) -> None:
        if not start.is_new:
            return
        for name in start.outputs:
            found = CheckpointFolder(start.spark, self._folder(name)).names()
            if any(one.startswith(f"{BATCH}=") for one in found):
                raise other_results(f"`{self.path.rstrip('/')}/{name}` holds results", f"`{self.path}`")

    def deliver(self, outputs: Iterable[SinkOutput], batch: int) -> None:
        for output in outputs:
            frame = in_few_files(output)
            if self.format in RDF and set(TERMS) <= set(frame.columns):
                folder = f"{self._folder(output.name)}/{BATCH}={batch}"
                _triples(frame).write.mode("overwrite").text(folder, **self.options)
                continue
            frame = _without_lists(frame) if self.format == "csv" else frame
            frame = _without_formulas(frame) if self.escapes_formulas else frame
            plain = {} if self.format == "parquet" else {"timestampFormat": TIMES}
            plain |= {"header": "true", "escape": '"'} if self.format == "csv" else {}
            kind = "json" if self.format in RDF else self.format
            plain |= {"ignoreNullFields": "false"} if kind == "json" else {}
            writer = frame.write.mode("overwrite").format(kind).options(**{**plain, **self.options})
            writer.save(f"{self._folder(output.name)}/{BATCH}={batch}")

    def _folder(self, name: str) -> str:
        return f"{absolute(self.path).rstrip('/')}/{file_name(name)}"


@dataclass(frozen=True, slots=True)
class TableSink:
    """A table `<prefix>_<output>` per output, with a partition per micro-batch, which a repeated delivery replaces."""

    prefix: str
    options: Mapping[str, str] = field(default_factory=dict, repr=False)

    def begin(self, start: SinkStart) -> None:
        if not start.is_new:
            return
        spark = start.spark
        for name in map(self.table_name, start.outputs):
            if spark.catalog.tableExists(name) and not spark.table(name).isEmpty():
                raise other_results(f"the table `{name}` holds rows", "the tables")

    def deliver(self, outputs: Iterable[SinkOutput], batch: int) -> None:
        for output in outputs:
            name = self.table_name(output.name)
            spark = output.frame.sparkSession
            if not spark.catalog.tableExists(name):
                kinds = output.frame.withColumn(BATCH, F.lit(batch).cast("bigint")).schema
                nothing = spark.createDataFrame([], kinds)
                nothing.write.partitionBy(BATCH).options(**self.options).saveAsTable(name)
            spark.sql(
                f"INSERT OVERWRITE TABLE {name} PARTITION ({BATCH} = {batch}) SELECT * FROM {{rows}}",
                rows=in_few_files(output),
            )

    def table_name(self, output: str) -> str:
        return f"{self.prefix}_{re.sub(r'[^0-9A-Za-z_]', '_', output)}"


@dataclass(frozen=True, slots=True)
class MemorySink:
    """All rows in the memory of the driver: for tests, notebooks and small streams."""

    batches: dict[str, dict[int, pa.Table]] = field(default_factory=dict)

    def deliver(self, outputs: Iterable[SinkOutput], batch: int) -> None:
        for output in outputs:
            self.batches.setdefault(output.name, {})[batch] = output.frame.toArrow()

    def rows(self, output: str) -> list[dict[str, object]]:
        """Rows of an event, or of `late` or `rejects`, in the order of delivery."""
        found = self.batches.get(output, {})
        return [row for batch in sorted(found) for row in found[batch].to_pylist()]


@dataclass(frozen=True, slots=True)
class ConsoleSink:
    """Results as JSON lines on stdout; late rows and rejects on stderr, after the name of their output.

    A batch that is delivered twice is printed twice.
    """

    results: TextIO | None = None
    others: TextIO | None = None

    def deliver(self, outputs: Iterable[SinkOutput], batch: int) -> None:
        results, others = self.results or sys.stdout, self.others or sys.stderr
        for output in outputs:
            aside = output.name in (LATE, REJECTS)
            for row in output.frame.toArrow().to_pylist():
                text = json.dumps(row, default=as_text, ensure_ascii=False)
                (others if aside else results).write(f"{output.name}: {text}\n" if aside else f"{text}\n")
        results.flush()


@dataclass(frozen=True, slots=True)
class CallbackSink:
    """A function of (name, frame, batch), which may be called with a batch twice."""

    function: SinkFunction

    def deliver(self, outputs: Iterable[SinkOutput], batch: int) -> None:
        for output in outputs:
            self.function(output.name, output.frame, batch)


def sink_of(to: Sink | str | Path | SinkFunction) -> Sink:
    """The sink for a folder, an address, `-` for the terminal, a sink, or a function."""
    if isinstance(to, Path):
        return FileSink(str(to))
    if not isinstance(to, str):
        return to if hasattr(to, "deliver") else CallbackSink(to)
    if to == "-":
        return ConsoleSink()
    address = address_of(to)
    match address.kind:
        case "table":
            return TableSink(address.place, address.options)
        case "kafka":
            from inkling.spark.streaming.sinks.kafka import KafkaSink

            mine, others = address.taken("keep")
            return KafkaSink(*servers_and_topic(address), others, _keeps_current(mine, address))
        case "postgresql":
            from inkling.spark.streaming.sinks.postgres import PostgresSink

            return PostgresSink.at(address)
        case "rate":
            raise InputError.of("INK0515", f"`{to}` can be read, but not written")
        case _:
            mine, others = address.taken("format", "keep", "formulas")
            if _keeps_current(mine, address):
                from inkling.spark.streaming.sinks.current_files import CurrentSink

                one_of(mine.get("format", "parquet"), ("parquet",), option="format", address=address)
                return CurrentSink(address.place)
            kind = one_of(mine.get("format", "parquet"), FORMATS, option="format", address=address)
            return FileSink(address.place, kind, others, _escapes_formulas(mine, kind, address))


def _keeps_current(options: Mapping[str, str], address: Address) -> bool:
    return "keep" in options and one_of(options["keep"], ("current",), option="keep", address=address) == "current"


def _escapes_formulas(options: Mapping[str, str], kind: str, address: Address) -> bool:
    if "formulas" not in options:
        return False
    one_of(kind, ("csv",), option="format", address=address)
    return one_of(options["formulas"], ("escape",), option="formulas", address=address) == "escape"


def in_few_files(output: SinkOutput) -> DataFrame:
    return output.frame.coalesce(1) if output.n_rows <= ROWS_IN_ONE_FILE else output.frame


def _triples(frame: DataFrame) -> DataFrame:
    """Lines of N-Triples."""
    complete = reduce(and_, (named(name).isNotNull() for name in TERMS))
    added = frame.where(complete & (named("op") == F.lit(ADDED))) if "op" in frame.columns else frame.where(complete)
    return added.select(F.concat_ws(" ", *(named(name) for name in TERMS), F.lit(".")).alias("value"))


def _without_lists(frame: DataFrame) -> DataFrame:
    lists = [column.name for column in frame.schema if isinstance(column.dataType, ArrayType)]
    return frame.withColumns({name: F.to_json(name) for name in lists}) if lists else frame


def _without_formulas(frame: DataFrame) -> DataFrame:
    """A quote before text, and before names of columns, that a spreadsheet would take for a formula."""
    texts = [column.name for column in frame.schema if isinstance(column.dataType, StringType)]
    columns = [
        F.when(named(name).rlike(_FORMULA), F.concat(F.lit("'"), named(name))).otherwise(named(name)).alias(name)
        if name in texts
        else named(name)
        for name in frame.columns
    ]
    return frame.select(*columns).toDF(*(f"'{name}" if re.match(_FORMULA, name) else name for name in frame.columns))


def lost_results(place: str) -> InputError:
    """The error for tables of current matches that are missing where a run resumes."""
    return InputError.of(
        "INK0516",
        f"there are no tables of current matches in {place}, but the checkpoint has been used",
        notes=("matches that were emitted before, and are still valid, would be missing",),
        helps=("name the output that this checkpoint used so far, or start with a new checkpoint",),
    )


def other_results(found: str, what: str) -> InputError:
    return InputError.of(
        "INK0516",
        f"{found}, but the checkpoint is new",
        notes=("results of two runs would be mixed: each numbers its micro-batches from 0",),
        helps=(f"name the checkpoint of the run that wrote them, or move {what} away",),
    )
