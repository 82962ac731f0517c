"""The result columns, the same for every event, runner and kind of doubt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.logical.plan import Confidence, EventPlan
from inkling.logical.vectorized import ARROW_TYPES
from inkling.model.batch import MatchBatch
from inkling.model.time import Clock
from inkling.model.types import Type

LEADING = ("event",)
TRAILING = ("start", "end", "detected_at", "probability", "method", "error", "op", "lineage")
"""Around the values of the head and of RETURN."""

TIMESTAMP = pa.timestamp("us", tz="UTC")

ROUNDING = 1e-12
"""Sums of exact probabilities may miss a threshold by this."""


@dataclass(frozen=True, slots=True)
class Results:
    """What a program found: one table per event, the rows that were refused, and how many rows were read."""

    tables: Mapping[str, pa.Table]
    rejects: pa.Table
    input_rows: Mapping[str, int]
    clock: Clock
    worlds: str | None = None  # what probabilities rest on, where streams are uncertain

    def n_certain(self, event: str) -> int | None:
        """How many results of an event are certain; the others are possible. None where there is no doubt at all."""
        if "forecast" in self.tables[event]["method"].unique().to_pylist() or not self._has_doubt():
            return None
        table = self.tables[event]
        return int(((table["probability"].to_numpy() == 1) & (table["error"].to_numpy() == 0)).sum())

    def _has_doubt(self) -> bool:
        return self.worlds is not None or any(
            (table.filter(pc.field("method") != "forecast")["probability"].to_numpy() < 1).any()
            for table in self.tables.values()
        )


def result_table(event: EventPlan, matches: MatchBatch, clock: Clock) -> pa.Table:
    """Results of one event over certain streams in the public columns."""
    n = len(matches)
    if predicted(event):
        return _in_columns(event, matches, clock, matches.values[CHANCE], "forecast", matches.values[MARGIN])
    return _in_columns(event, matches, clock, pa.array(np.ones(n)), "exact", pa.array(np.zeros(n)))


def estimated_table(
    event: EventPlan, matches: MatchBatch, clock: Clock, probability: np.ndarray, method: str, error: np.ndarray
) -> pa.Table:
    """Results of one event over uncertain streams in the public columns."""
    return _in_columns(event, matches, clock, pa.array(probability), method, pa.array(error))


def _in_columns(
    event: EventPlan, matches: MatchBatch, clock: Clock, probability: pa.Array, method: str, error: pa.Array
) -> pa.Table:
    n = len(matches)
    columns: dict[str, pa.Array] = {"event": pa.repeat(pa.scalar(event.name), n)}
    for output in (*event.head, *event.returns):
        values = matches.values[output.name].cast(ARROW_TYPES[output.type], safe=False)
        columns[output.name] = _in_time(values, clock) if output.type is Type.TIME else values
    columns["start"] = _in_time(pa.array(matches.start), clock)
    columns["end"] = _in_time(pa.array(matches.end), clock)
    columns["detected_at"] = _in_time(pa.array(matches.detected_at), clock)
    columns["probability"] = probability
    columns["method"] = pa.repeat(pa.scalar(method), n)
    columns["error"] = error
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


def retracted(results: pa.Table, name: str) -> pa.Table:
    """What ON RETRACT tells: the results that are withdrawn, each as an event of that name."""
    gone = results.filter(pc.field("op") == "-")
    for column, text in (("event", name), ("op", "+")):
        place = gone.schema.get_field_index(column)
        gone = gone.set_column(place, column, pa.repeat(pa.scalar(text), len(gone)))
    return gone


CHANCE, MARGIN = "chance", "margin"
"""The columns of a forecast that are its probability and its error."""


def predicted(event: EventPlan) -> bool:
    """Whether results are forecasts, which have the probability that a model gives them."""
    return event.forecast is not None and not event.forecast.learns


def _in_time(numbers: pa.Array, clock: Clock) -> pa.Array:
    return numbers.cast(TIMESTAMP) if clock is Clock.TIMESTAMP else numbers


def reaches(probability: np.ndarray, confidence: Confidence | None, rounding: float = 0.0) -> np.ndarray:
    """Whether probabilities are as large as CONFIDENCE asks."""
    if confidence is None:
        return np.ones(len(probability), bool)
    if confidence.strict:
        return probability > confidence.threshold + rounding
    return probability >= confidence.threshold - rounding


def most_probable(table: pa.Table, n: int) -> pa.Table:
    """The n results with the largest probability; ties by start, then lineage."""
    lineage = [[str(one) for one in ids] for ids in table["lineage"].to_pylist()]
    starts = table["start"].to_pylist()
    shares = table["probability"].to_pylist()
    order = sorted(range(len(table)), key=lambda row: (-shares[row], starts[row], lineage[row]))
    return table.take(pa.array(order[:n], pa.int64()))
