"""A running program on Structured Streaming: starts the query, delivers its micro-batches and controls it."""

import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from functools import partial, reduce
from typing import Any

import pyarrow as pa
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from inkling.analysis.clock import time_unit
from inkling.errors import InputError
from inkling.evaluators.sampling import Sampling
from inkling.evaluators.state import table_of
from inkling.forecasting.adaptation.models import (
    learning_names,
    require_forecasts,
    require_measurable,
    with_first_models,
)
from inkling.forecasting.adaptation.online import OnlineLearning
from inkling.forecasting.adaptation.steering import Rejected, all_or_none, asked, steered, what_changed
from inkling.io import Data
from inkling.logical.forecasts import COUNT_COLUMNS
from inkling.logical.settings import Settings
from inkling.masking import masked
from inkling.model.time import Clock
from inkling.model.watermarks import Watermarks
from inkling.runtime.ahead import guard_of, require_length
from inkling.runtime.replacement import Changes
from inkling.shown import ShownInNotebooks
from inkling.spark.session import NO_BYTE_LIMIT
from inkling.spark.stage_frame import named, plainly_named
from inkling.spark.streaming.checkpoint.handover import Handover
from inkling.spark.streaming.checkpoint.in_use import Claim
from inkling.spark.streaming.checkpoint.learned_store import StoredLearning
from inkling.spark.streaming.checkpoint.logs import damaged_log
from inkling.spark.streaming.checkpoint.storage import CheckpointFolder
from inkling.spark.streaming.checkpoint.versions import DefinitionVersions, Replaceable
from inkling.spark.streaming.failures import (
    FailedRun,
    StreamError,
    by_sink,
    log_only_the_unexpected,
    require_inputs_of_batch,
    short_form,
    sink_name,
    stream_failed,
)
from inkling.spark.streaming.intake import IntakeTask, control_messages
from inkling.spark.streaming.job import Job
from inkling.spark.streaming.messages import SCHEMA
from inkling.spark.streaming.processor import BucketProcessor
from inkling.spark.streaming.progress import BatchProgress, ProgressLog, observed, seconds_between, under_pressure
from inkling.spark.streaming.settings import BUCKETS_PER_CORE, StreamSettings
from inkling.spark.streaming.sinks.outputs import BatchTally, output_names, outputs_of, result_columns, tally_of
from inkling.spark.streaming.sinks.protocol import PreparedSink, ShapedSink, Sink, SinkStart
from inkling.spark.streaming.sources.control_messages import Control, MessageFile, messages_of
from inkling.spark.streaming.sources.idle import IdleMonitor
from inkling.spark.streaming.sources.inputs import GivenStreams, StreamSource
from inkling.spark.streaming.sources.known_topics import KnownTopics
from inkling.spark.streaming.sources.missing_files import InputFiles

_BEGAN = "@began"

STATE_SETTINGS = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    # a commit writes the changes, not the whole store
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    # files of a failed attempt are never mistaken for those of a later one
    "spark.sql.streaming.stateStore.checkpointFormatVersion": "2",
    # the state of a bucket is written whole, so old versions take much room
    "spark.sql.streaming.minBatchesToRetain": "20",
    "spark.sql.execution.arrow.maxBytesPerBatch": NO_BYTE_LIMIT,
    # watermarks come with rows, so a batch without rows has no results
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
}


