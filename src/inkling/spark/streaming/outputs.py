"""What one micro-batch leaves: a frame per event with results, late rows, rejects, and numbers about it all."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from inkling.io import REJECTS_SCHEMA
from inkling.live.late import LATE_SCHEMA
from inkling.model.batch import FOREVER
from inkling.results import result_schema
from inkling.spark.streaming.job import Job
from inkling.spark.streaming.messages import Kind
from inkling.spark.streaming.unpack import rows_of

LATE, REJECTS = "late", "rejects"
"""Names of the outputs that every program has besides its events."""


@dataclass(frozen=True, slots=True)
class Output:
    """Rows of one kind; `name` is an event's, or `late` or `rejects`."""

    name: str
    frame: DataFrame
    n_rows: int


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
    extra: Mapping[str, object] = field(default_factory=dict)


def tally_of(job: Job, messages: DataFrame, batch: int) -> Tally:
    """Count what the messages hold; one small job over what is kept."""
    spoken = F.when(F.col("kind") == int(Kind.STATE), F.col("payload").cast("string"))
    rows = (
        messages.groupBy("kind", "about").agg(F.sum("n").alias("n"), F.collect_list(spoken).alias("states")).collect()
    )
    n = {(Kind(row["kind"]), row["about"]): int(row["n"]) for row in rows}
    states = [json.loads(text) for row in rows for text in row["states"]]
    watermark = min((state["watermark"] for state in states), default=-FOREVER)
    return Tally(
        batch,
        {name: n.get((Kind.RESULTS, number), 0) for number, name in enumerate(job.event_names)},
        n.get((Kind.LATE, 0), 0),
        n.get((Kind.REJECTS, 0), 0),
        sum(state["rows"] for state in states),
        sum(state["bytes"] for state in states),
        None if watermark == -FOREVER else watermark,
    )


def outputs_of(job: Job, messages: DataFrame, tally: Tally) -> Iterator[Output]:
    """The frames that are not empty."""
    for number, event in enumerate(job.plan.program.events):
        if tally.matches[event.name]:
            schema = result_schema(event, job.stage_of(event.name).id_type, job.clock)
            frame = rows_of(messages, Kind.RESULTS, schema, number)
            yield Output(event.name, frame, tally.matches[event.name])
    rest: tuple[tuple[str, Kind, pa.Schema, int], ...] = (
        (LATE, Kind.LATE, LATE_SCHEMA, tally.late),
        (REJECTS, Kind.REJECTS, REJECTS_SCHEMA, tally.rejects),
    )
    for name, kind, schema, n_rows in rest:
        if n_rows:
            yield Output(name, rows_of(messages, kind, schema), n_rows)
