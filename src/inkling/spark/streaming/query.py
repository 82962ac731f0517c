"""A running program: starts the streaming query, delivers its micro-batches, and is the handle to steer it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from inkling.analysis.clock import measure_for
from inkling.analysis.inputs import require_inputs
from inkling.io import Data
from inkling.io.tables import read_tables
from inkling.live.clocks import Marks
from inkling.logical.evaluate import Surroundings
from inkling.physical.runnable import Runnable
from inkling.spark.session import NO_BYTE_LIMIT
from inkling.spark.streaming.chain import message_chain
from inkling.spark.streaming.clock import clock_of_frame
from inkling.spark.streaming.control import Control
from inkling.spark.streaming.interruption import short_form
from inkling.spark.streaming.job import Job
from inkling.spark.streaming.outputs import Tally, outputs_of, tally_of
from inkling.spark.streaming.sinks import Sink
from inkling.spark.streaming.storage import Folder

BUCKETS_PER_CORE = 4

STATE_SETTINGS = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    # a commit writes what changed, not the whole store
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    # a failed attempt's files never pass for those of a later one
    "spark.sql.streaming.stateStore.checkpointFormatVersion": "2",
    "spark.sql.execution.arrow.maxBytesPerBatch": NO_BYTE_LIMIT,
    # time moves with the rows, so a batch without rows has nothing to say
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
}


@dataclass(frozen=True, slots=True)
class StreamSettings:
    """How a program runs on streams."""

    checkpoint: str
    sink: Sink
    trigger: Mapping[str, Any] = field(default_factory=lambda: {"processingTime": "0 seconds"})
    buckets: int | None = None
    idle_after: float | None = 60.0  # seconds without a row until a stream holds the others back no longer
    on_tally: Callable[[Tally], None] | None = None


class LiveQuery:
    """A program that runs until it is stopped."""

    def __init__(
        self, spark: SparkSession, job: Job, inputs: Mapping[str, DataFrame], settings: StreamSettings
    ) -> None:
        self._spark, self._job, self._inputs, self._settings = spark, job, inputs, settings
        self._control = Control.inside(Folder(spark, f"{settings.checkpoint.rstrip('/')}/inkling"))
        self.tallies: list[Tally] = []
        self._stopping = False
        self._failure: Exception | None = None
        self._query = self._start(settings.trigger)

    @property
    def query(self) -> StreamingQuery:
        """Spark's own handle: status, progress, exception."""
        return self._query

    def await_end(self, seconds: int | None = None) -> bool:
        """Wait until the query stops by itself; whether it did."""
        return bool(self._query.awaitTermination(seconds))

    def stop(self) -> None:
        """Stop now; a micro-batch that is not finished is done again by the next run with this checkpoint."""
        self._stopping = True
        self._query.stop()

    def say_idle(self, *streams: str) -> None:
        """Nothing is coming from these streams for now, so nobody need wait for them."""
        self._control.say(Marks(idle=frozenset(streams)))

    def finish(self) -> None:
        """Nothing is coming any more: take in what is there, decide everything that is open, and stop."""
        self.stop()
        self._drain()
        self._control.say(Marks(finished=True))
        self._drain()

    def _drain(self) -> None:
        self._query = self._start({"availableNow": True})
        self._query.awaitTermination()

    def _start(self, trigger: Mapping[str, Any]) -> StreamingQuery:
        self._stopping, self._failure = False, None
        messages = message_chain(self._job, self._inputs, self._control.read_stream())
        writer = messages.writeStream.foreachBatch(self._deliver)
        writer = writer.option("checkpointLocation", f"{self._settings.checkpoint.rstrip('/')}/spark")
        return writer.trigger(**trigger).start()

    def _deliver(self, messages: DataFrame, batch: int) -> None:
        try:
            tally = self._delivered(messages, batch)
        except Exception as problem:
            self._failure = problem
            raise short_form(problem, batch, stopping=self._stopping) from None
        self.tallies.append(tally)
        if self._settings.on_tally is not None:
            self._settings.on_tally(tally)

    def _delivered(self, messages: DataFrame, batch: int) -> Tally:
        """Compute a micro-batch once, keep what it says, hand it to the sink."""
        kept = messages.persist()
        try:
            tally = tally_of(self._job, kept, batch)
            self._settings.sink.deliver(outputs_of(self._job, kept, tally), batch)
        finally:
            with suppress(Exception) if self._stopping else nullcontext():
                kept.unpersist()
        return tally


def start(
    program: Runnable,
    spark: SparkSession,
    inputs: Mapping[str, DataFrame],
    tables: Mapping[str, Data] | None,
    settings: StreamSettings,
) -> LiveQuery:
    """Start a program on streaming frames; a checkpoint that exists is continued."""
    plan = program.plan
    require_inputs(plan, inputs)
    for name, value in STATE_SETTINGS.items():
        spark.conf.set(name, value)
    facts = read_tables(plan.tables, tables, program.folder)
    clocks = {
        stream.schema.name: clock_of_frame(inputs[stream.schema.name], stream.schema)
        for stream in plan.streams
        if stream.schema.name in inputs
    }
    measure = measure_for(plan, clocks)
    around = Surroundings({name: tuple(table.to_pylist()) for name, table in facts.items()}, measure)
    n_buckets = settings.buckets or BUCKETS_PER_CORE * spark.sparkContext.defaultParallelism
    job = Job.of(program.physical, clocks, facts, around, measure.clock, n_buckets)
    return LiveQuery(spark, job, inputs, settings)
