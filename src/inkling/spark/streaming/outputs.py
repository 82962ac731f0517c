"""What one micro-batch leaves: a frame per event with results, late rows, rejects, and numbers about it all."""

from __future__ import annotations

import json
from collections import Counter
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
    """Count what the messages hold, which also computes them; only numbers come to the driver."""
    spoken = F.when(F.col("kind") == int(Kind.STATE), F.col("payload").cast("string"))
    rows = messages.select("kind", "about", "n", spoken.alias("state")).collect()
    n: Counter[tuple[Kind, int]] = Counter()
    for row in rows:
        n[Kind(row["kind"]), row["about"]] += row["n"]
    states = [json.loads(row["state"]) for row in rows if row["state"] is not None]
    watermark = min((state["watermark"] for state in states), default=-FOREVER)
    return Tally(
        batch,
        {name: n[Kind.RESULTS, number] for number, name in enumerate(job.event_names)},
        n[Kind.LATE, 0],
        n[Kind.REJECTS, 0],
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
