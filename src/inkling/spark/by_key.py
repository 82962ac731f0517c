"""Runs an evaluator on Spark, key by key: one shuffle brings the rows of each key together, a worker answers them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import from_arrow_schema

from inkling.evaluators.protocol import Context, StreamEvaluator
from inkling.io.checks.acceptable import acceptable
from inkling.logical.vectorized import ARROW_TYPES
from inkling.physical.plan import PhysicalPlan
from inkling.runtime.registry import EXACT
from inkling.spark.frames import Frames
from inkling.spark.partitioning import Partitioning
from inkling.spark.results import EVENT, filled, in_batches, internal_columns, results_schema
from inkling.spark.stage_frame import named, plainly_named
from inkling.spark.worlds.rows import Layout, row_schema


def run_by_key(
    name: str, plan: PhysicalPlan, context: Context, sources: Mapping[str, DataFrame], partitioning: Partitioning
) -> Frames | None:
    """Results of the events that the plan leaves to an evaluator; None where there are none."""
    evaluator = EXACT[name](plan, context)
    if evaluator is None:
        return None
    streams = evaluator.streams
    layout = Layout(tuple(one.schema.name for one in streams), tuple(map(row_schema, streams)))
    rows = layout.united(sources)
    key = evaluator.key
    n_partitions = partitioning.for_frames([sources[one.schema.name] for one in streams])
    rows = rows.repartition(n_partitions, *layout.keys(key)) if key else rows.coalesce(1)
    names = {event.name for event in evaluator.events}
    id_type = next(stage.id_type for stage in plan.stages for step in stage.steps if step.event.name in names)
    schema = results_schema(evaluator.events, ARROW_TYPES[id_type])
    task = KeyTask(evaluator, layout, tuple(rows.columns), schema)
    found = plainly_named(rows).mapInArrow(task, from_arrow_schema(schema)).persist(StorageLevel.MEMORY_AND_DISK)
    events = {one.name: found.where(named(EVENT) == number) for number, one in enumerate(evaluator.events)}
    return Frames(events, (found,))


@dataclass(frozen=True, slots=True)
class KeyTask:
    """What a worker needs to answer the rows of whole keys."""

    evaluator: StreamEvaluator[Any]
    layout: Layout
    columns: tuple[str, ...]  # names of the columns that arrive; Spark only carries plain ones
    schema: pa.Schema  # of the results

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        gathered = [batch for batch in batches if batch.num_rows]
        if not gathered:
            return
        arrived = self.layout.tables(pa.Table.from_batches(gathered).rename_columns(list(self.columns)))
        # what does not pass the checks of its stream is reported elsewhere
        ready = {one.schema.name: acceptable(one.schema, arrived[one.schema.name])[0] for one in self.evaluator.streams}
        found = self.evaluator.answer(ready).tables
        for number, event in enumerate(self.evaluator.events):
            yield from in_batches(filled(internal_columns(number, event, found[event.name]), self.schema))
