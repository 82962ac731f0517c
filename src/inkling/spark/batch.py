"""Runs a program on Spark: reads, checks and types its inputs there, and leaves one DataFrame per event."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from inkling.analysis.clock import measure_for
from inkling.analysis.inputs import require_inputs
from inkling.evaluators.lost.limits import Limits
from inkling.evaluators.probable.lanes import Sampling as Lanes
from inkling.evaluators.probable.patterns import PatternEngine
from inkling.evaluators.probable.regular import Regular
from inkling.imprecise.program import ImpreciseProgram
from inkling.io import REJECTS_SCHEMA, Data
from inkling.io.normalize import stored_columns
from inkling.knowledge.materialize import known, surroundings
from inkling.logical.evaluate import Surroundings
from inkling.logical.plan import ProgramPlan, retracted_outputs
from inkling.lost.program import LostProgram
from inkling.model.clock import Measure
from inkling.model.time import Clock
from inkling.physical.groups import Layout
from inkling.physical.plan import PhysicalPlan
from inkling.physical.planner import certain_plan
from inkling.physical.runnable import Runnable
from inkling.probable.program import ProbableProgram
from inkling.results import Results
from inkling.spark.duplicates import repeated_rows
from inkling.spark.facts import read_facts
from inkling.spark.imprecise.frames import run_chains
from inkling.spark.lost.frames import run_relations
from inkling.spark.normalize import NormalizedFrame, normalize_frame
from inkling.spark.partitioning import Partitioning, partitioning_of
from inkling.spark.probable.frames import run_queries
from inkling.spark.read import read_frame
from inkling.spark.results import certain_frame, public_frame
from inkling.spark.session import NO_BYTE_LIMIT
from inkling.spark.stages import run_stages
from inkling.spark.worlds.checks import refused_rows
from inkling.worlds.program import WorldProgram

if TYPE_CHECKING:
    from inkling.evaluators.sampling import Sampling
    from inkling.spark.worlds.frames import WorldNotes


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
    notes: WorldNotes | None = None  # about worlds, where streams are uncertain

    def collect(self) -> Results:
        """Everything as Arrow tables in this process; for results that fit it."""
        tables = {name: frame.toArrow() for name, frame in self.frames.items()}
        counts = {name: frame.count() for name, frame in self.inputs.items()}
        worlds = None if self.notes is None else str(self.notes.account())
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
    """Plan a run of a program; nothing is computed until somebody asks for rows, but see `run_worlds`.

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
        from inkling.live.adaptation.counting import require_fitting_models

        require_fitting_models(program.physical, facts, measure)
    around = surroundings(facts, measure)
    sources = {name: one.rows for name, one in read.items()}
    divided = partitioning_of(spark, partitions, layout)
    certain = certain_plan(program.physical)
    found = run_stages(
        certain,
        {name: sources[name] for name in _streams_of(certain, sources)},
        {name: spark.createDataFrame(table) for name, table in facts.items()},
        facts,
        around,
        divided,
    )
    frames = {
        one.name: public_frame(one, certain_frame(one, found.events[one.name]), measure.clock)
        for one in certain.program.events
    }
    kept, notes = found.cached, None
    if (imprecise := ImpreciseProgram.of(program.physical, around, measure)) is not None:
        chains = run_chains(imprecise, sources, facts, divided)
        frames |= {one.name: public_frame(one, chains.events[one.name], measure.clock) for one in imprecise.events}
        kept += chains.cached
    if (probable := _queries(program.physical, facts, around, measure, sampling)) is not None:
        queries = run_queries(probable, sources, divided)
        frames |= {one.name: public_frame(one, queries.events[one.name], measure.clock) for one in probable.events}
        kept += queries.cached
    if (lost := _relations(program.physical, facts, around, measure, sampling)) is not None:
        relations = run_relations(lost, sources, divided)
        frames |= {one.name: public_frame(one, relations.events[one.name], measure.clock) for one in lost.events}
        kept += relations.cached
    if len(frames) < len(plan.events):
        # only now: bounds of estimates take a large library to compute
        from inkling.spark.worlds.frames import run_worlds

        doubtful = WorldProgram.of(program.physical, around, measure)
        worlds = run_worlds(doubtful, sources, facts, sampling, divided)
        frames |= {one.name: public_frame(one, worlds.events[one.name], measure.clock) for one in doubtful.events}
        kept, notes = kept + worlds.cached, worlds.notes
    told = {event.name: frames[event.name] for event in plan.events}
    told |= {output: told[name].where(F.lit(False)) for name, output in retracted_outputs(plan).items()}
    return SparkResults(
        told,
        _rejects(spark, plan, read, divided),
        measure.clock,
        {name: one.raw for name, one in read.items()},
        kept,
        notes,
    )


def _queries(
    plan: PhysicalPlan,
    facts: Mapping[str, pa.Table],
    around: Surroundings,
    measure: Measure,
    sampling: Sampling | None,
) -> ProbableProgram | None:
    """Queries over probable streams, with settings for those that may have to look at worlds after all."""
    program = ProbableProgram.of(plan, around, measure, Lanes(), tables=facts)
    if program is None or all(isinstance(one.engine, Regular | PatternEngine) for one in program.evaluators.values()):
        return program
    # only now: how many worlds are needed takes a large library to compute
    from inkling.evaluators import sampling as settings

    return replace(program, sampling=settings.lanes_of(sampling or settings.Sampling()))


def _relations(
    plan: PhysicalPlan,
    facts: Mapping[str, pa.Table],
    around: Surroundings,
    measure: Measure,
    sampling: Sampling | None,
) -> LostProgram | None:
    """Relations between segments with lost ends, with settings for those that lost too many at once."""
    program = LostProgram.of(plan, around, measure, Limits(), facts)
    if program is None:
        return None
    # only now: how many samples are needed takes a large library to compute
    from inkling.evaluators import sampling as settings

    return replace(program, limits=settings.limits_of(sampling or settings.Sampling()))


def _streams_of(certain: PhysicalPlan, sources: Mapping[str, DataFrame]) -> list[str]:
    declared = {stream.schema.name for stream in certain.program.streams}
    return [name for name in sources if name in declared]


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
            refused.append(refused_rows(schema, rows, divided.for_frames([rows])))
        elif schema.id is not None and schema.op is None:  # with OP, ids are told apart when rows are read
            refused.append(repeated_rows(schema, rows))
    return reduce(DataFrame.unionByName, refused, empty)
