"""Answers of queries as rows that travel through Spark: parts of results, put together over all workers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from inkling.errors import InputError
from inkling.evaluators.probable import evaluator as ev
from inkling.evaluators.probable.face import Answering
from inkling.evaluators.stage import rows as r
from inkling.logical.plan import Confidence, EventPlan, Per
from inkling.logical.vectorized import ARROW_TYPES
from inkling.physical.naming import physical_name
from inkling.probable.program import ProbableProgram
from inkling.probable.results import (
    COUNT,
    EXACT,
    NEGLECTED,
    SAMPLED,
    SURVIVAL,
    UNDECIDED,
    gathered,
    is_combined,
    not_exact,
)
from inkling.results import ROUNDING, predicted
from inkling.spark.imprecise.results import ERROR, METHOD, PROBABILITY, most_probable
from inkling.spark.stage_frame import named
from inkling.spark.worker import DETECTED, EVENT, LINEAGE

ROWS_PER_BATCH = 100_000

_BEST = "@best"


def last_name(kind: pa.DataType) -> str:
    """Column with the id of the last base event, which is a text for some queries and a number for others."""
    return f"@last {kind}"


def parts_schema(program: ProbableProgram, events: Sequence[str]) -> pa.Schema:
    """Parts of results of some events; values are told apart by name and type."""
    chosen = [event for event in program.events if event.name in events]
    values = {
        physical_name(output.name, output.type): ARROW_TYPES[output.type]
        for event in chosen
        for output in (*event.head, *event.returns)
    }
    kinds = {last_name(program.id_types[event.name]): program.id_types[event.name] for event in chosen}
    return pa.schema(
        [
            pa.field(EVENT, pa.int32()),
            *(pa.field(name, pa.int64()) for name in (ev.HEAD, r.START, r.END, r.KNOWN)),
            *(pa.field(name, pa.float64()) for name in (PROBABILITY, ERROR, SURVIVAL)),
            pa.field(COUNT, pa.int64()),
            *(pa.field(name, kind) for name, kind in sorted(kinds.items())),
            *(pa.field(name, kind) for name, kind in sorted(values.items())),
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
    n, event = len(found), evaluator.event
    columns = {EVENT: pa.array(np.full(n, number, np.int32)), last_name(ids): found[ev.LAST]}
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
    for output in (*event.head, *event.returns):
        columns[physical_name(output.name, output.type)] = found[output.name]
    given = [columns[f.name].cast(f.type) if f.name in columns else pa.nulls(n, f.type) for f in schema]
    yield from pa.table(given, schema=schema).to_batches(max_chunksize=ROWS_PER_BATCH)


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


def require_exact(event: EventPlan, results: DataFrame) -> None:
    """Raises `InputError` where EXACT is demanded and worlds had to be sampled; this runs the query."""
    error = named(ERROR)
    found = results.agg(F.count_if(error > NEGLECTED), F.count(F.lit(1)), F.max(error)).first()
    if found is not None and found[0]:
        problem: InputError = not_exact(event, found[0], found[1], found[2])
        raise problem


def probable_enough(event: EventPlan, results: DataFrame) -> DataFrame:
    """The results that CONFIDENCE and TOP leave, and how sure their probabilities are."""
    if predicted(event):
        return results.withColumn(METHOD, F.lit("forecast"))
    chance, error = named(PROBABILITY), named(ERROR)
    method = F.when(error <= NEGLECTED, F.lit(EXACT)).when(_reaches(chance - error, event.confidence), F.lit(SAMPLED))
    high = _reaches(F.least(chance + error, F.lit(1.0)), event.confidence)
    found = results.where(high & (chance > 0)).withColumn(METHOD, method.otherwise(F.lit(UNDECIDED)))
    return found if event.top is None else most_probable(found, event.top)


def _reaches(chance: Column, confidence: Confidence | None) -> Column:
    if confidence is None:
        return F.lit(True)
    if confidence.strict:
        return chance > F.lit(confidence.threshold + ROUNDING)
    return chance >= F.lit(confidence.threshold - ROUNDING)
