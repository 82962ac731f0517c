"""Inference on Spark: readings are partitioned and sorted by key, and each task processes many keys at a time."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

from inkling.infer.estimates import InferenceTask
from inkling.infer.functions import Options, grid_of
from inkling.infer.readings import readings_of, require_columns
from inkling.infer.settings import Grid
from inkling.infer.steps import StepExtent, blocks, times_of
from inkling.io.casting import clock_of
from inkling.model.time import Clock
from inkling.spark.stage_frame import named, plainly_named

TASK_ROWS = 1 << 18
"""Readings that a task collects before it processes them; the readings of a key are never split."""

SAMPLED = 1000


def answered_on_spark(readings: DataFrame, question: InferenceTask, options: Options) -> DataFrame:
    """The estimates for all keys, evaluated lazily."""
    names = question.names
    require_columns(readings.columns, names)
    values = [names.value] if question.model.has_values and names.value in readings.columns else []
    chosen = readings.select(*(named(name) for name in (*names.key, names.time, names.reader, *values)))
    arrow = to_arrow_schema(chosen.schema, timezone="UTC")
    grid = grid_of(_clock(chosen, arrow, names.time), options)
    numbered = plainly_named(chosen)
    keys = numbered.columns[: len(names.key)]
    co_partitioned = numbered.repartition(*keys).sortWithinPartitions(*keys)
    time = times_of(np.zeros(0, np.int64), grid).type
    schema = question.schema(pa.schema([arrow.field(name) for name in names.key]), time)
    return co_partitioned.mapInArrow(Task(question, grid, tuple(chosen.columns), schema), from_arrow_schema(schema))


def _clock(rows: DataFrame, arrow: pa.Schema, time: str) -> Clock:
    """The clock by the type of the time column; for text, by a sample of values."""
    kind = arrow.field(time).type
    if pa.types.is_string(kind):
        some = rows.select(named(time)).where(named(time).isNotNull()).limit(SAMPLED).toArrow()
        return clock_of(some[time])
    return clock_of(pa.chunked_array([], kind))


@dataclass(frozen=True, slots=True)
class Task:
    """The work of one Spark task; its rows are sorted by key."""

    question: InferenceTask
    grid: Grid
    columns: tuple[str, ...]
    schema: pa.Schema

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        question, grid = self.question, self.grid
        for table in self._whole_keys(batches):
            readings = readings_of(table, question.model, question.names, grid.clock)
            for steps in blocks(readings, StepExtent.of(readings, grid), grid, question.model):
                yield from question.answer(steps, grid).cast(self.schema).to_batches(max_chunksize=100_000)

    def _whole_keys(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
        """Tables of complete keys; the last key of a batch may continue in the next one, so its rows wait."""
        held: list[pa.RecordBatch] = []
        n_held = 0
        for batch in batches:
            held.append(batch)
            n_held += batch.num_rows
            if n_held < TASK_ROWS:
                continue
            rows = self._table(held)
            border = _start_of_last_key(rows, self.question.names.key)
            if border:
                yield rows.slice(0, border)
            held = rows.slice(border).to_batches()
            n_held = len(rows) - border
        if n_held:
            yield self._table(held)

    def _table(self, batches: list[pa.RecordBatch]) -> pa.Table:
        return pa.Table.from_batches([batch.rename_columns(list(self.columns)) for batch in batches])


def _start_of_last_key(rows: pa.Table, key: tuple[str, ...]) -> int:
    """The first row of the last key; rows of one key are adjacent."""
    same = np.ones(len(rows), bool)
    for name in key:
        column = rows[name]
        last = column[len(column) - 1]
        same &= pc.fill_null(pc.equal(column, last), False).to_numpy()
    return int(len(same) - np.argmin(same[::-1])) if not same.all() else 0
