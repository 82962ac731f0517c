"""Runs the relations of a program on Spark: one shuffle for all that read the same streams by the same columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from inkling.evaluators.protocol import Context
from inkling.logical.plan import Demand
from inkling.lost.live import RelationEvaluator
from inkling.lost.program import LostProgram
from inkling.lost.results import not_exact
from inkling.physical.plan import PhysicalPlan
from inkling.spark.frames import Frames
from inkling.spark.lost.rows import Carried
from inkling.spark.lost.shares import shared_out
from inkling.spark.lost.together import Together, relations_together
from inkling.spark.lost.worker import RelationTask
from inkling.spark.partitioning import Partitioning, estimated_bytes
from inkling.spark.results import EVENT, most_probable, require_exact, results_schema
from inkling.spark.stage_frame import named, plainly_named
from inkling.spark.worlds.checks import with_roles
from inkling.spark.worlds.rows import SOURCE, Layout, row_schema

TASKS_PER_CORE = 4
"""Pairs cost more than tasks, and some keys have lost far more than others; but see `LITTLE`."""

LITTLE = 1 << 20
"""Bytes of input, as Spark estimates them, whose pairs take less time than it takes to start tasks."""


def run_relations(program: LostProgram, sources: Mapping[str, DataFrame], partitioning: Partitioning) -> Frames:
    """Plan the results of all relations; nothing runs at once, unless EXACT is demanded, which may be impossible."""
    return RelationRun(program, sources, partitioning).frames()


def relation_frames(
    plan: PhysicalPlan, context: Context, sources: Mapping[str, DataFrame], partitioning: Partitioning
) -> Frames | None:
    """The relations of a plan."""
    found = RelationEvaluator.of(plan, context)
    return None if found is None else run_relations(found.program, sources, partitioning)


@dataclass(frozen=True, slots=True)
class RelationRun:
    program: LostProgram
    sources: Mapping[str, DataFrame]
    partitioning: Partitioning

    def frames(self) -> Frames:
        self._read_tables()
        events, cached = {}, []
        plans = {event.name: event for event in self.program.events}
        for some in relations_together(self.program):
            results = self.results(some)
            if len(some.events) > 1 or any(plans[name].demand is Demand.EXACT for name in some.events):
                results = results.persist(StorageLevel.MEMORY_AND_DISK)
                cached.append(results)
            for number, name in enumerate(some.events):
                mine = results.where(named(EVENT) == number)
                if plans[name].demand is Demand.EXACT:
                    require_exact(plans[name], mine, not_exact)
                events[name] = most_probable(plans[name], mine)
        return Frames(events, tuple(cached))

    def _read_tables(self) -> None:
        """Raises `InputError` where a table makes no sense, which only workers would see otherwise."""
        nothing = {one.schema.name: row_schema(one).empty_table() for one in self.program.part.streams}
        for evaluator in self.program.evaluators.values():
            evaluator.sides(nothing)

    def results(self, some: Together) -> DataFrame:
        """What workers find for some relations."""
        program = some.part_of(self.program)
        relations = [program.relations[name] for name in some.events]
        carried = tuple(Carried.of(one, relations) for one in program.part.streams)
        n_partitions = self._n_partitions(some)
        layout = Layout(tuple(one.stream.schema.name for one in carried), tuple(one.schema for one in carried))
        rows = layout.united({one.stream.schema.name: self._rows(one, n_partitions) for one in carried})
        rows = shared_out(rows, _groups(some, carried, layout), n_partitions)
        schema = results_schema(program.events, some.ids)
        task = RelationTask(program, some.events, carried, layout, tuple(rows.columns), schema)
        return plainly_named(rows).mapInArrow(task, from_arrow_schema(schema))

    def _rows(self, carried: Carried, n_partitions: int) -> DataFrame:
        schema, rows = carried.stream.schema, self.sources[carried.stream.schema.name]
        return with_roles(schema, row_schema(carried.stream), rows, n_partitions) if carried.tells_roles else rows

    def _n_partitions(self, some: Together) -> int:
        frames = [self.sources[name] for name in some.divided_by]
        tasks_per_core = 1 if sum(map(estimated_bytes, frames)) <= LITTLE else TASKS_PER_CORE
        # where nothing divides keys, every task has all of them, however many there are
        parts = self.partitioning.for_frames(frames) if some.n_columns else self.partitioning.cores
        return self.partitioning.fixed or tasks_per_core * parts


def _groups(some: Together, carried: tuple[Carried, ...], layout: Layout) -> list[Column]:
    """What keys that are compared have in common, in whichever columns streams keep it."""
    groups = []
    for place in range(some.n_columns):
        group = F.lit(None)
        for number, one in enumerate(carried):
            name = one.stream.schema.name
            column = one.holder(some.divided_by[name][place])
            value = layout.column(name, column)
            # -0.0 and 0.0 are one value
            value = value + F.lit(0.0) if pa.types.is_floating(one.schema.field(column).type) else value
            group = F.when(named(SOURCE) == number, value.cast("string")).otherwise(group)
        groups.append(group)
    return groups