class LiveQuery(ShownInNotebooks):
    """A program that runs on Structured Streaming until it is stopped; made by `Program.stream`."""

    def __init__(
        self,
        spark: SparkSession,
        versions: DefinitionVersions,
        given: GivenStreams,
        checkpoint: str,
        sink: Sink,
        settings: StreamSettings,
        changes: Changes,
        claim: Claim,
        learning: StoredLearning | None = None,
    ) -> None:
        self._claim = claim
        self.changes = changes  # since the last run with this checkpoint
        self._spark, self._versions, self._given, self._settings = spark, versions, given, settings
        self._checkpoint, self._sink = CheckpointFolder(spark, checkpoint.rstrip("/")), sink
        self._control = Control.inside(self._checkpoint.inside("inkling"))
        self._input_files = InputFiles(self._checkpoint.inside("spark"))
        self._learning = learning
        self._messages = None if settings.control is None else messages_of(spark, settings.control)
        self._read_up_to = versions.current.heard
        self._leaving = False  # to make room for another definition
        self._log = ProgressLog()
        self._idle: IdleMonitor | None = None
        self._stopping = False
        self._failure: tuple[Exception, int] | None = None  # what a delivery raised, and of which batch
        self._handover = Handover()
        if isinstance(self._messages, MessageFile) and not self._messages.path.exists():
            text = f"there is no file `{self._messages.path}` for control messages yet; it is read once it appears"
            self._report_steered(text, logging.WARNING)
        self._listen()
        self._settle()
        self._begin_sink()
        if versions.is_waiting:
            self._control.send(Watermarks())
        self._start(settings.spark_trigger)
        if versions.is_waiting:
            self._handover.in_background(self._hand_over)
        self._watch_idle()
        self._belongs_to(claim)

    def _belongs_to(self, claim: Claim) -> None:
        self._claim = claim
        claim.is_running = lambda: self._query.isActive or self._handover.has_left
        claim.when_lost(self._stop_query)

    @property
    def _job(self) -> Job:
        return self._versions.job

    @property
    def clock(self) -> Clock:
        """Whether times are timestamps or ticks."""
        return self._job.clock

    @property
    def tallies(self) -> list[BatchTally]:
        """The counts of the last micro-batches."""
        return self._log.tallies

    def progress(self) -> BatchProgress | None:
        """The progress of the last micro-batch; None before the first."""
        return next(iter(self.progress_after(self.tallies[-1].batch - 1)), None) if self.tallies else None

    def progress_after(self, batch: int) -> list[BatchProgress]:
        """The progress of the micro-batches after `batch`, as far as they are in the log."""
        entries = self._log.entries
        if not entries or entries[-1].tally.batch <= batch:
            return []
        known = {one.batchId: one for one in self._query.recentProgress}
        now_us, job = time.time() * 1e6, self._job
        lateness = job.lateness
        numbers = [entry.joined(known.get(entry.tally.batch), job.clock, lateness, now_us) for entry in entries]
        pressed = under_pressure(numbers, seconds_between(self._settings.spark_trigger))
        return [progress for progress in pressed if progress.batch > batch]

    @property
    def query(self) -> StreamingQuery:
        """Spark's handle of the query: status, progress, exception."""
        return self._query

    def await_end(self, seconds: int | None = None) -> bool:
        """Wait until the query stops by itself, at most `seconds`; returns whether it did."""
        try:
            ended = self._handover.awaited(lambda: self._query, self._awaited, seconds)
        except Exception:
            self._claim.release()
            raise
        if ended:
            self._claim.release()
            self._claim.require()
            if self._idle is not None:
                self._idle.end()
        return ended

    def stop(self) -> None:
        """Stop now; the next run with this checkpoint repeats an unfinished micro-batch."""
        self._stop_query()
        self._claim.release()

    def _stop_query(self) -> None:
        self._stopping = True
        if self._idle is not None:
            self._idle.end()
        with self._handover.given_up():
            self._query.stop()

    def replace(self, program: Replaceable) -> Changes:
        """Replace the program between two micro-batches, and wait until that is done.

        Events with an unchanged definition continue; new events begin now. Tables are read again. A program to which
        the state cannot be migrated is rejected, and the running one continues. If the query has stopped, the new
        program runs from the next start.
        """
        program.require_streamable(unbounded=self._settings.unbounded)
        with self._handover.alone:
            clocks = {name: source.clock for name, source in self._given.sources(program.plan).items()}
            if isinstance(self._sink, ShapedSink):
                self._sink.require_columns(self._spark, result_columns(program.physical, self.clock))
            facts, counting = facts_of(self._given, program, self._learning, self._versions.last_done)
            changed = self._versions.propose(program, facts, clocks, counting)
            self._apply(changed)
            return changed

    def control(self, forecast: str, **parameters: float | None) -> Changes:
        """Change settings of a forecast from the next micro-batch on, and wait until then.

        Settings are order, confidence, within, spread and horizon. A setting overrides the program, also after a
        restart, until it is set to None. Invalid settings are rejected, and the present ones stay.
        """
        with self._handover.alone:
            versions = self._versions
            found = steered(versions.following.settings, asked(forecast, parameters), versions.require_settings)
            changed = versions.adapt(settings=all_or_none(*found))
            self._apply(changed)
            if versions.is_waiting and not self._query.isActive:
                raise InputError.of(
                    "INK0622",
                    "the query has stopped before the settings took effect",
                    helps=("start the query again, then change the settings",),
                )
            return changed

    @property
    def settings(self) -> Settings:
        """The settings of forecasts that override the program."""
        return self._versions.current.settings

    def _apply(self, changed: Changes) -> None:
        """Apply a change, and wait until it has taken effect."""
        if changed and not self._query.isActive:
            self._settle()
        elif changed:
            self._control.send(Watermarks())
            self._hand_over()

    def _apply_later(self) -> None:
        """Apply a change from within a delivery, which must end first."""

        def hand_over() -> None:
            # another thread may have applied it in the meantime
            if self._versions.is_waiting or self._leaving or self._handover.has_left:
                self._hand_over()

        if not self._handover.is_given_up:
            self._handover.in_background(hand_over)

    def _listen(self) -> bool:
        """Read control messages; returns whether they change any setting."""
        if self._messages is None:
            return False
        messages, heard = self._messages.after(self._read_up_to)
        self._read_up_to = heard
        if not messages:
            return False
        settings, rejected = steered(self._versions.following.settings, messages, self._versions.require_settings)
        for one in rejected:
            self._report_rejected(one)
        changed = self._versions.adapt(settings=settings, heard=heard)
        if not changed and len(rejected) < len(messages):
            self._report_steered("control messages were read, without changes of the settings")
        return bool(changed)

    def _listen_if_possible(self) -> bool:
        """Read control messages; if they cannot be read, processing continues and they are read later."""
        try:
            return self._listen()
        except Exception as problem:
            known = masked(next(iter(str(problem).strip().splitlines()), ""))
            logging.getLogger("inkling").warning("control messages cannot be read now; trying again later: %s", known)
            return False

    def _report_rejected(self, rejected: Rejected) -> None:
        if self._settings.on_rejected is not None:
            self._settings.on_rejected(rejected)
        else:
            logging.getLogger("inkling").warning("%s", rejected)

    def _report_steered(self, text: str, level: int = logging.INFO) -> None:
        if self._settings.on_steered is not None:
            self._settings.on_steered(text)
        else:
            logging.getLogger("inkling").log(level, "%s", text)

    def _settle(self) -> None:
        before = self._versions.current
        self._versions.commit()
        self._report_settings(before.settings)

    def _report_settings(self, before: Settings) -> None:
        now = self._versions.current
        for line in what_changed(before, now.settings):
            self._report_steered(f"{line} from batch {now.first_batch} on")

    def _learn_from(self, tally: BatchTally) -> BatchTally:
        """Pass the counts of a micro-batch to the models; new versions take effect with the next micro-batch."""
        if self._learning is None:
            return tally
        found: dict[str, list[pa.Table]] = {}
        for name, data in tally.counted:
            found.setdefault(name, []).append(table_of(data))
        renewed = self._learning.take(tally.batch, {name: counted_rows(tables) for name, tables in found.items()})
        if renewed and self._versions.adapt(tables=renewed):
            self._apply_later()
        return replace(tally, counted=(), drift=self._learning.drift)

    def say_idle(self, *streams: str) -> None:
        """Declare streams idle: results do not wait for their rows until they have rows again."""
        self._control.send(Watermarks(idle=frozenset(streams)))

    def finish(self) -> None:
        """Declare the end of all streams: process the available rows, resolve pending matches, and stop."""
        self._stop_query()
        with self._claimed():
            self._drain()
            self._control.send(Watermarks(finished=True))
            self._drain()

    @contextmanager
    def _claimed(self) -> Iterator[None]:
        """The checkpoint belongs to this query, which may have ended, and is given up afterwards."""
        self._claim.release()
        self._belongs_to(Claim.to(self._checkpoint.path, self._spark))
        try:
            yield
        finally:
            self._claim.release()

    def _drain(self) -> None:
        self._start({"availableNow": True})
        self._awaited()
        while self._handover.has_left:
            self._handover.arrive()
            self._start({"availableNow": True})
            self._awaited()

    def _hand_over(self) -> None:
        """Wait until the running definition has stopped, then start the waiting one."""
        if self._handover.await_leaving(lambda: self._query.isActive):
            try:
                self._query.awaitTermination()
                with self._handover.unless_given_up() as continues:
                    if continues:
                        self._begin_sink()
                        self._start(self._settings.spark_trigger)
                        self._control.send(Watermarks())  # reaches buckets without rows
            finally:
                self._handover.arrive()

    def _leave(self, batch: int) -> None:
        """Stop the query before a micro-batch is computed, because it belongs to another definition."""
        self._leaving = True
        before = self._versions.current.settings
        self._versions.switch(batch)
        self._report_settings(before)
        self._stopping = True
        self._handover.leave(self._query.stop, lambda: self._query.isActive)

    def _awaited(self, seconds: int | None = None) -> bool:
        try:
            # without a time limit, Spark returns None at the end
            return bool(self._query.awaitTermination(seconds)) or seconds is None
        except StreamingQueryException as problem:
            original, batch = self._failure or (problem, None)
            raise stream_failed(original, self._run(batch)) from None

    def _run(self, batch: int | None) -> FailedRun:
        return FailedRun(self._checkpoint.path, sink_name(self._sink), batch)

    def _start(self, trigger: Mapping[str, Any]) -> None:
        self._stopping, self._leaving, self._failure = False, False, None
        self._versions.starting()
        if self._learning is not None:
            self._learning.use(self._versions.current.tables)
        self._handover.starting()
        sources = self._given.sources(self._job.plan.program)
        KnownTopics(self._checkpoint.inside("inkling")).require_same(sources, is_new=self._is_new())
        messages = observed(
            self._job, message_chain(self._job, sources, self._control.read_stream(), self._settings.ahead)
        )
        writer = messages.writeStream.foreachBatch(self._deliver)
        writer = writer.option("checkpointLocation", self._checkpoint.inside("spark").path)
        self._query = writer.trigger(**trigger).start()
        self._handover.started()

    def _deliver(self, messages: DataFrame, batch: int) -> None:
        began = time.monotonic()
        try:
            if self._listen_if_possible():
                self._apply_later()
            if self._versions.is_due(batch):
                self._leave(batch)
            tally = self._learn_from(self._delivered(messages, batch))
        except Exception as problem:
            self._failure = problem, batch
            raise short_form(problem, batch, stopping=self._stopping) from None
        if self._versions.is_waiting:
            self._control.send(Watermarks())  # so that another micro-batch comes
        self._log.add(tally, time.monotonic() - began)
        if self._idle is not None:
            self._idle.take(tally)
        if self._settings.on_tally is not None:
            self._settings.on_tally(tally)

    def _delivered(self, messages: DataFrame, batch: int) -> BatchTally:
        """Compute a micro-batch once, cache its messages, and deliver it to the sink."""
        require_inputs_of_batch(self._input_files, self._run(batch))
        kept = messages.persist()
        try:
            tally = tally_of(self._job, kept, batch)
            with by_sink():
                self._sink.deliver(outputs_of(self._job, kept, tally), batch)
        finally:
            with suppress(Exception) if self._stopping else nullcontext():
                kept.unpersist()
        return tally

    def _begin_sink(self) -> None:
        if isinstance(self._sink, PreparedSink):
            outputs, columns = output_names(self._job), result_columns(self._job.plan, self.clock)
            self._sink.begin(SinkStart(self._spark, outputs, self._checkpoint, self._is_new(), columns))

    def _is_new(self) -> bool:
        return not self._checkpoint.inside("spark").inside("offsets").names()

    def _watch_idle(self) -> None:
        limit = self._settings.idle_after
        if limit is not None and len(self._given.inputs) > 1 and not self._settings.available_now:
            self._idle = IdleMonitor(self._given.inputs, limit, lambda idle: self.say_idle(*idle), self._is_busy)

    def _is_busy(self) -> bool:
        status = self._query.status
        return not self._query.isActive or bool(status["isTriggerActive"] and status["isDataAvailable"])


