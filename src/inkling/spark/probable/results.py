"""Answers of queries as rows that travel through Spark: parts of results, put together over all workers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from inkling.evaluators.probable import evaluator as ev
from inkling.evaluators.probable.face import Answering
from inkling.evaluators.stage import rows as r
from inkling.logical.plan import EventPlan, Per
from inkling.physical.naming import physical_name
from inkling.probable.program import ProbableProgram
from inkling.probable.results import COUNT, NEGLECTED, SURVIVAL, gathered, is_combined
from inkling.results import FORECAST, predicted
from inkling.spark.results import (
    DETECTED,
    ERROR,
    EVENT,
    LINEAGE,
    METHOD,
    PROBABILITY,
    event_column,
    filled,
    in_batches,
    may_reach,
    methods,
    most_probable,
    value_columns,
    value_fields,
)
from inkling.spark.stage_frame import named

_BEST = "@best"


def last_name(kind: pa.DataType) -> str:
    """Column with the id of the last base event, which is a text for some queries and a number for others."""
    return f"@last {kind}"


def parts_schema(program: ProbableProgram, events: Sequence[str]) -> pa.Schema:
    """Parts of results of some events; values are told apart by name and type."""
    chosen = [event for event in program.events if event.name in events]
    kinds = {last_name(program.id_types[event.name]): program.id_types[event.name] for event in chosen}
    return pa.schema(
        [
            pa.field(EVENT, pa.int32()),
            *(pa.field(name, pa.int64()) for name in (ev.HEAD, r.START, r.END, r.KNOWN)),
            *(pa.field(name, pa.float64()) for name in (PROBABILITY, ERROR, SURVIVAL)),
            pa.field(COUNT, pa.int64()),
            *(pa.field(name, kind) for name, kind in sorted(kinds.items())),
            *value_fields(chosen),
        ]
    )


def part_rows(
    number: int, evaluator: Answering, found: pa.Table, ids: pa.DataType, schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    """What a worker found for one event."""
    if not len(found):
        return
    if is_combined(evaluator):
        found = gathered(evaluator, found)
    columns = {EVENT: event_column(number, len(found)), last_name(ids): found[ev.LAST]}
    travels = {
        ev.HEAD: ev.HEAD,
        ev.START: r.START,
        ev.END: r.END,
        ev.KNOWN: r.KNOWN,
        ev.CHANCE: PROBABILITY,
        ev.ERROR: ERROR,
    }
    travels |= {name: name for name in (SURVIVAL, COUNT) if name in found.column_names}
    columns |= {internal: found[name] for name, internal in travels.items()}
    columns |= value_columns(evaluator.event, found)
    yield from in_batches(filled(columns, schema))


def whole_results(evaluator: Answering, parts: DataFrame, ids: pa.DataType) -> DataFrame:
    """One row per result of one event, however probable."""
    event, last = evaluator.event, last_name(ids)
    values = [physical_name(output.name, output.type) for output in (*event.head, *event.returns)]
    if is_combined(evaluator):
        by = [ev.HEAD, *([r.END] if event.per is Per.END else [])]
        best = F.struct(-named(r.END), -named(PROBABILITY), named(last))
        kept = F.min_by(F.struct(named(last), named(PROBABILITY)), best)
        wanted = [
            F.min(named(r.START)).alias(r.START),
            F.max(named(r.KNOWN)).alias(r.KNOWN),
            *(F.first(named(name)).alias(name) for name in values),
            *([] if r.END in by else [F.max(named(r.END)).alias(r.END)]),
            *(F.sum(named(name)).alias(name) for name in (ERROR, SURVIVAL, COUNT)),
            kept.alias(_BEST),
        ]
        grouped = parts.groupBy(*map(named, by)).agg(*wanted)
        alone = named(_BEST).getField(PROBABILITY)
        chance = F.when(named(COUNT) == 1, alone).otherwise(-F.expm1(named(SURVIVAL)))
        parts = grouped.withColumn(PROBABILITY, chance).withColumn(last, named(_BEST).getField(last))
    chance = F.least(F.greatest(named(PROBABILITY), F.lit(0.0)), F.lit(1.0))
    return parts.select(
        named(r.START),
        named(r.END),
        named(r.KNOWN).alias(DETECTED),
        chance.alias(PROBABILITY),
        named(ERROR),
        F.array(named(last)).alias(LINEAGE),
        *map(named, values),
    )


def with_methods(event: EventPlan, results: DataFrame) -> DataFrame:
    """How results were computed."""
    return results.withColumn(METHOD, F.lit(FORECAST) if predicted(event) else methods(event.confidence, NEGLECTED))


def probable_enough(event: EventPlan, results: DataFrame) -> DataFrame:
    """The results that CONFIDENCE and TOP leave."""
    return results if predicted(event) else most_probable(event, results.where(may_reach(event.confidence)))
