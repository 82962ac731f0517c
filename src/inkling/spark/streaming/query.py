"""A running program: starts the streaming query, delivers its micro-batches, and is the handle to steer it."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from contextlib import nullcontext, suppress
from dataclasses import replace
from typing import Any

import pyarrow as pa
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
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
from inkling.logical.forecasts import COUNTED
from inkling.logical.settings import Settings
from inkling.model.time import Clock
from inkling.model.watermarks import Watermarks
from inkling.runtime.changes import Changes
from inkling.spark.session import NO_BYTE_LIMIT
from inkling.spark.streaming.chain import message_chain
from inkling.spark.streaming.checkpoint.handover import Handover
from inkling.spark.streaming.checkpoint.learned_store import StoredLearning
from inkling.spark.streaming.checkpoint.storage import Folder
from inkling.spark.streaming.checkpoint.versions import Replaceable, Versions
from inkling.spark.streaming.failures import (
    Run,
    by_sink,
    log_only_the_unexpected,
    require_inputs_of_batch,
    short_form,
    sink_name,
    stream_failed,
)
from inkling.spark.streaming.job import Job
from inkling.spark.streaming.progress import Progress, ProgressLog, observed, seconds_between, under_pressure
from inkling.spark.streaming.settings import StreamSettings
from inkling.spark.streaming.sinks.outputs import Tally, output_names, outputs_of, result_columns, tally_of
from inkling.spark.streaming.sinks.protocol import Beginning, Prepared, Shaped, Sink
from inkling.spark.streaming.sources.control_messages import Control, MessageFile, messages_of
from inkling.spark.streaming.sources.idle import IdleMonitor
from inkling.spark.streaming.sources.inputs import Given
from inkling.spark.streaming.sources.known_topics import KnownTopics
from inkling.spark.streaming.sources.missing_files import InputFiles

BUCKETS_PER_CORE = 4

STATE_SETTINGS = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    # a commit writes what changed, not the whole store
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    # a failed attempt's files never pass for those of a later one
    "spark.sql.streaming.stateStore.checkpointFormatVersion": "2",
    # a bucket's state is written whole, so versions of it that nobody will go back to take room
    "spark.sql.streaming.minBatchesToRetain": "20",
    "spark.sql.execution.arrow.maxBytesPerBatch": NO_BYTE_LIMIT,
    # time moves with the rows, so a batch without rows has nothing to say
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
}


class LiveQuery:
    """A program that runs until it is stopped."""

    def __init__(
        self,
        spark: SparkSession,
        versions: Versions,
        given: Given,
        checkpoint: str,
        sink: Sink,
        settings: StreamSettings,
        changes: Changes,
        learning: StoredLearning | None = None,
    ) -> None:
        self.changes = changes  # since the last run with this checkpoint
        self._spark, self._versions, self._given, self._settings = spark, versions, given, settings
        self._checkpoint, self._sink = Folder(spark, checkpoint.rstrip("/")), sink
        self._control = Control.inside(self._checkpoint.inside("inkling"))
        self._input_files = InputFiles(self._checkpoint.inside("spark"))
        self._learning = learning
        self._messages = None if settings.control is None else messages_of(spark, settings.control)
        self._heard = versions.current.heard
        self._leaving = False  # for another definition
        self._log = ProgressLog()
        self._idle: IdleMonitor | None = None
        self._stopping = False
        self._failure: tuple[Exception, int] | None = None  # what a delivery raised, and of which batch
        self._handover = Handover()
        if isinstance(self._messages, MessageFile) and not self._messages.path.exists():
            text = f"there is no file `{self._messages.path}` for control messages yet; it is read once it is there"
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

    @property
    def _job(self) -> Job:
        return self._versions.job

    @property
    def clock(self) -> Clock:
        """What the times of the streams count."""
        return self._job.clock

    @property
    def tallies(self) -> list[Tally]:
        """The last micro-batches in numbers."""
        return self._log.tallies

    def progress(self) -> Progress | None:
        """How the last micro-batch went; None before the first."""
        return next(iter(self.progress_after(self.tallies[-1].batch - 1)), None) if self.tallies else None

    def progress_after(self, batch: int) -> list[Progress]:
        """How the micro-batches after that one went, as far as they are remembered."""
        entries = self._log.entries
        if not entries or entries[-1].tally.batch <= batch:
            return []
        known = {one.batchId: one for one in self._query.recentProgress}
        now_us = time.time() * 1e6
        numbers = [entry.joined(known.get(entry.tally.batch), self._job.clock, now_us) for entry in entries]
        pressed = under_pressure(numbers, seconds_between(self._settings.spark_trigger))
        return [progress for progress in pressed if progress.batch > batch]

    @property
    def query(self) -> StreamingQuery:
        """Spark's own handle: status, progress, exception."""
        return self._query

    def await_end(self, seconds: int | None = None) -> bool:
        """Wait until the query stops by itself; whether it did."""
        ended = self._handover.awaited(lambda: self._query, self._awaited, seconds)
        if ended and self._idle is not None:
            self._idle.end()
        return ended

    def stop(self) -> None:
        """Stop now; a micro-batch that is not finished is done again by the next run with this checkpoint."""
        self._stopping = True
        if self._idle is not None:
            self._idle.end()
        with self._handover.given_up():
            self._query.stop()

    def replace(self, program: Replaceable) -> Changes:
        """Replace the program between two micro-batches, and wait until that is done.

        Events whose definition is the same continue as if nothing had happened; new ones begin now. Tables are read
        again. A program to which the state cannot be migrated is rejected, and the running one continues. If the query
        has stopped, the change counts from its next start.
        """
        program.require_streamable(unbounded=self._settings.unbounded)
        with self._handover.alone():
            clocks = {name: source.clock for name, source in self._given.sources(program.plan).items()}
            if isinstance(self._sink, Shaped):
                self._sink.require_columns(self._spark, result_columns(program.physical, self.clock))
            facts, counting = facts_of(self._given, program, self._learning, self._versions.last_done)
            changed = self._versions.propose(program, facts, clocks, counting)
            self._bring_about(changed)
            return changed

    def control(self, forecast: str, **parameters: float | None) -> Changes:
        """Other settings of a forecast from the next border between micro-batches on, and wait until then.

        Settings are order, confidence, within, spread and horizon; they take the place of what the program says until
        None does away with them, also after a restart. Invalid settings are rejected, and the present ones stay.
        """
        with self._handover.alone():
            versions = self._versions
            found = steered(versions.following.settings, asked(forecast, parameters), versions.require_settings)
            changed = versions.adapt(settings=all_or_none(*found))
            self._bring_about(changed)
            if versions.is_waiting and not self._query.isActive:
                raise InputError.of(
                    "INK0622",
                    "the query has stopped before the settings could come into force",
                    helps=("start it again, and change them then",),
                )
            return changed

    @property
    def settings(self) -> Settings:
        """Settings of forecasts that are in force in place of what the program says."""
        return self._versions.current.settings

    def _bring_about(self, changed: Changes) -> None:
        """Have a change come into force, and wait until it has."""
        if changed and not self._query.isActive:
            self._settle()
        elif changed:
            self._control.send(Watermarks())
            self._hand_over()

    def _bring_about_later(self) -> None:
        """The same from within a delivery, which must end first."""

        def hand_over() -> None:
            # somebody else may have seen to it in the meantime
            if self._versions.is_waiting or self._leaving or self._handover.has_left:
                self._hand_over()

        if not self._handover.is_given_up:
            self._handover.in_background(hand_over)

    def _listen(self) -> bool:
        """Take up control messages; whether they change anything."""
        if self._messages is None:
            return False
        messages, heard = self._messages.after(self._heard)
        self._heard = heard
        if not messages:
            return False
        settings, rejected = steered(self._versions.following.settings, messages, self._versions.require_settings)
        for one in rejected:
            self._report_rejected(one)
        changed = self._versions.adapt(settings=settings, heard=heard)
        if not changed and len(rejected) < len(messages):
            self._report_steered("control messages were heard; the settings are already as they say")
        return bool(changed)

    def _listen_if_possible(self) -> bool:
        """The same; rows need not wait for messages that cannot be read for now."""
        try:
            return self._listen()
        except Exception as problem:
            known = next(iter(str(problem).strip().splitlines()), "")
            logging.getLogger("inkling").warning("control messages cannot be read, and are tried again: %s", known)
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

    def _learn_from(self, tally: Tally) -> Tally:
        """What a micro-batch counted goes to the models; new versions come into force at the next border."""
        if self._learning is None:
            return tally
        found: dict[str, list[pa.Table]] = {}
        for name, data in tally.counted:
            found.setdefault(name, []).append(table_of(data))
        renewed = self._learning.take(tally.batch, {name: counted_rows(tables) for name, tables in found.items()})
        if renewed and self._versions.adapt(tables=renewed):
            self._bring_about_later()
        return replace(tally, counted=(), drift=self._learning.drift)

    def say_idle(self, *streams: str) -> None:
        """Nothing is coming from these streams for now, so nobody need wait for them."""
        self._control.send(Watermarks(idle=frozenset(streams)))

    def finish(self) -> None:
        """Nothing is coming any more: ingest what is there, decide everything that is open, and stop."""
        self.stop()
        self._drain()
        self._control.send(Watermarks(finished=True))
        self._drain()

    def _drain(self) -> None:
        self._start({"availableNow": True})
        self._awaited()
        while self._handover.has_left:
            self._handover.arrive()
            self._start({"availableNow": True})
            self._awaited()

    def _hand_over(self) -> None:
        """Wait until the running definition has given way to the one that waits, which is started then."""
        if self._handover.await_leaving(lambda: self._query.isActive):
            try:
                self._query.awaitTermination()
                with self._handover.unless_given_up() as continues:
                    if continues:
                        self._begin_sink()
                        self._start(self._settings.spark_trigger)
                        self._control.send(Watermarks())  # reaches buckets to which no row comes
            finally:
                self._handover.arrive()

    def _leave(self, batch: int) -> None:
        """End the query before anything of a micro-batch is computed, which now belongs to another definition."""
        self._leaving = True
        before = self._versions.current.settings
        self._versions.switch(batch)
        self._report_settings(before)
        self._stopping = True
        self._handover.leave(self._query.stop, lambda: self._query.isActive)

    def _awaited(self, seconds: int | None = None) -> bool:
        try:
            # without a limit, Spark says nothing when it is over
            return bool(self._query.awaitTermination(seconds)) or seconds is None
        except StreamingQueryException as problem:
            original, batch = self._failure or (problem, None)
            raise stream_failed(original, self._run(batch)) from None

    def _run(self, batch: int | None) -> Run:
        return Run(self._checkpoint.path, sink_name(self._sink), batch)

    def _start(self, trigger: Mapping[str, Any]) -> None:
        self._stopping, self._leaving, self._failure = False, False, None
        self._versions.starting()
        if self._learning is not None:
            self._learning.use(self._versions.current.tables)
        self._handover.starting()
        sources = self._given.sources(self._job.plan.program)
        KnownTopics(self._checkpoint.inside("inkling")).require_same(sources, is_new=self._is_new())
        messages = observed(self._job, message_chain(self._job, sources, self._control.read_stream()))
        writer = messages.writeStream.foreachBatch(self._deliver)
        writer = writer.option("checkpointLocation", self._checkpoint.inside("spark").path)
        self._query = writer.trigger(**trigger).start()
        self._handover.started()

    def _deliver(self, messages: DataFrame, batch: int) -> None:
        began = time.monotonic()
        try:
            if self._listen_if_possible():
                self._bring_about_later()
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

    def _delivered(self, messages: DataFrame, batch: int) -> Tally:
        """Compute a micro-batch once, keep what it says, hand it to the sink."""
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
        if isinstance(self._sink, Prepared):
            outputs, columns = output_names(self._job), result_columns(self._job.plan, self.clock)
            self._sink.begin(Beginning(self._spark, outputs, self._checkpoint, self._is_new(), columns))

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
    """Start a program on streams; a checkpoint that exists is continued."""
    for name, value in STATE_SETTINGS.items():
        spark.conf.set(name, value)
    log_only_the_unexpected()
    given = Given(spark, inputs, tables or {})
    clocks = {name: source.clock for name, source in given.sources(program.plan).items()}
    unit = time_unit(program.plan, clocks)
    n_buckets = settings.buckets or BUCKETS_PER_CORE * spark.sparkContext.defaultParallelism
    folder = Folder(spark, checkpoint.rstrip("/"))
    versions, learning = Versions(folder), None
    if learn is not None:
        require_forecasts(program.physical)
        require_measurable(learn, unit.clock)
        learning = StoredLearning(folder.inside("inkling").inside("models"), learn)
    facts, counting = facts_of(given, program, learning, versions.last_done, strict=True)
    changes = versions.begin(program, facts, clocks, n_buckets, sampling or Sampling(), counting)
    return LiveQuery(spark, versions, given, checkpoint, sink, settings, changes, learning)


def facts_of(
    given: Given, program: Replaceable, learning: StoredLearning | None, done: int, *, strict: bool = False
) -> tuple[dict[str, pa.Table], dict[str, int]]:
    """The tables, with models as far as they have learned, and for which of these is counted how far back."""
    if learning is None:
        return given.facts(program, strict=strict), {}
    tables = with_first_models(program, given.tables, learning.online)
    facts = replace(given, tables=tables).facts(program, strict=strict)
    learned = learning.begin(facts, learning_names(program.physical), done)
    return {**facts, **learned}, learning.orders


def counted_rows(tables: list[pa.Table]) -> tuple[pa.Table, tuple[int, int]]:
    """What was counted in all buckets, and the times of the last rows of the first and the last of them."""
    rows = pa.concat_tables(tables)
    end = rows["end"].cast(pa.int64()).to_numpy()
    return rows.select([column.name for column in COUNTED]), (int(end.min()), int(end.max()))
