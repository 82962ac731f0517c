"""Runs a program on Spark in batch: reads and checks its inputs, and gives a lazy DataFrame per event."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial, reduce
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from inkling.analysis.clock import time_unit
from inkling.analysis.inputs import require_inputs
from inkling.evaluators.division import parts_of
from inkling.evaluators.protocol import EvaluatorContext
from inkling.event_results import EventResults
from inkling.io import REJECTS_SCHEMA, Data
from inkling.io.checks.acceptable import acceptable
from inkling.io.normalize import stored_columns
from inkling.knowledge.materialize import expression_context, known
from inkling.logical.plan import ProgramPlan, retracted_outputs
from inkling.model.schema import StreamSchema
from inkling.model.time import Clock
from inkling.physical.groups import TaskLayout
from inkling.physical.plan import PhysicalPlan, Runnable
from inkling.results import Results, RunOrigin
from inkling.results_html import table_html
from inkling.runtime.registry import uncertain_evaluators
from inkling.spark.frames import FramesByName
from inkling.spark.packed import PackedEvent, public_tables
from inkling.spark.partitioning import Partitioning, partitioning_of
from inkling.spark.parts import Frames, RunNotes, part_frames
from inkling.spark.read.duplicates import repeated_rows
from inkling.spark.read.inputs import read_facts, read_frame
from inkling.spark.read.normalize import NormalizedFrame, normalize_frame
from inkling.spark.results import public_frame
from inkling.spark.session import NO_BYTE_LIMIT
from inkling.spark.shuffle import by_key
from inkling.spark.stages import stage_frames
from inkling.spark.task_progress import saying_tasks
from inkling.spark.worker import mapped

if TYPE_CHECKING:
    from inkling.evaluators.sampling import Sampling


NAMED_EVENTS = 3
"""Of more events that are computed together, progress only says how many they are."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SparkResults(EventResults[DataFrame]):
    """The results of a run on Spark: a lazy DataFrame for each event, made by `Program.run`.

    Nothing runs until rows are read. The DataFrames share one pass over the data; shared rows are cached until `close`.
    Like a dict, results are true if the program has events, whether or not there are rows.

    Attributes
    ----------
    tables
        A DataFrame for each event; `results["stuck"]` is short for `results.tables["stuck"]`.
    rejects
        Rows that violate the declaration of their stream, with the reason.
    clock
        Whether times are timestamps or ticks.
    inputs
        The rows of each stream as they were read.
    """

    # `field()`, because a dataclass would use the property of the base class as the default
    tables: Mapping[str, DataFrame] = field()
    rejects: DataFrame = field()
    clock: Clock
    inputs: Mapping[str, DataFrame]
    cached: tuple[DataFrame, ...]
    notes: RunNotes | None = None  # about worlds, where streams are uncertain
    origin: RunOrigin | None = None
    packed: Mapping[str, PackedEvent] = field(default_factory=dict)  # the certain events

    def collect(self, on_phase: Callable[[str], None] | None = None) -> Results:
        """All results as Arrow tables in this process; they must fit in its memory.

        Parameters
        ----------
        on_phase
            Receives a text when another phase begins, such as ``"reading Door"``, and how many of its tasks are done.
        """
        say, spark = on_phase or (lambda _: None), self.rejects.sparkSession
        counts = {}
        tables: dict[str, pa.Table] = {}
        for name, frame in self.inputs.items():
            with saying_tasks(spark, f"reading {name}", say):
                counts[name] = frame.count()
        for names in self._jobs():
            with saying_tasks(spark, f"computing {_listed(names)}", say):
                tables |= self._computed(names)
        tables = {name: tables[name] for name in self.tables}
        worlds = None if self.notes is None else self.notes.text()
        return Results(tables, self.rejects.toArrow(), counts, self.clock, worlds, self.origin)

    def close(self) -> None:
        """Remove cached rows from the memory of Spark."""
        for frame in self.cached:
            frame.unpersist()

    def _event_to_arrow(self, event: str) -> pa.Table:
        return self._computed([event])[event]

    def _events_to_arrow(self) -> dict[str, pa.Table]:
        tables: dict[str, pa.Table] = {}
        for names in self._jobs():
            tables |= self._computed(names)
        return {name: tables[name] for name in self.tables}

    def _jobs(self) -> list[list[str]]:
        """The events in groups that are computed together."""
        jobs: dict[object, list[str]] = {}
        for name in self.tables:
            jobs.setdefault(id(self.packed[name].frame) if name in self.packed else name, []).append(name)
        return list(jobs.values())

    def _computed(self, names: Sequence[str]) -> dict[str, pa.Table]:
        """The results of events that are computed together."""
        if names[0] in self.packed:
            return public_tables([self.packed[name] for name in names], self.clock)
        return {name: self.tables[name].toArrow() for name in names}

    def __repr__(self) -> str:
        return f"<SparkResults {', '.join(self)}: not computed yet>"

    def _repr_html_(self) -> str:
        rows = [(name, [f"{column} {kind}" for column, kind in frame.dtypes]) for name, frame in self.tables.items()]
        how = (
            "Nothing has been computed yet. <code>results[name]</code> is a DataFrame; <code>.to_pandas(name)</code>, "
            "<code>.to_polars(name)</code>, <code>.to_arrow(name)</code> and <code>.collect()</code> run the program."
        )
        return f"<div>{table_html(('event', 'columns'), rows)}<p>{how}</p></div>"


