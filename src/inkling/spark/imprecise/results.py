"""Results of chains as rows that travel through Spark: times as numbers, values under their physical names."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from inkling.evaluators.stage import rows as r
from inkling.logical.plan import EventPlan
from inkling.logical.vectorized import ARROW_TYPES
from inkling.physical.naming import physical_name
from inkling.physical.plan import Stage
from inkling.spark.stage_frame import named
from inkling.spark.worker import DETECTED, EVENT, LINEAGE

PROBABILITY, METHOD, ERROR = ESTIMATED = ("@probability", "@method", "@error")

ROWS_PER_BATCH = 100_000

_PUBLIC = {"start": r.START, "end": r.END, "detected_at": DETECTED, "lineage": LINEAGE}
_ESTIMATED = {"probability": PROBABILITY, "method": METHOD, "error": ERROR}


def results_schema(stage: Stage) -> pa.Schema:
    """Results of all events of a stage; values are told apart by name and type."""
    values = {
        physical_name(output.name, output.type): ARROW_TYPES[output.type]
        for step in stage.steps
        for output in (*step.event.head, *step.event.returns)
    }
    return pa.schema(
        [
            pa.field(EVENT, pa.int32()),
            *(pa.field(name, pa.int64()) for name in (r.START, r.END, DETECTED)),
            pa.field(PROBABILITY, pa.float64()),
            pa.field(METHOD, pa.string()),
            pa.field(ERROR, pa.float64()),
            pa.field(LINEAGE, pa.list_(ARROW_TYPES[stage.id_type])),
            *(pa.field(name, kind) for name, kind in sorted(values.items())),
        ]
    )


def result_rows(number: int, event: EventPlan, found: pa.Table, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Results of one event, which come in the public columns."""
    if event.top is not None:
        found = _best(found, event.top)
    n = len(found)
    columns = {EVENT: pa.array(np.full(n, number, np.int32))}
    columns |= {internal: found[name] for name, internal in (_PUBLIC | _ESTIMATED).items()}
    for output in (*event.head, *event.returns):
        columns[physical_name(output.name, output.type)] = found[output.name]
    given = [columns[f.name].cast(f.type) if f.name in columns else pa.nulls(n, f.type) for f in schema]
    yield from pa.table(given, schema=schema).to_batches(max_chunksize=ROWS_PER_BATCH)


def most_probable(frame: DataFrame, n: int) -> DataFrame:
    """The n results with the largest probability; ties by start, then lineage."""
    ids = F.transform(named(LINEAGE), lambda one: F.coalesce(one.cast("string"), F.lit("None")))
    return frame.orderBy(named(PROBABILITY).desc(), named(r.START), ids).limit(n)


def _best(found: pa.Table, n: int) -> pa.Table:
    """The results that may be among the n most probable ones of all workers."""
    if len(found) <= n:
        return found
    chance = found["probability"].to_numpy()
    return found.filter(pa.array(chance >= np.partition(chance, len(chance) - n)[len(chance) - n]))