def start(
    program: Replaceable,
    spark: SparkSession,
    inputs: Mapping[str, Any],
    tables: Mapping[str, Data] | None,
    settings: StreamSettings,
    *,
    checkpoint: str,
    sink: Sink,
    sampling: Sampling | None = None,
    learn: OnlineLearning | None = None,
) -> LiveQuery:
    """Start a program on streams; an existing checkpoint is resumed."""
    for name, value in STATE_SETTINGS.items():
        spark.conf.set(name, value)
    claim = Claim.to(checkpoint.rstrip("/"), spark)
    try:
        return _claimed(program, spark, inputs, tables, settings, checkpoint, sink, sampling, learn, claim)
    except BaseException:
        claim.release()
        raise


def _claimed(
    program: Replaceable,
    spark: SparkSession,
    inputs: Mapping[str, Any],
    tables: Mapping[str, Data] | None,
    settings: StreamSettings,
    checkpoint: str,
    sink: Sink,
    sampling: Sampling | None,
    learn: OnlineLearning | None,
    claim: Claim,
) -> LiveQuery:
    damaged = damaged_log(CheckpointFolder(spark, f"{checkpoint.rstrip('/')}/spark"))
    if damaged is not None:
        raise StreamError(damaged)
    log_only_the_unexpected()
    given = GivenStreams(spark, inputs, tables or {})
    clocks = {name: source.clock for name, source in given.sources(program.plan).items()}
    unit = time_unit(program.plan, clocks)
    require_length(settings.ahead)
    for stream in program.plan.streams:
        guard_of(stream.schema, clocks[stream.schema.name], settings.ahead)  # whose length fits the clock
    n_buckets = settings.buckets or BUCKETS_PER_CORE * spark.sparkContext.defaultParallelism
    folder = CheckpointFolder(spark, checkpoint.rstrip("/"))
    versions, learning = DefinitionVersions(folder, settings.ahead), None
    if learn is not None:
        require_forecasts(program.physical)
        require_measurable(learn, unit.clock)
        learning = StoredLearning(folder.inside("inkling").inside("models"), learn)
    facts, counting = facts_of(given, program, learning, versions.last_done, strict=True)
    changes = versions.begin(program, facts, clocks, n_buckets, sampling or Sampling(), counting)
    return LiveQuery(spark, versions, given, checkpoint, sink, settings, changes, claim, learning)


