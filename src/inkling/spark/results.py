"""Results as rows that travel through Spark, and the result columns as columns of DataFrames.

Workers hand back times as numbers and values under their physical names; `public_frame` makes the columns of them
that `inkling.results.public_table` makes of `Matches`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from inkling.evaluators.stage import rows as r
from inkling.logical.plan import Confidence, EventPlan
from inkling.logical.vectorized import ARROW_TYPES
from inkling.model.batch import MatchBatch
from inkling.model.time import Clock
from inkling.model.types import Type
from inkling.physical.naming import physical_name
from inkling.results import (
    ADDED,
    CHANCE,
    EXACT,
    FORECAST,
    MARGIN,
    ROUNDING,
    SAMPLED,
    UNDECIDED,
    WITHDRAWN,
    Matches,
    NotExact,
    Values,
    comparable_head,
    predicted,
    shown_values,
)
from inkling.spark.stage_frame import named

EVENT, LINEAGE, DETECTED = "@event", "@lineage", "@detected"
PROBABILITY, METHOD, ERROR = "@probability", "@method", "@error"

_TIMES = {"start": r.START, "end": r.END, "detected_at": DETECTED}
_ESTIMATED = {"probability": PROBABILITY, "method": METHOD, "error": ERROR}

ESTIMATED = (pa.field(PROBABILITY, pa.float64()), pa.field(METHOD, pa.string()), pa.field(ERROR, pa.float64()))
"""Fields of results that are not certain."""

ROWS_PER_BATCH = 100_000

Columns = dict[str, pa.Array | pa.ChunkedArray]


def results_schema(events: Iterable[EventPlan], ids: pa.DataType, further: Sequence[pa.Field] = ESTIMATED) -> pa.Schema:
    """Rows of results of some events, whose lineage holds ids of one type."""
    lineage = pa.field(LINEAGE, pa.list_(ids))
    return pa.schema([*leading_fields(), *further, lineage, *value_fields(events)])


def leading_fields() -> list[pa.Field]:
    """The number of the event, and the times of a result."""
    return [pa.field(EVENT, pa.int32()), *(pa.field(name, pa.int64()) for name in _TIMES.values())]


def value_fields(events: Iterable[EventPlan]) -> list[pa.Field]:
    """Values of head and RETURN of some events, told apart by name and type."""
    kinds = {
        physical_name(output.name, output.type): ARROW_TYPES[output.type]
        for event in events
        for output in (*event.head, *event.returns)
    }
    return [pa.field(name, kind) for name, kind in sorted(kinds.items())]


def result_rows(number: int, event: EventPlan, found: Iterable[Matches], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Results of one event; with TOP, those that may be among the most probable ones of all workers."""
    tables = (filled(result_columns(number, event, some), schema) for some in found)
    for table in tables if event.top is None else [_best(tables, event.top, schema)]:
        yield from in_batches(table)


def result_columns(number: int, event: EventPlan, matches: MatchBatch | Matches) -> Columns:
    """Matches of one event under internal names, with probabilities if they have any."""
    estimated = matches.estimated() if isinstance(matches, Matches) else {}
    return {
        EVENT: event_column(number, len(matches)),
        r.START: pa.array(matches.start),
        r.END: pa.array(matches.end),
        DETECTED: pa.array(matches.detected_at),
        **{_ESTIMATED[name]: column for name, column in estimated.items()},
        LINEAGE: matches.lineage,
        **value_columns(event, matches.values),
    }


def internal_columns(number: int, event: EventPlan, results: pa.Table) -> Columns:
    """Results in the public columns under internal names, with times as numbers."""
    shown = {internal: results[name] for name, internal in (_TIMES | _ESTIMATED).items()}
    values = {physical_name(one.name, one.type): results[one.name] for one in (*event.head, *event.returns)}
    return {EVENT: event_column(number, len(results)), **shown, LINEAGE: results["lineage"], **values}


def event_column(number: int, n: int) -> pa.Array:
    """The number by which rows name their event."""
    return pa.array(np.full(n, number, np.int32))


def value_columns(event: EventPlan, values: Values) -> Columns:
    """Values of head and RETURN under their physical names."""
    shown = shown_values(event, values)
    return {physical_name(one.name, one.type): shown[one.name] for one in (*event.head, *event.returns)}


def filled(columns: Columns, schema: pa.Schema) -> pa.Table:
    """A table of that schema; null where there is no column."""
    n = len(columns[EVENT])
    given = [columns[f.name].cast(f.type) if f.name in columns else pa.nulls(n, f.type) for f in schema]
    return pa.table(given, schema=schema)


