"""What one micro-batch leaves: a frame per event with results, late rows, rejects, and numbers about it all."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from inkling.evaluators.state import table_of
from inkling.forecasting.adaptation.counting import is_counting
from inkling.forecasting.adaptation.drift import Drift
from inkling.io import REJECTS_SCHEMA
from inkling.model.batch import FOREVER
from inkling.model.time import Clock
from inkling.physical.plan import PhysicalPlan
from inkling.results import result_schema
from inkling.runtime.late import LATE_SCHEMA
from inkling.spark.results import retracted
from inkling.spark.streaming.job import Job
from inkling.spark.streaming.messages import Kind

LATE, REJECTS = "late", "rejects"
"""Names of the outputs that every program has besides its events."""


@dataclass(frozen=True, slots=True)
class Output:
    """Rows of one kind; `name` is an event's, that of its ON RETRACT, or `late` or `rejects`."""

    name: str
    frame: DataFrame
    n_rows: int
    only_grows: bool = False  # whether nothing of it is ever withdrawn


@dataclass(frozen=True, slots=True)
class Tally:
    """One micro-batch in numbers."""

    batch: int
    matches: Mapping[str, int]
    late: int
    rejects: int
    state_rows: int
    state_bytes: int
    watermark: int | None  # None before anything is complete
    latest: int | None = None  # the largest time seen, of any stream
    read: Mapping[str, int] = field(default_factory=dict)  # rows per stream
    good: Mapping[str, int] = field(default_factory=dict)  # those that were not rejected
    counted: tuple[tuple[str, bytes], ...] = ()  # models that keep learning, and tables of what they learn from
    drift: Mapping[str, Drift] = field(default_factory=dict)  # by model, how well it still fits
    withdrawn: Mapping[str, int] = field(default_factory=dict)  # how many of the matches take back others


def tally_of(job: Job, messages: DataFrame, batch: int) -> Tally:
    """Count what the messages hold, which also computes them; only numbers come to the driver."""
    spoken = F.when(F.col("kind").isin(int(Kind.STATE), int(Kind.READ)), F.col("payload").cast("string"))
    learned = (F.col("kind") == int(Kind.RESULTS)) & F.col("about").isin(list(job.counted))
    counted = [F.when(learned, F.col("payload")).alias("counted")] if job.counted else []
    rows = messages.select("stage", "kind", "about", "n", spoken.alias("spoken"), *counted).collect()
    n: Counter[tuple[Kind, int]] = Counter()
    good: Counter[str] = Counter()
    states, late_at = [], set()
    for row in rows:
        kind, about = Kind(row["kind"]), row["about"]
        n[kind, about] += row["n"]
        match kind:
            case Kind.STATE:
                states.append(json.loads(row["spoken"]))
            case Kind.READ:
                good[job.stream_names[about]] += json.loads(row["spoken"])["good"]
            case Kind.LATE:
                late_at.add(row["stage"])
            case _:
                pass
    watermark = min((state["watermark"] for state in states), default=-FOREVER)
    return Tally(
        batch,
        {name: n[Kind.RESULTS, number] for number, name in job.reported},
        n[Kind.LATE, 0] if len(late_at) < 2 else late_frame(job, messages).count(),
        n[Kind.REJECTS, 0],
        sum(state["rows"] for state in states),
        sum(state["bytes"] for state in states),
        None if watermark == -FOREVER else watermark,
        max((state["latest"] for state in states if state["latest"] is not None), default=None),
        {name: n[Kind.READ, number] for number, name in enumerate(job.stream_names)},
        {name: good[name] for name in job.stream_names},
        tuple((job.counted[row["about"]], bytes(row["counted"])) for row in rows if counted and row["counted"]),
        withdrawn={name: n[Kind.TAKEN_BACK, number] for number, name in job.reported if n[Kind.TAKEN_BACK, number]},
    )


def late_frame(job: Job, messages: DataFrame) -> DataFrame:
    """Late rows for users, each once although several stages may have missed it."""
    late = rows_of(messages, Kind.LATE, LATE_SCHEMA).groupBy("stream", "id", "time")
    once = late.agg(F.max("delay").alias("delay"), F.max("row").alias("row"))
    if job.clock is Clock.TIMESTAMP:
        once = once.withColumns({"time": F.timestamp_micros("time"), "delay": F.col("delay") / 1e6})
    return once


def outputs_of(job: Job, messages: DataFrame, tally: Tally) -> Iterator[Output]:
    """The frames that are not empty."""
    for number, event in enumerate(job.plan.program.events):
        if tally.matches.get(event.name):
            schema = result_schema(event, job.plan.id_types[event.name], job.clock)
            frame = rows_of(messages, Kind.RESULTS, schema, number)
            yield Output(event.name, frame, tally.matches[event.name])
            if event.retracted_as is not None:
                withdrawn = retracted(frame, event.retracted_as)
                if n := withdrawn.count():
                    yield Output(event.retracted_as, withdrawn, n, only_grows=True)
    if tally.late:
        yield Output(LATE, late_frame(job, messages), tally.late, only_grows=True)
    if tally.rejects:
        yield Output(REJECTS, rows_of(messages, Kind.REJECTS, REJECTS_SCHEMA), tally.rejects, only_grows=True)


def output_names(job: Job) -> tuple[str, ...]:
    """All outputs that a program may have."""
    undone = [event.retracted_as for event in job.plan.program.events if event.retracted_as is not None]
    return (*(name for _, name in job.reported), *undone, LATE, REJECTS)


def result_columns(plan: PhysicalPlan, clock: Clock) -> dict[str, StructType]:
    """The columns of every output whose rows can be withdrawn."""
    return {
        step.event.name: from_arrow_schema(result_schema(step.event, stage.id_type, clock))
        for stage in plan.stages
        for step in stage.steps
        if not is_counting(step.event.name)
    }


@dataclass(frozen=True, slots=True)
class _Unpack:
    schema: pa.Schema

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for payload in batch.column(0):
                table = table_of(payload.as_buffer()).cast(self.schema)
                yield from table.to_batches(max_chunksize=100_000)


def rows_of(messages: DataFrame, kind: Kind, schema: pa.Schema, about: int | None = None) -> DataFrame:
    """The rows inside the messages of one kind."""
    chosen = messages.where(F.col("kind") == int(kind))
    if about is not None:
        chosen = chosen.where(F.col("about") == about)
    return chosen.select("payload").mapInArrow(_Unpack(schema), from_arrow_schema(schema))