def run(
    program: Runnable,
    spark: SparkSession,
    inputs: Mapping[str, Data],
    tables: Mapping[str, Data] | None = None,
    *,
    partitions: int | None = None,
    layout: TaskLayout | None = None,
    sampling: Sampling | None = None,
) -> SparkResults:
    """Plan a run of a program; nothing is computed until rows are read.

    There are three exceptions: EXACT, further samples for undecided results, and slices of time look at the data at
    once. On a session that was not made by `spark_session`, this lifts the limit on the bytes of an Arrow batch: Spark
    checks that limit after every row, which costs more than the rows themselves.
    """
    spark.conf.set("spark.sql.execution.arrow.maxBytesPerBatch", NO_BYTE_LIMIT)
    plan = program.plan
    require_inputs(plan, inputs)
    read = _read_streams(plan, spark, inputs)
    unit = time_unit(plan, {name: one.clock for name, one in read.items()})
    facts = known(plan, read_facts(spark, program, tables or {}), unit)
    if any(event.forecast is not None for event in plan.events):
        # on the driver, because a worker could only fail; imported here, because models need a large library
        from inkling.forecasting.adaptation.counting import require_fitting_models

        require_fitting_models(program.physical, facts, unit)
    expressions = expression_context(facts, unit)
    sources = {name: one.rows for name, one in read.items()}
    divided = partitioning_of(spark, partitions, layout)
    physical = program.physical.on_clock(unit.clock)
    context = EvaluatorContext(facts, expressions, unit, sampling)
    found = list(_frames(physical, context, sources, divided))
    events = {event.name: event for event in plan.events}
    made_by = {name: one.events for one in found for name in one.events}

    def public(name: str) -> DataFrame:
        return public_frame(events[name], made_by[name][name], unit.clock)

    emitted = {event.name: partial(public, event.name) for event in plan.shown}
    emitted |= {output: partial(_none_of, public, name) for name, output in retracted_outputs(plan).items()}
    return SparkResults(
        FramesByName(emitted),
        _rejects(spark, plan, read, divided),
        unit.clock,
        {name: one.raw for name, one in read.items()},
        tuple(frame for one in found for frame in one.cached),
        next((one.notes for one in found if one.notes is not None), None),
        RunOrigin(program, inputs, tables, sampling),
        {name: event for one in found for name, event in one.packed.items()},
    )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= NAMED_EVENTS else f"{len(names)} events"


def _none_of(frame_of: Callable[[str], DataFrame], name: str) -> DataFrame:
    """The withdrawn results of an event in batch, where nothing is withdrawn."""
    return frame_of(name).where(F.lit(False))


def _frames(
    plan: PhysicalPlan, context: EvaluatorContext, sources: Mapping[str, DataFrame], divided: Partitioning
) -> Iterator[Frames]:
    """The results of every event of a plan, each from the evaluator that the plan names."""
    certain = stage_frames(plan, context, sources, divided)
    if certain is not None:
        yield certain
    for evaluator in uncertain_evaluators(plan, context).values():
        for part in parts_of(evaluator, plan.id_types):
            yield part_frames(part, sources, context.expressions, divided)


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
    rejected = [one.rejects for one in read.values()]
    for schema in (stream.schema for stream in plan.streams if stream.schema.name in read):
        rows = read[schema.name].rows
        if schema.uncertainty is not None:
            rejected.append(mapped(by_key(schema, rows, divided), partial(_rejected, schema), REJECTS_SCHEMA))
        elif schema.id is not None and schema.op is None:  # with OP, ids are distinguished when rows are read
            rejected.append(repeated_rows(schema, rows))
    return reduce(DataFrame.unionByName, rejected, empty)


def _rejected(schema: StreamSchema, rows: pa.Table) -> list[pa.Table]:
    """The rejected rows of an uncertain stream; a separate pass that runs only if they are read."""
    return acceptable(schema, rows)[1]
