"""Runs a program on Spark: reads, checks and types its inputs there, and leaves one DataFrame per event."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from inkling.analysis.clock import measure_for
from inkling.analysis.inputs import require_inputs
from inkling.evaluators.division import parts_of
from inkling.evaluators.protocol import Context
from inkling.io import REJECTS_SCHEMA, Data
from inkling.io.checks.acceptable import acceptable
from inkling.io.normalize import stored_columns
from inkling.knowledge.materialize import known, surroundings
from inkling.logical.plan import ProgramPlan, retracted_outputs
from inkling.model.schema import StreamSchema
from inkling.model.time import Clock
from inkling.physical.groups import Layout
from inkling.physical.plan import PhysicalPlan
from inkling.physical.runnable import Runnable
from inkling.results import Results
from inkling.runtime.registry import uncertain_evaluators
from inkling.spark.duplicates import repeated_rows
from inkling.spark.normalize import NormalizedFrame, normalize_frame
from inkling.spark.partitioning import Partitioning, partitioning_of
from inkling.spark.parts import Frames, RunNotes, part_frames
from inkling.spark.read import read_facts, read_frame
from inkling.spark.results import public_frame
from inkling.spark.session import NO_BYTE_LIMIT
from inkling.spark.shuffle import by_key
from inkling.spark.stages import stage_frames
from inkling.spark.worker import mapped

if TYPE_CHECKING:
    from inkling.evaluators.sampling import Sampling


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
    notes: RunNotes | None = None  # about worlds, where streams are uncertain

    def collect(self) -> Results:
        """Everything as Arrow tables in this process; for results that fit it."""
        tables = {name: frame.toArrow() for name, frame in self.frames.items()}
        counts = {name: frame.count() for name, frame in self.inputs.items()}
        worlds = None if self.notes is None else self.notes.text()
        return Results(tables, self.rejects.toArrow(), counts, self.clock, worlds)

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
    layout: Layout | None = None,
    sampling: Sampling | None = None,
) -> SparkResults:
    """Plan a run of a program; nothing is computed until somebody asks for rows.

    Only EXACT, a second look at undecided results and slices of time look at the data at once.

    On a session that was not made by `spark_session` this lifts the limit on the bytes of an Arrow batch, whose
    check after every row costs more than the rows themselves.
    """
    spark.conf.set("spark.sql.execution.arrow.maxBytesPerBatch", NO_BYTE_LIMIT)
    plan = program.plan
    require_inputs(plan, inputs)
    read = _read_streams(plan, spark, inputs)
    measure = measure_for(plan, {name: one.clock for name, one in read.items()})
    facts = known(plan, read_facts(spark, program, tables or {}), measure)
    if any(event.forecast is not None for event in plan.events):
        # a worker that finds out could only fail; and only now, because models take a large library to read
        from inkling.runtime.adaptation.counting import require_fitting_models

        require_fitting_models(program.physical, facts, measure)
    around = surroundings(facts, measure)
    sources = {name: one.rows for name, one in read.items()}
    divided = partitioning_of(spark, partitions, layout)
    physical, context = program.physical.on_clock(measure.clock), Context(facts, around, measure, sampling)
    found = list(_frames(physical, context, sources, divided))
    events = {event.name: event for event in plan.events}
    frames = {
        name: public_frame(events[name], frame, measure.clock) for one in found for name, frame in one.events.items()
    }
    told = {event.name: frames[event.name] for event in plan.events}
    told |= {output: told[name].where(F.lit(False)) for name, output in retracted_outputs(plan).items()}
    return SparkResults(
        told,
        _rejects(spark, plan, read, divided),
        measure.clock,
        {name: one.raw for name, one in read.items()},
        tuple(frame for one in found for frame in one.cached),
        next((one.notes for one in found if one.notes is not None), None),
    )


def _frames(
    plan: PhysicalPlan, context: Context, sources: Mapping[str, DataFrame], divided: Partitioning
) -> Iterator[Frames]:
    """Results of every event of a plan, each from the evaluator that the plan names."""
    certain = stage_frames(plan, context, sources, divided)
    if certain is not None:
        yield certain
    for evaluator in uncertain_evaluators(plan, context).values():
        for part in parts_of(evaluator, plan.id_types):
            yield part_frames(part, sources, context.around, divided)


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


def _rejects(
    spark: SparkSession, plan: ProgramPlan, read: Mapping[str, NormalizedFrame], divided: Partitioning
) -> DataFrame:
    empty = spark.createDataFrame(pa.Table.from_pylist([], schema=REJECTS_SCHEMA))
    refused = [one.rejects for one in read.values()]
    for schema in (stream.schema for stream in plan.streams if stream.schema.name in read):
        rows = read[schema.name].rows
        if schema.doubt is not None:
            refused.append(mapped(by_key(schema, rows, divided), _Refuse(schema), REJECTS_SCHEMA))
        elif schema.id is not None and schema.op is None:  # with OP, ids are told apart when rows are read
            refused.append(repeated_rows(schema, rows))
    return reduce(DataFrame.unionByName, refused, empty)


@dataclass(frozen=True, slots=True)
class _Refuse:
    """Rejects of an uncertain stream; a pass of its own, when asked for."""

    schema: StreamSchema

    def __call__(self, rows: pa.Table) -> list[pa.Table]:
        return acceptable(self.schema, rows)[1]
