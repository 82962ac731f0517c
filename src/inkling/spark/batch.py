"""Runs a program on Spark: reads, checks and types its inputs there, and leaves one DataFrame per event."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from inkling.analysis.clock import measure_for
from inkling.analysis.inputs import require_inputs
from inkling.evaluators.stage import rows as r
from inkling.io import REJECTS_SCHEMA, Data
from inkling.io.normalize import stored_columns
from inkling.io.tables import read_tables
from inkling.logical.evaluate import Surroundings
from inkling.logical.plan import EventPlan, ProgramPlan
from inkling.model.time import Clock
from inkling.model.types import Type
from inkling.physical.naming import physical_name
from inkling.physical.runnable import Runnable
from inkling.results import Results
from inkling.spark.duplicates import repeated_rows
from inkling.spark.normalize import NormalizedFrame, normalize_frame
from inkling.spark.partitioning import partitioning_of
from inkling.spark.read import read_frame
from inkling.spark.session import NO_BYTE_LIMIT
from inkling.spark.stage_frame import named
from inkling.spark.stages import run_stages
from inkling.spark.worker import DETECTED, LINEAGE


@dataclass(frozen=True, slots=True)
class SparkResults:
    """What a program found: one lazy DataFrame per event, and the rows that were refused.

    The frames share one pass over the data, kept until `close`.
    """

    frames: Mapping[str, DataFrame]
    rejects: DataFrame
    clock: Clock
    inputs: Mapping[str, DataFrame]
    kept: tuple[DataFrame, ...]

    def collect(self) -> Results:
        """Everything as Arrow tables in this process; for results that fit it."""
        tables = {name: frame.toArrow() for name, frame in self.frames.items()}
        counts = {name: frame.count() for name, frame in self.inputs.items()}
        return Results(tables, self.rejects.toArrow(), counts, self.clock)

    def close(self) -> None:
        """Free what was kept."""
        for frame in self.kept:
            frame.unpersist()


def run(
    program: Runnable,
    spark: SparkSession,
    inputs: Mapping[str, Data],
    tables: Mapping[str, Data] | None = None,
    *,
    partitions: int | None = None,
) -> SparkResults:
    """Plan a run of a program; nothing is computed until somebody asks for rows.

    On a session that was not made by `spark_session` this lifts the limit on the bytes of an Arrow batch, whose
    check after every row costs more than the rows themselves.
    """
    spark.conf.set("spark.sql.execution.arrow.maxBytesPerBatch", NO_BYTE_LIMIT)
    plan = program.plan
    require_inputs(plan, inputs)
    read = _read_streams(plan, spark, inputs)
    facts = read_tables(plan.tables, tables, program.folder)
    measure = measure_for(plan, {name: one.clock for name, one in read.items()})
    around = Surroundings({name: tuple(table.to_pylist()) for name, table in facts.items()}, measure)
    found = run_stages(
        program.physical,
        {name: one.rows for name, one in read.items()},
        {name: spark.createDataFrame(table) for name, table in facts.items()},
        facts,
        around,
        partitioning_of(spark, partitions),
    )
    frames = {event.name: _public(event, found.events[event.name], measure.clock) for event in plan.events}
    return SparkResults(
        frames,
        _rejects(spark, plan, read),
        measure.clock,
        {name: one.raw for name, one in read.items()},
        found.cached,
    )


def _read_streams(plan: ProgramPlan, spark: SparkSession, inputs: Mapping[str, Data]) -> dict[str, NormalizedFrame]:
    read = {}
    for stream in plan.streams:
        schema = stream.schema
        if schema.name in inputs:
            derived = [column.name for column in stream.derived]
            stored = [column.name for column in stored_columns(schema, derived)]
            raw = read_frame(spark, inputs[schema.name], what=schema.name, columns=stored)
            read[schema.name] = normalize_frame(raw, schema, derived)
    return read


def _rejects(spark: SparkSession, plan: ProgramPlan, read: Mapping[str, NormalizedFrame]) -> DataFrame:
    empty = spark.createDataFrame(pa.Table.from_pylist([], schema=REJECTS_SCHEMA))
    refused = [one.rejects for one in read.values()]
    refused += [
        repeated_rows(stream.schema, read[stream.schema.name].rows)
        for stream in plan.streams
        if stream.schema.name in read and stream.schema.id is not None
    ]
    return reduce(DataFrame.unionByName, refused, empty)


def _public(event: EventPlan, frame: DataFrame, clock: Clock) -> DataFrame:
    """Results of one event in the public columns."""
    columns = [F.lit(event.name).alias("event")]
    for output in (*event.head, *event.returns):
        value = named(physical_name(output.name, output.type))
        columns.append((_in_time(value, clock) if output.type is Type.TIME else value).alias(output.name))
    for name, internal in (("start", r.START), ("end", r.END), ("detected_at", DETECTED)):
        columns.append(_in_time(named(internal), clock).alias(name))
    return frame.select(
        *columns,
        F.lit(1.0).alias("probability"),
        F.lit("exact").alias("method"),
        F.lit(0.0).alias("error"),
        F.lit("+").alias("op"),
        named(LINEAGE).alias("lineage"),
    )


def _in_time(number: Column, clock: Clock) -> Column:
    return F.timestamp_micros(number) if clock is Clock.TIMESTAMP else number
