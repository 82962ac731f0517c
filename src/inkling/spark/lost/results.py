"""Answers of relations as rows that travel through Spark."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from inkling.evaluators.stage import rows as r
from inkling.logical.plan import EventPlan
from inkling.logical.vectorized import ARROW_TYPES
from inkling.lost.results import SAMPLED, UNDECIDED, no_exact_answer
from inkling.physical.naming import physical_name
from inkling.spark.imprecise.results import ERROR, METHOD, PROBABILITY
from inkling.spark.stage_frame import named
from inkling.spark.worker import DETECTED, EVENT, LINEAGE


def results_schema(events: Sequence[EventPlan], ids: pa.DataType) -> pa.Schema:
    """Results of some events; values are told apart by name and type."""
    values = {
        physical_name(output.name, output.type): ARROW_TYPES[output.type] for event in events for output in event.head
    }
    return pa.schema(
        [
            pa.field(EVENT, pa.int32()),
            *(pa.field(name, pa.int64()) for name in (r.START, r.END, DETECTED)),
            pa.field(PROBABILITY, pa.float64()),
            pa.field(METHOD, pa.string()),
            pa.field(ERROR, pa.float64()),
            pa.field(LINEAGE, pa.list_(ids)),
            *(pa.field(name, kind) for name, kind in sorted(values.items())),
        ]
    )


def most_probable(event: EventPlan, frame: DataFrame, n: int) -> DataFrame:
    """The n results with the largest probability; ties by start, lineage, end and head.

    Results about one left key have the same lineage.
    """
    ids = F.transform(named(LINEAGE), lambda one: F.coalesce(one.cast("string"), F.lit("None")))
    head = [named(physical_name(one.name, one.type)).asc_nulls_last() for one in event.head]
    return frame.orderBy(named(PROBABILITY).desc(), named(r.START), ids, named(r.END), *head).limit(n)


def require_exact(event: EventPlan, results: DataFrame) -> None:
    """Raises `InputError` where EXACT is demanded and some answers were sampled; this runs the relation."""
    sampled = results.where(named(METHOD).isin(SAMPLED, UNDECIDED))
    found = sampled.agg(F.count(F.lit(1)), F.max(named(ERROR))).first()
    if found is not None and found[0]:
        raise no_exact_answer(event, found[0], found[1])
