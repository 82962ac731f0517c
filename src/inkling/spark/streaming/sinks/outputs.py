"""The outputs of a micro-batch: a frame per event with results, late rows, rejects; and its tally."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from inkling.evaluators.state import table_of
from inkling.forecasting.adaptation.drift import Drift
from inkling.io import REJECTS_SCHEMA
from inkling.logical.plan import retracted_outputs
from inkling.model.batch import FOREVER
from inkling.model.time import Clock
from inkling.model.watermarks import newest_of
from inkling.physical.plan import PhysicalPlan
from inkling.results import result_schema
from inkling.runtime.late import LATE_SCHEMA
from inkling.runtime.routing import GUARD
from inkling.spark.results import retracted
from inkling.spark.streaming.job import Job
from inkling.spark.streaming.messages import BEFORE_REASON, MessageKind

LATE, REJECTS = "late", "rejects"
"""Names of the outputs that every program has besides its events."""


@dataclass(frozen=True, slots=True)
class SinkOutput:
    """The rows of one output: an event, an output of ON RETRACT, `late` or `rejects`."""

    name: str
    frame: DataFrame
    n_rows: int
    only_grows: bool = False  # whether rows are never withdrawn


@dataclass(frozen=True, slots=True)
class StateTally:
    """The state of one operator in all buckets, after a micro-batch."""

    events: tuple[str, ...]  # that it answers; none for guards and changelogs
    rows: int
    bytes: int
    watermark: int | None  # None before the first, and for guards and changelogs


@dataclass(frozen=True, slots=True)
class BatchTally:
    """The counts of one micro-batch."""

    batch: int
    matches: Mapping[str, int]
    late: int
    rejects: int
    state_rows: int
    state_bytes: int
    watermark: int | None  # None before the first watermark
    latest: int | None = None  # the largest time seen, of any stream
    newest: Mapping[str, int] = field(default_factory=dict)  # the largest time seen, per stream that had rows
    states: tuple[StateTally, ...] = ()
    read: Mapping[str, int] = field(default_factory=dict)  # rows per stream
    good: Mapping[str, int] = field(default_factory=dict)  # those that were not rejected
    counted: tuple[tuple[str, bytes], ...] = ()  # models that keep learning, and tables of their counts
    drift: Mapping[str, Drift] = field(default_factory=dict)  # by model, how well it still fits
    withdrawn: Mapping[str, int] = field(default_factory=dict)  # the number of withdrawals among the matches
    reasons: tuple[tuple[tuple[str, str], int], ...] = ()  # rejects by stream and reason
    late_by_stream: Mapping[str, int] = field(default_factory=dict)
    ahead: int = 0  # the rejects that are too far ahead


def tally_of(job: Job, messages: DataFrame, batch: int) -> BatchTally:
    """Count the contents of the messages, which computes them; only counts come to the driver."""
    of_text = (MessageKind.STATE, MessageKind.READ, MessageKind.REASON)
    payload_text = F.when(F.col("kind").isin(list(map(int, of_text))), F.col("payload").cast("string"))
    learned = (F.col("kind") == int(MessageKind.RESULTS)) & F.col("about").isin(list(job.counted))
    counted = [F.when(learned, F.col("payload")).alias("counted")] if job.counted else []
    rows = messages.select("stage", "kind", "about", "n", payload_text.alias("payload_text"), *counted).collect()
    n: Counter[tuple[MessageKind, int]] = Counter()
    good: Counter[str] = Counter()
    n_ahead = 0
    states: dict[int, list[dict[str, Any]]] = {}
    reasons: Counter[tuple[str, str]] = Counter()
    late_at = set()
    for row in rows:
        kind, about = MessageKind(row["kind"]), row["about"]
        n[kind, about] += row["n"]
        match kind:
            case MessageKind.STATE:
                states.setdefault(row["stage"], []).append(json.loads(row["payload_text"]))
            case MessageKind.READ:
                read = json.loads(row["payload_text"])
                good[job.stream_names[about]] += read["good"]
                n_ahead += read["ahead"]
            case MessageKind.REASON:
                stream, _, reason = row["payload_text"].rpartition(BEFORE_REASON)
                reasons[stream, reason] += row["n"]
            case MessageKind.REJECTS if row["stage"] == GUARD:
                good[job.stream_names[about]] -= row["n"]
                n_ahead += row["n"]
            case MessageKind.LATE:
                late_at.add(row["stage"])
            case _:
                pass
    by_operator = tuple(_state_of(job, address, some) for address, some in sorted(states.items()))
    newest = newest_of(
        {name: time for name, time in zip(job.stream_names, state["newest"], strict=True) if time is not None}
        for some in states.values()
        for state in some
    )
    late = {name: n[MessageKind.LATE, number] for number, name in enumerate(job.stream_names)}
    if len(late_at) > 1:  # several operators may have missed the same row
        late = late_by_stream(job, messages)
    return BatchTally(
        batch,
        {name: n[MessageKind.RESULTS, number] for number, name in job.reported},
        sum(late.values()),
        sum(count for (kind, _), count in n.items() if kind is MessageKind.REJECTS),
        sum(state.rows for state in by_operator),
        sum(state.bytes for state in by_operator),
        _least(some["watermark"] for many in states.values() for some in many),
        max(newest.values(), default=None),
        newest,
        by_operator,
        {name: n[MessageKind.READ, number] for number, name in enumerate(job.stream_names)},
        {name: good[name] for name in job.stream_names},
        tuple((job.counted[row["about"]], bytes(row["counted"])) for row in rows if counted and row["counted"]),
        ahead=n_ahead,
        reasons=tuple(sorted(reasons.items())),
        late_by_stream={name: n for name, n in late.items() if n},
        withdrawn={
            name: n[MessageKind.WITHDRAWALS, number]
            for number, name in job.reported
            if n[MessageKind.WITHDRAWALS, number]
        },
    )


def _state_of(job: Job, address: int, buckets: list[dict[str, Any]]) -> StateTally:
    events = job.answered_at(address)
    watermark = _least(one["watermark"] for one in buckets) if events else None
    return StateTally(events, sum(one["rows"] for one in buckets), sum(one["bytes"] for one in buckets), watermark)


def _least(watermarks: Iterable[int]) -> int | None:
    least = min(watermarks, default=-FOREVER)
    return None if least == -FOREVER else least


def late_frame(job: Job, messages: DataFrame) -> DataFrame:
    """Late rows for users, each once, although several stages may have missed it."""
    late = rows_of(messages, MessageKind.LATE, LATE_SCHEMA).groupBy("stream", "id", "time")
    once = late.agg(F.max("delay").alias("delay"), F.max("row").alias("row"))
    if job.clock is Clock.TIMESTAMP:
        once = once.withColumns({"time": F.timestamp_micros("time"), "delay": F.col("delay") / 1e6})
    return once


def outputs_of(job: Job, messages: DataFrame, tally: BatchTally) -> Iterator[SinkOutput]:
    """The frames that are not empty."""
    for number, event in enumerate(job.plan.program.events):
        if tally.matches.get(event.name):
            schema = result_schema(event, job.plan.id_types[event.name], job.clock)
            frame = rows_of(messages, MessageKind.RESULTS, schema, number)
            yield SinkOutput(event.name, frame, tally.matches[event.name])
            if event.retracted_as is not None:
                withdrawn = retracted(frame, event.retracted_as)
                if n := withdrawn.count():
                    yield SinkOutput(event.retracted_as, withdrawn, n, only_grows=True)
    if tally.late:
        yield SinkOutput(LATE, late_frame(job, messages), tally.late, only_grows=True)
    if tally.rejects:
        yield SinkOutput(
            REJECTS, rows_of(messages, MessageKind.REJECTS, REJECTS_SCHEMA), tally.rejects, only_grows=True
        )


def output_names(job: Job) -> tuple[str, ...]:
    """All outputs that a program may have."""
    undone = retracted_outputs(job.plan.program).values()
    return (*(name for _, name in job.reported), *undone, LATE, REJECTS)


def result_columns(plan: PhysicalPlan, clock: Clock) -> dict[str, StructType]:
    """The columns of every output whose rows can be withdrawn."""
    return {
        step.event.name: from_arrow_schema(result_schema(step.event, stage.id_type, clock))
        for stage in plan.stages
        for step in stage.steps
        if not step.event.hidden
    }


def _unpacked(schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for payload in batch.column(0):
            yield from table_of(payload.as_buffer()).cast(schema).to_batches(max_chunksize=100_000)


def rows_of(messages: DataFrame, kind: MessageKind, schema: pa.Schema, about: int | None = None) -> DataFrame:
    """The rows inside the messages of one kind."""
    chosen = messages.where(F.col("kind") == int(kind))
    if about is not None:
        chosen = chosen.where(F.col("about") == about)
    return chosen.select("payload").mapInArrow(partial(_unpacked, schema), from_arrow_schema(schema))


def late_by_stream(job: Job, messages: DataFrame) -> dict[str, int]:
    """The number of late rows by stream, each row once."""
    found = late_frame(job, messages).groupBy("stream").count().collect()
    return {row["stream"]: row["count"] for row in found}