def in_batches(table: pa.Table) -> list[pa.RecordBatch]:
    """A table as a worker hands it back."""
    found: list[pa.RecordBatch] = table.to_batches(max_chunksize=ROWS_PER_BATCH)
    return found


def _best(tables: Iterable[pa.Table], n: int, schema: pa.Schema) -> pa.Table:
    """The n most probable results, and those that are as probable as the last of them."""
    best = schema.empty_table()
    for table in tables:
        best = pa.concat_tables([best, table])
        if len(best) > n:
            chance = best[PROBABILITY].to_numpy()
            best = best.filter(pa.array(chance >= np.partition(chance, len(chance) - n)[len(chance) - n]))
    return best


def certain_frame(event: EventPlan, frame: DataFrame) -> DataFrame:
    """Results over certain streams with probability, method and error; forecasts have what a model gave them."""
    probability, method, error = F.lit(1.0), F.lit(EXACT), F.lit(0.0)
    if predicted(event):
        probability, error = (named(physical_name(name, Type.DOUBLE)) for name in (CHANCE, MARGIN))
        method = F.lit(FORECAST)
    return frame.select("*", probability.alias(PROBABILITY), method.alias(METHOD), error.alias(ERROR))


def public_frame(event: EventPlan, frame: DataFrame, clock: Clock) -> DataFrame:
    """Results of one event in the public columns."""
    columns = [F.lit(event.name).alias("event")]
    for output in (*event.head, *event.returns):
        value = named(physical_name(output.name, output.type))
        columns.append((in_time(value, clock) if output.type is Type.TIME else value).alias(output.name))
    columns += [in_time(named(internal), clock).alias(name) for name, internal in _TIMES.items()]
    columns += [named(internal).alias(name) for name, internal in _ESTIMATED.items()]
    return frame.select(*columns, F.lit(ADDED).alias("op"), named(LINEAGE).alias("lineage"))


def in_time(number: Column, clock: Clock) -> Column:
    """Times as users see them."""
    return F.timestamp_micros(number) if clock is Clock.TIMESTAMP else number


def retracted(results: DataFrame, name: str) -> DataFrame:
    """What ON RETRACT emits: the results that are withdrawn, each as an event of that name."""
    return results.where(F.col("op") == WITHDRAWN).withColumns({"event": F.lit(name), "op": F.lit(ADDED)})


def most_probable(event: EventPlan, frame: DataFrame) -> DataFrame:
    """The results that TOP leaves: those with the largest probability; ties by start, lineage, end and head."""
    if event.top is None:
        return frame
    ids = F.transform(named(LINEAGE), lambda one: F.coalesce(one.cast("string"), F.lit("None")))
    comparable = comparable_head(event)
    head = [named(physical_name(one.name, one.type)).asc_nulls_last() for one in event.head if one.name in comparable]
    return frame.orderBy(named(PROBABILITY).desc(), named(r.START), ids, named(r.END), *head).limit(event.top)


def reaches(probability: Column, confidence: Confidence | None) -> Column:
    """Whether probabilities are as large as CONFIDENCE asks."""
    if confidence is None:
        return F.lit(True)
    if confidence.strict:
        return probability > F.lit(confidence.threshold + ROUNDING)
    return probability >= F.lit(confidence.threshold - ROUNDING)


def may_reach(confidence: Confidence | None) -> Column:
    """Whether results are possible, and their probabilities, as far as they are known, as large as CONFIDENCE asks."""
    probability, error = named(PROBABILITY), named(ERROR)
    return reaches(F.least(probability + error, F.lit(1.0)), confidence) & (probability > 0)


def methods(confidence: Confidence | None, negligible: float) -> Column:
    """`exact` where the error is negligible; else `sampled`, or `undecided` if the error leaves CONFIDENCE open."""
    probability, error = named(PROBABILITY), named(ERROR)
    decided = reaches(probability - error, confidence)
    return F.when(error <= negligible, F.lit(EXACT)).when(decided, F.lit(SAMPLED)).otherwise(F.lit(UNDECIDED))


def require_exact(event: EventPlan, results: DataFrame, problem: NotExact) -> None:
    """Raises `InputError` if answers were sampled, for an event that demands EXACT; this computes the results."""
    sampled = named(METHOD).isin(SAMPLED, UNDECIDED)
    found = results.agg(F.count_if(sampled), F.count(F.lit(1)), F.max(F.when(sampled, named(ERROR)))).first()
    if found is not None and found[0]:
        raise problem(event, found[0], found[1], found[2])