def facts_of(
    given: GivenStreams, program: Replaceable, learning: StoredLearning | None, done: int, *, strict: bool = False
) -> tuple[dict[str, pa.Table], dict[str, int]]:
    """The facts of tables, with learned models, and the order of counting of each model that keeps learning."""
    if learning is None:
        return given.facts(program, strict=strict), {}
    tables = with_first_models(program, given.tables, learning.online)
    facts = replace(given, tables=tables).facts(program, strict=strict)
    learned = learning.begin(facts, learning_names(program.physical), done)
    return {**facts, **learned}, learning.orders


def counted_rows(tables: list[pa.Table]) -> tuple[pa.Table, tuple[int, int]]:
    """The counts of all buckets, and the earliest and the latest time of a count."""
    rows = pa.concat_tables(tables)
    end = rows["end"].cast(pa.int64()).to_numpy()
    return rows.select([column.name for column in COUNT_COLUMNS]), (int(end.min()), int(end.max()))


def message_chain(
    job: Job, inputs: Mapping[str, StreamSource], control: DataFrame, ahead: str | None = None
) -> DataFrame:
    """The messages that leave the last operator: results, late rows, rejects and statistics."""
    frames = [_intake(job, name, source, ahead) for name, source in inputs.items()]
    frames.append(control.mapInArrow(partial(control_messages, job), SCHEMA))
    messages = reduce(DataFrame.union, frames)
    for number in range(job.n_operators):
        processor = BucketProcessor(job, number)
        messages = messages.groupBy("bucket").transformWithState(processor, SCHEMA, "Append", "None")
    return messages


def _intake(job: Job, name: str, source: StreamSource, ahead: str | None) -> DataFrame:
    stream = job.plan.program.stream(name)
    stamped = stream is not None and source.clock is Clock.TIMESTAMP
    guard = guard_of(stream.schema, source.clock, ahead) if stream is not None and stamped else None
    columns = [named(column) for column in source.columns]
    if guard is not None:
        columns.append(F.unix_micros(F.current_timestamp()).alias(_BEGAN))
    task = IntakeTask(job, name, source.columns, source.reader, guard)
    return plainly_named(source.frame.select(*columns)).mapInArrow(task, SCHEMA)
