"""The result columns, the same for every event, runner and kind of doubt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from inkling.logical.plan import EventPlan
from inkling.logical.vectorized import ARROW_TYPES
from inkling.model.batch import MatchBatch
from inkling.model.time import Clock
from inkling.model.types import Type

LEADING = ("event",)
TRAILING = ("start", "end", "detected_at", "probability", "method", "error", "op", "lineage")
"""Around the values of the head and of RETURN."""

TIMESTAMP = pa.timestamp("us", tz="UTC")


@dataclass(frozen=True, slots=True)
class Results:
    """What a program found: one table per event, the rows that were refused, and how many rows were read."""

    tables: Mapping[str, pa.Table]
    rejects: pa.Table
    input_rows: Mapping[str, int]
    clock: Clock
    worlds: str | None = None  # what probabilities rest on, where streams are uncertain


def result_table(event: EventPlan, matches: MatchBatch, clock: Clock) -> pa.Table:
    """Results of one event in the public columns."""
    n = len(matches)
    columns: dict[str, pa.Array] = {"event": pa.repeat(pa.scalar(event.name), n)}
    for output in (*event.head, *event.returns):
        values = matches.values[output.name].cast(ARROW_TYPES[output.type], safe=False)
        columns[output.name] = _in_time(values, clock) if output.type is Type.TIME else values
    columns["start"] = _in_time(pa.array(matches.start), clock)
    columns["end"] = _in_time(pa.array(matches.end), clock)
    columns["detected_at"] = _in_time(pa.array(matches.detected_at), clock)
    predicts = predicted(event)
    columns["probability"] = matches.values[CHANCE] if predicts else pa.array(np.ones(n))
    columns["method"] = pa.repeat(pa.scalar("forecast" if predicts else "exact"), n)
    columns["error"] = matches.values[MARGIN] if predicts else pa.array(np.zeros(n))
    columns["op"] = pa.repeat(pa.scalar("+"), n)
    columns["lineage"] = matches.lineage
    return pa.table(columns)


def result_schema(event: EventPlan, id_type: Type, clock: Clock) -> pa.Schema:
    """The columns of `result_table`, known before there are results."""
    time = TIMESTAMP if clock is Clock.TIMESTAMP else pa.int64()
    values = [
        pa.field(output.name, time if output.type is Type.TIME else ARROW_TYPES[output.type])
        for output in (*event.head, *event.returns)
    ]
    times = [pa.field(name, time) for name in ("start", "end", "detected_at")]
    about = [("probability", pa.float64()), ("method", pa.string()), ("error", pa.float64()), ("op", pa.string())]
    lineage = pa.field("lineage", pa.list_(ARROW_TYPES[id_type]))
    return pa.schema([pa.field("event", pa.string()), *values, *times, *(pa.field(*one) for one in about), lineage])


CHANCE, MARGIN = "chance", "margin"
"""The columns of a forecast that are its probability and its error."""


def predicted(event: EventPlan) -> bool:
    """Whether results are forecasts, which have the probability that a model gives them."""
    return event.forecast is not None and not event.forecast.learns


def _in_time(numbers: pa.Array, clock: Clock) -> pa.Array:
    return numbers.cast(TIMESTAMP) if clock is Clock.TIMESTAMP else numbers
