"""Runs the queries of a program on Spark: one shuffle for all that read the same streams by the same columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from inkling.evaluators.probable.lanes import Sampling as Lanes
from inkling.evaluators.probable.patterns import PatternEngine
from inkling.evaluators.probable.regular import Regular
from inkling.evaluators.protocol import Context
from inkling.evaluators.sampling import Sampling, lanes_of
from inkling.logical.plan import Demand
from inkling.physical.plan import PhysicalPlan
from inkling.probable.program import ProbableProgram
from inkling.probable.results import not_exact
from inkling.spark.frames import Frames
from inkling.spark.partitioning import Partitioning
from inkling.spark.probable.packed import Packed, packing_of
from inkling.spark.probable.results import parts_schema, probable_enough, whole_results, with_methods
from inkling.spark.probable.rows import Carried, prepared, useful_rows
from inkling.spark.probable.together import Together, queries_together
from inkling.spark.probable.worker import PackedTask, QueryTask
from inkling.spark.results import EVENT, require_exact
from inkling.spark.stage_frame import named, plainly_named
from inkling.spark.worlds.rows import SOURCE, Layout


def run_queries(program: ProbableProgram, sources: Mapping[str, DataFrame], partitioning: Partitioning) -> Frames:
    """Plan the results of all queries; nothing runs at once, unless EXACT is demanded and may be impossible."""
    return QueryRun(program, sources, partitioning).frames()


def query_frames(
    plan: PhysicalPlan, context: Context, sources: Mapping[str, DataFrame], partitioning: Partitioning
) -> Frames | None:
    """The queries of a plan."""
    program = ProbableProgram.of(plan, context.around, context.measure, Lanes(), tables=context.facts)
    if program is None:
        return None
    if not all(isinstance(one.engine, Regular | PatternEngine) for one in program.evaluators.values()):
        # only where sets may grow too large: how many worlds a sample needs takes a large library to compute
        program = replace(program, sampling=lanes_of(context.sampling or Sampling()))
    return run_queries(program, sources, partitioning)


@dataclass(frozen=True, slots=True)
class QueryRun:
    program: ProbableProgram
    sources: Mapping[str, DataFrame]
    partitioning: Partitioning
    may_pack: bool = True  # where that is possible

    def frames(self) -> Frames:
        events, cached = {}, []
        for some in queries_together(self.program):
            parts = self.parts(some)
            if len(some.events) > 1 or any(map(self._may_be_refused, some.events)):
                parts = parts.persist(StorageLevel.MEMORY_AND_DISK)
                cached.append(parts)
            for number, name in enumerate(some.events):
                evaluator = self.program.evaluators[name]
                mine = parts.where(named(EVENT) == number)
                results = with_methods(evaluator.event, whole_results(evaluator, mine, self.program.id_types[name]))
                if self._may_be_refused(name):
                    require_exact(evaluator.event, results, not_exact)
                events[name] = probable_enough(evaluator.event, results)
        return Frames(events, tuple(cached))

    def _may_be_refused(self, name: str) -> bool:
        evaluator = self.program.evaluators[name]
        return evaluator.event.demand is Demand.EXACT and not isinstance(evaluator.engine, Regular | PatternEngine)

    def parts(self, some: Together) -> DataFrame:
        """What workers find for some queries."""
        packing = packing_of(self.program, some) if self.may_pack else None
        return self._of_rows(some) if packing is None else self._of_packed(some, packing)

    def _of_packed(self, some: Together, packing: Mapping[str, Packed]) -> DataFrame:
        layout = Layout(tuple(packing), tuple(one.schema for one in packing.values()))
        queries = [self.program.strategies[name].query for name in some.events]
        frames = {}
        for name, one in packing.items():
            rows = self.sources[name]
            useful = useful_rows(one.stream, queries, rows, self.program.around)
            frames[name] = one.frame(rows if useful is None else rows.where(useful))
        rows = self._divided(some, layout.united(frames), _keys(some, tuple(packing.values()), layout))
        schema = parts_schema(self.program, some.events)
        task = PackedTask(some.part_of(self.program), some.events, packing, layout, tuple(rows.columns), schema)
        return plainly_named(rows).mapInArrow(task, from_arrow_schema(schema))

    def _divided(self, some: Together, rows: DataFrame, keys: list[Column]) -> DataFrame:
        if not keys:
            return rows.repartition(1)
        n_partitions = self.partitioning.for_frames([self.sources[name] for name in some.streams])
        return rows.repartition(n_partitions, *keys)

    def _of_rows(self, some: Together) -> DataFrame:
        carried = tuple(Carried.of(one) for one in self.program.part.streams if one.schema.name in some.divided_by)
        layout = Layout(tuple(one.stream.schema.name for one in carried), tuple(one.schema for one in carried))
        queries = [self.program.strategies[name].query for name in some.events]
        frames = {}
        for one in carried:
            name = one.stream.schema.name
            by, rows = some.divided_by[name], self.sources[name]
            frames[name] = prepared(one.stream, by, queries, rows, self.program.around)
        rows = self._divided(some, layout.united(frames), _keys(some, carried, layout))
        schema = parts_schema(self.program, some.events)
        task = QueryTask(some.part_of(self.program), some.events, carried, layout, tuple(rows.columns), schema)
        return plainly_named(rows).mapInArrow(task, from_arrow_schema(schema))


def _keys(some: Together, carried: Sequence[Carried | Packed], layout: Layout) -> list[Column]:
    """What rows that belong together have in common, in whichever columns streams keep it."""
    keys = []
    for place in range(some.n_keys):
        key = F.lit(None)
        for number, one in enumerate(carried):
            name = one.stream.schema.name
            value = layout.column(name, one.holder(some.divided_by[name][place]))
            key = F.when(named(SOURCE) == number, value.cast("string")).otherwise(key)
        keys.append(key)
    return keys
