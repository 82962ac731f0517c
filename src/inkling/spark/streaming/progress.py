"""The progress of a running program: the statistics of its micro-batches, joined with those of Spark."""

import re
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.streaming.listener import StreamingQueryProgress

from inkling.model.batch import FOREVER
from inkling.model.time import Clock
from inkling.spark.streaming.job import Job
from inkling.spark.streaming.messages import MessageKind
from inkling.spark.streaming.sinks.outputs import BatchTally

KEPT = 1000
"""The number of micro-batches in the log."""

RECENT = 100
"""The number of micro-batches for `pressure`; Spark keeps the times of as many."""

_SECONDS = {"millisecond": 0.001, "second": 1.0, "minute": 60.0, "hour": 3600.0, "day": 86_400.0, "week": 604_800.0}
_AMOUNT = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]+)")


@dataclass(frozen=True, slots=True)
class StreamProgress:
    """How far a stream has come: the time of its latest row, and the time up to which no further row is expected.

    `behind_now` is the distance from the latter to the wall clock in seconds; None for ticks.
    """

    newest: int
    watermark: int
    behind_now: float | None


@dataclass(frozen=True, slots=True)
class StateProgress:
    """The state of the operator of some events, and how far these are; no events for guards and changelogs.

    `behind_now` is the distance from the watermark to the wall clock in seconds; None for ticks.
    """

    events: tuple[str, ...]
    rows: int
    bytes: int
    watermark: int | None
    behind_now: float | None


@dataclass(frozen=True, slots=True)
class BatchProgress:
    """The statistics of one micro-batch; results, late rows, rejects and `total_rows` are sums since the query started.

    `behind_latest` and `behind_now` are the distances from the watermark to the latest row and to the wall clock, in
    seconds or ticks; `behind_now` is None for ticks. `pressure` is the share of the last micro-batches that took longer
    than the time between triggers, 0 without a trigger.
    """

    batch: int
    rows: int
    total_rows: int
    input_rows_per_second: float
    processed_rows_per_second: float
    seconds: float
    state_rows: int
    state_bytes: int
    watermark: int | None
    is_finished: bool  # no stream has further rows
    behind_latest: float | None
    behind_now: float | None
    matches: Mapping[str, int]
    late: int
    rejects: int
    ahead: int = 0  # the rejects that are too far ahead
    drift: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # by model that keeps learning
    pressure: float = 0.0
    withdrawn: Mapping[str, int] = field(default_factory=dict)  # results that were withdrawn
    rows_by_stream: Mapping[str, int] = field(default_factory=dict)  # of this micro-batch, as are the following
    batch_results: Mapping[str, int] = field(default_factory=dict)
    batch_withdrawn: Mapping[str, int] = field(default_factory=dict)
    batch_late: int = 0
    batch_ahead: int = 0
    reasons: tuple[tuple[tuple[str, str], int], ...] = ()  # rejects by stream and reason
    late_by_stream: Mapping[str, int] = field(default_factory=dict)
    streams: Mapping[str, StreamProgress] = field(default_factory=dict)  # those that had rows
    states: tuple[StateProgress, ...] = ()  # by operator; events of one operator share their state

    def to_dict(self) -> dict[str, Any]:
        found = asdict(self)
        found["reasons"] = [{"stream": stream, "reason": reason, "n": n} for (stream, reason), n in self.reasons]
        return found


