"""Runs the stages of a physical plan on Spark: one shuffle and one pass of Python workers per stage."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from inkling.analysis.bounds.lag import lag_of
from inkling.analysis.bounds.window import total_horizon
from inkling.evaluators.division import Slice
from inkling.evaluators.protocol import EvaluatorContext
from inkling.evaluators.result_rows import DETECTED, EVENT, LINEAGE, filled, result_columns, results_schema
from inkling.evaluators.stage.engine import StageEngine
from inkling.evaluators.stage.rows import format as r
from inkling.evaluators.stage.rows.derive import with_late_columns
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.plan import EventPlan, ProgramPlan, StreamPlan
from inkling.logical.vectorized import ARROW_TYPES
from inkling.model.batch import FOREVER, MatchBatch
from inkling.physical.groups import TaskLayout, chosen_layout
from inkling.physical.naming import physical_name, type_of
from inkling.physical.plan import PhysicalPlan, Stage
from inkling.physical.planner import certain_plan
from inkling.spark.frames import FramesByName, united
from inkling.spark.packed import PACKED, PackedEvent, Packer
from inkling.spark.partitioning import SLICE, Partitioning, Pieces, floored, slices_of
from inkling.spark.parts import Frames
from inkling.spark.results import certain_frame
from inkling.spark.shuffle import whole, with_derived_columns
from inkling.spark.stage_frame import input_frame, named
from inkling.spark.worker import mapped


@dataclass(frozen=True)
class StageWork:
    """The work of a Python worker: runs a stage, or some steps of it, over whole keys or slices of time."""

    stage: Stage
    tables: Mapping[str, pa.Table]
    context: ExpressionContext
    streams: Mapping[int, StreamPlan]  # by input, where derived columns are left to workers
    pieces: Pieces  # a slice of time keeps the results that are detected in it
    copies: Mapping[str, str]  # columns that are not shuffled, by the column that holds the same values
    numbers: tuple[int, ...]  # of the events of the steps among all of the stage
    schemas: tuple[pa.Schema, ...]  # of the results of each step
    packs: bool  # whether tables are packed, or are rows of one event

    def __call__(self, rows: pa.Table) -> Iterator[pa.Table]:
        packer = Packer()
        for some, piece in self.pieces(rows):
            ready = with_late_columns(self.stage, _with_copies(some, self.copies), self.streams, self.context)
            found = self._engine.run(ready)
            for number, schema, step in zip(self.numbers, self.schemas, self.stage.steps, strict=True):
                table = _results(number, step.event, found.matches[step.event.name], schema)
                if isinstance(piece, Slice):
                    known = table[DETECTED].to_numpy()
                    table = table.filter(pa.array((known >= piece.begins) & (known < piece.ends)))
                yield packer.packed(number, table) if self.packs else table

    @cached_property
    def _engine(self) -> StageEngine:
        return StageEngine(self.stage, self.tables, self.context)


def _results(number: int, event: EventPlan, matches: MatchBatch, schema: pa.Schema) -> pa.Table:
    columns = result_columns(number, event, matches)
    if r.PLACE in schema.names:
        columns[r.PLACE] = matches.places(matches.start_place)
        columns[r.END_PLACE] = matches.places(matches.end_place)
    return filled(columns, schema)


def _schema(stage: Stage, event: EventPlan, *, has_places: bool) -> pa.Schema:
    """The columns of the results of an event; later stages read places as well."""
    places = [pa.field(name, r.place_type(stage)) for name in (r.PLACE, r.END_PLACE)] if has_places else []
    schema = results_schema([event], ARROW_TYPES[stage.id_type], places)
    return pa.schema([field for field in schema if field.name != EVENT])


def stage_frames(
    plan: PhysicalPlan, context: EvaluatorContext, sources: Mapping[str, DataFrame], partitioning: Partitioning
) -> Frames | None:
    """The certain events of a plan; nothing runs until rows are read, unless a stage is cut by time.

    The results of a stage are cached if several frames depend on them: other events, or later stages.
    """
    certain = certain_plan(plan)
    if not certain.program.events:
        return None
    spark = next(iter(sources.values())).sparkSession
    names = [stream.schema.name for stream in certain.program.streams]
    ready = {name: sources[name] for name in names if name in sources}  # no event reads the others
    tables = {name: spark.createDataFrame(table) for name, table in context.facts.items()}
    run = _Run(certain.program, ready, tables, context, partitioning.for_all(list(ready.values())))
    events: dict[str, Callable[[], DataFrame]] = {}
    found: dict[str, PackedEvent] = {}
    cached = []
    for place, stage in enumerate(certain.stages):
        read_later = {given.source for later in certain.stages[place + 1 :] for given in later.inputs}
        schemas = [_schema(stage, one.event, has_places=one.event.name in read_later) for one in stage.steps]
        tasks = run.tasks(stage, schemas)
        results = reduce(DataFrame.unionByName, [mapped(rows, work, PACKED) for rows, work in tasks])
        is_shared = len(stage.steps) > 1 or stage.steps[0].event.name in read_later
        if is_shared:
            results = results.persist(StorageLevel.MEMORY_AND_DISK)
            cached.append(results)
        for number, (step, schema) in enumerate(zip(stage.steps, schemas, strict=True)):
            name = step.event.name
            found[name] = PackedEvent(results, number, step.event, schema)
            rows_of = found[name].rows if is_shared else partial(_unshared, tasks, schema)
            events[name] = partial(_certain_rows, step.event, rows_of)
            if name in read_later:
                ready[name] = _as_source(step.event, rows_of())
    return Frames(FramesByName(events), tuple(cached), packed=found)


Tasks = list[tuple[DataFrame, StageWork]]
"""The rows of each group of steps, and the work on them."""


def _unshared(tasks: Tasks, schema: pa.Schema) -> DataFrame:
    """The results of the only event of a stage, which need not be packed."""
    ((rows, work),) = tasks
    return mapped(rows, replace(work, packs=False), schema)


def _certain_rows(event: EventPlan, rows_of: Callable[[], DataFrame]) -> DataFrame:
    return certain_frame(event, rows_of())


@dataclass(frozen=True, slots=True)
class _Run:
    """A run of some stages; `ready` are the streams and the events of the stages before."""

    program: ProgramPlan
    ready: dict[str, DataFrame]
    tables: Mapping[str, DataFrame]
    context: EvaluatorContext
    partitioning: Partitioning

    def tasks(self, stage: Stage, schemas: Sequence[pa.Schema]) -> Tasks:
        """The work of all steps; keys, slices of time or groups of patterns run in parallel, by the layout."""
        names = [step.event.name for step in stage.steps]
        partitioning, expressions = self.partitioning, self.context.expressions
        by_key = chosen_layout(stage, partitioning.layout) is not TaskLayout.PATTERN
        tasks = []
        for group in partitioning.groups_of(stage):
            rows, left_to_worker = self._rows(group)
            copies = _copies_in(self.program, group)
            rows = rows.select(*(named(column) for column in rows.columns if column not in copies))
            pieces: Pieces = whole
            if stage.key_types and by_key:
                keys = [named(r.key_name(place)) for place in range(len(stage.key_types))]
                rows = rows.repartition(partitioning.for_frames(list(self.ready.values())), *keys)
            elif stage.sliced and by_key and partitioning.cores > 1:
                rows, pieces = self._sliced(stage, rows)
            else:
                rows = rows.coalesce(1)
            numbers = tuple(names.index(step.event.name) for step in group.steps)
            kinds = tuple(schemas[number] for number in numbers)
            facts = self.context.facts
            work = StageWork(group, facts, expressions, left_to_worker, pieces, copies, numbers, kinds, packs=True)
            tasks.append((rows, work))
        return tasks

    def _rows(self, stage: Stage) -> tuple[DataFrame, dict[int, StreamPlan]]:
        """The rows of all inputs that the steps read, and the streams whose derived columns the worker computes."""
        made_here = {step.event.name for step in stage.steps}
        used = {number for step in stage.steps for number in step.inputs}
        context, frames = self.context, []
        left_to_worker: dict[int, StreamPlan] = {}
        for number, given in enumerate(stage.inputs):
            if given.source in made_here or number not in used:
                continue
            source = self.ready[given.source]
            stream = self.program.stream(given.source)
            if stream is not None and stream.derived:
                if given.key == stream.schema.key and given.key and not given.atoms:
                    left_to_worker[number] = stream
                else:
                    source = with_derived_columns(stream, source, context.expressions, self.partitioning)
            late = left_to_worker.get(number)
            frames.append(input_frame(stage, number, source, self.tables, context.facts, context.expressions, late))
        rows = united(frames)
        return rows, left_to_worker

    def _sliced(self, stage: Stage, rows: DataFrame) -> tuple[DataFrame, Pieces]:
        """Overlapping slices of time: each row goes to every slice whose results it can be part of."""
        unit, cores = self.context.expressions.unit, self.partitioning.cores
        horizon = total_horizon([step.event for step in stage.steps], unit)
        assert horizon is not None
        # a step may read results that ended long before they were detected
        behind = max(lag_of(step.event, self.program, unit) for step in stage.steps)
        horizon += behind
        border = _border(stage, self.ready)
        if border is None or behind >= FOREVER:
            return rows.coalesce(1), whole
        low, high = border
        span = high - low + 1
        length = max(span // (4 * cores) + 1, 2 * horizon + 1)
        first = floored(named(r.END), length)  # in integers: doubles miss the borders of times beyond 2^53
        last = floored(named(r.END) + F.lit(horizon), length)
        cut = rows.withColumn(SLICE, F.explode(F.sequence(first, last)))
        n_slices = max(1, -(-span // length))
        return cut.repartition(min(n_slices, 4 * cores), named(SLICE)), partial(slices_of, length)


def _border(stage: Stage, ready: Mapping[str, DataFrame]) -> tuple[int, int] | None:
    """The first and the last end of the rows that the stage reads; None without rows."""
    made_here = {step.event.name for step in stage.steps}
    names = sorted({given.source for given in stage.inputs} - made_here)
    ends = reduce(DataFrame.unionByName, (ready[name].select(named(r.END)) for name in names))
    found = ends.agg(F.min(named(r.END)).alias("low"), F.max(named(r.END)).alias("high")).first()
    return None if found is None or found["low"] is None else (found["low"], found["high"])


def _as_source(event: EventPlan, results: DataFrame) -> DataFrame:
    """The results of one event in the form in which stages read their sources."""
    columns = [named(name) for name in (r.START, r.END, r.PLACE, r.END_PLACE)]
    columns += [named(DETECTED).alias(r.KNOWN), named(LINEAGE).alias(r.IDS)]
    columns += [
        named(physical_name(output.name, output.type)).alias(output.name) for output in (*event.head, *event.returns)
    ]
    return results.select(*columns)


def _copies_in(program: ProgramPlan, stage: Stage) -> dict[str, str]:
    """Columns that need not be shuffled, by the column that they repeat: a key that is also read, an id as the order.

    If an input does not supply a column, no step reads that column of its rows.
    """
    copies = {}
    for name in r.columns_of(stage):
        column = name.rsplit("|", 1)[0]
        for place, kind in enumerate(stage.key_types):
            if type_of(name) is kind and all(
                name not in one.columns or one.key[place] == column for one in stage.inputs
            ):
                copies[name] = r.key_name(place)
    if _places_are_ids(program, stage):
        copies[r.PLACE] = r.ID
    return copies


def _with_copies(rows: pa.Table, copies: Mapping[str, str]) -> pa.Table:
    """The rows with the columns that were not shuffled; no memory is copied."""
    for name, original in copies.items():
        rows = rows.append_column(name, rows[original])
    return rows


def _places_are_ids(program: ProgramPlan, stage: Stage) -> bool:
    streams = [program.stream(one.source) for one in stage.inputs]
    same_type = r.place_type(stage) == ARROW_TYPES[stage.id_type] and not stage.mixed_places
    return same_type and all(
        stream is not None and stream.schema.id is not None and stream.schema.order_by == stream.schema.id
        for stream in streams
    )