@dataclass(frozen=True, slots=True)
class ProgressEntry:
    """A delivered micro-batch, the sums up to it, and the seconds of its delivery."""

    tally: BatchTally
    totals: BatchTally
    seconds: float

    def joined(
        self, spark: StreamingQueryProgress | None, clock: Clock, lateness: Mapping[str, int], now_us: float
    ) -> BatchProgress:
        """The statistics joined with those of Spark, if available, which include the time of commits."""
        tally, totals = self.tally, self.totals
        rows = sum(tally.read.values())
        seconds, arriving, processed = self.seconds, 0.0, rows / self.seconds if self.seconds else 0.0
        if spark is not None and spark.numInputRows:
            # Spark may count other things than rows, such as files
            share = rows / spark.numInputRows
            arriving, processed = share * spark.inputRowsPerSecond, share * spark.processedRowsPerSecond
            seconds = dict(spark.durationMs).get("triggerExecution", seconds * 1000) / 1000

        def behind_now(watermark: int | None) -> float | None:
            return None if watermark is None or clock is Clock.TICKS else (now_us - watermark) / 1e6

        is_finished = tally.watermark is not None and tally.watermark >= FOREVER
        watermark = None if is_finished else tally.watermark
        scale = 1e6 if clock is Clock.TIMESTAMP else 1
        return BatchProgress(
            batch=tally.batch,
            rows=rows,
            total_rows=sum(totals.read.values()),
            input_rows_per_second=arriving,
            processed_rows_per_second=processed,
            seconds=seconds,
            state_rows=tally.state_rows,
            state_bytes=tally.state_bytes,
            watermark=watermark,
            is_finished=is_finished,
            behind_latest=None if watermark is None or tally.latest is None else (tally.latest - watermark) / scale,
            behind_now=behind_now(watermark),
            matches=_added(totals.matches, {name: -n for name, n in totals.withdrawn.items()}),
            withdrawn=totals.withdrawn,
            late=totals.late,
            rejects=totals.rejects,
            ahead=totals.ahead,
            drift={name: drift.to_dict() for name, drift in tally.drift.items()},
            rows_by_stream=tally.read,
            batch_results=_added(tally.matches, {name: -n for name, n in tally.withdrawn.items()}),
            batch_withdrawn=tally.withdrawn,
            batch_late=tally.late,
            batch_ahead=tally.ahead,
            reasons=tally.reasons,
            late_by_stream=tally.late_by_stream,
            streams={
                name: StreamProgress(newest, complete, behind_now(complete))
                for name, newest in tally.newest.items()
                for complete in (newest - lateness[name] - 1,)
            },
            states=tuple(
                StateProgress(one.events, one.rows, one.bytes, until, behind_now(until))
                for one in tally.states
                for until in (None if one.watermark is None or one.watermark >= FOREVER else one.watermark,)
            ),
        )


class ProgressLog:
    """The last micro-batches, with sums over all of them since the query started."""

    def __init__(self) -> None:
        self._entries: deque[ProgressEntry] = deque(maxlen=KEPT)

    @property
    def tallies(self) -> list[BatchTally]:
        return [entry.tally for entry in list(self._entries)]

    @property
    def entries(self) -> list[ProgressEntry]:
        return list(self._entries)

    def add(self, tally: BatchTally, seconds: float) -> None:
        totals = tally if not self._entries else summed(self._entries[-1].totals, tally)
        self._entries.append(ProgressEntry(tally, totals, seconds))


def seconds_between(trigger: Mapping[str, Any]) -> float:
    """The seconds between triggers, 0 without a trigger.

    >>> seconds_between({"processingTime": "1 minute 30 seconds"}), seconds_between({"availableNow": True})
    (90.0, 0.0)
    """
    amounts = _AMOUNT.findall(str(trigger.get("processingTime", "")).lower())
    return sum((float(number) * _SECONDS.get(unit.removesuffix("s"), 0.0) for number, unit in amounts), 0.0)


def under_pressure(numbers: Sequence[BatchProgress], interval: float) -> list[BatchProgress]:
    """The progress of successive micro-batches, with the share of recent ones that took longer than `interval`."""
    if not interval:
        return list(numbers)
    longer = [one.seconds > interval for one in numbers]
    recent = [longer[max(0, stop - RECENT) : stop] for stop in range(1, len(longer) + 1)]
    return [replace(one, pressure=sum(some) / len(some)) for one, some in zip(numbers, recent, strict=True)]


def summed(before: BatchTally, tally: BatchTally) -> BatchTally:
    """The sums of the counts of both tallies; measurements are those of the later one."""
    return replace(
        tally,
        matches=_added(before.matches, tally.matches),
        withdrawn=_added(before.withdrawn, tally.withdrawn),
        late=before.late + tally.late,
        rejects=before.rejects + tally.rejects,
        ahead=before.ahead + tally.ahead,
        read=_added(before.read, tally.read),
        good=_added(before.good, tally.good),
    )


def _added(left: Mapping[str, int], right: Mapping[str, int]) -> dict[str, int]:
    return {name: left.get(name, 0) + right.get(name, 0) for name in {**left, **right}}


NAME = "inkling"
"""Key in `StreamingQueryProgress.observedMetrics`."""


def observed(job: Job, messages: DataFrame) -> DataFrame:
    """The messages with observed metrics: the counts and the state of each stream, event and operator, and their sums.

    `late` counts a row once for every stage that missed it. Times are null before the first.
    """
    operators = [(address, ", ".join(job.answered_at(address))) for address in job.addresses]
    revises = job.revises
    answering = [(address, names) for address, names in operators if names]
    return messages.observe(
        NAME,
        *(_sum(MessageKind.READ, number).alias(f"read {name}") for number, name in enumerate(job.stream_names)),
        *(_sum(MessageKind.LATE, number).alias(f"late {name}") for number, name in enumerate(job.stream_names)),
        *(
            F.max(_of_state(f"newest[{number}]")).alias(f"latest {name}")
            for number, name in enumerate(job.stream_names)
        ),
        *(_results(job, number).alias(f"results {name}") for number, name in job.reported),
        *(_sum(MessageKind.WITHDRAWALS, number).alias(f"withdrawn {name}") for number, name in job.reported if revises),
        *(F.sum(_of_state("rows", address)).alias(f"state rows {names}") for address, names in answering),
        *(F.sum(_of_state("bytes", address)).alias(f"state bytes {names}") for address, names in answering),
        *(F.min(_of_state("watermark", address)).alias(f"watermark {names}") for address, names in answering),
        _sum(MessageKind.LATE).alias("late"),
        _sum(MessageKind.REJECTS).alias("rejects"),
        _reasons().alias("rejects by reason"),
        F.sum(_of_state("rows")).alias("state rows"),
        F.sum(_of_state("bytes")).alias("state bytes"),
        F.min(_of_state("watermark")).alias("watermark"),
    )


def _results(job: Job, number: int) -> Column:
    found = _sum(MessageKind.RESULTS, number)
    return found - _sum(MessageKind.WITHDRAWALS, number) if job.revises else found


def _reasons() -> Column:
    """The number of rejects by stream and reason, as a map from `STREAM: reason`."""
    is_reason = F.col("kind") == int(MessageKind.REASON)
    counts = F.collect_list(F.when(is_reason, F.struct(F.col("payload").cast("string").alias("reason"), F.col("n"))))
    names = F.array_sort(F.array_distinct(F.transform(counts, lambda one: one["reason"])))

    def total(name: Column) -> Column:
        mine = F.filter(counts, lambda one: one["reason"] == name)
        return F.aggregate(mine, F.lit(0).cast("bigint"), lambda so_far, one: so_far + one["n"])

    return F.map_from_arrays(names, F.transform(names, total))


def _sum(kind: MessageKind, about: int | None = None) -> Column:
    counts = F.col("kind") == int(kind)
    if about is not None:
        counts &= F.col("about") == about
    return F.sum(F.when(counts, F.col("n")).otherwise(0))


def _of_state(name: str, address: int | None = None) -> Column:
    chosen = F.col("kind") == int(MessageKind.STATE)
    if address is not None:
        chosen &= F.col("stage") == address
    stated = F.when(chosen, F.col("payload").cast("string"))
    return F.get_json_object(stated, f"$.{name}").cast("bigint")
