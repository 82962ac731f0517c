"""Runs the chains of a program on Spark: one shuffle per stage, by key or by slices of time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import reduce

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema, from_arrow_type

from inkling.evaluators.protocol import Context
from inkling.imprecise.program import ImpreciseProgram
from inkling.io.normalize import END, START
from inkling.logical.vectorized import ARROW_TYPES
from inkling.physical.plan import PhysicalPlan, Stage
from inkling.spark.frames import Frames
from inkling.spark.imprecise.rows import Carried, inputs_of, prepared
from inkling.spark.imprecise.slices import Extent, Slices
from inkling.spark.imprecise.worker import ChainTask
from inkling.spark.partitioning import Partitioning
from inkling.spark.results import EVENT, most_probable, results_schema
from inkling.spark.stage_frame import named, plainly_named
from inkling.spark.worlds.rows import SOURCE, Layout

SLICES_PER_CORE = 4


def run_chains(
    program: ImpreciseProgram,
    sources: Mapping[str, DataFrame],
    facts: Mapping[str, pa.Table],
    partitioning: Partitioning,
) -> Frames:
    """Plan the results of all chains; only the extent of rows that no key divides is computed at once."""
    return ChainRun(program, sources, facts, partitioning).frames()


def chain_frames(
    plan: PhysicalPlan, context: Context, sources: Mapping[str, DataFrame], partitioning: Partitioning
) -> Frames | None:
    """The chains of a plan."""
    program = ImpreciseProgram.of(plan, context.around, context.measure)
    return None if program is None else run_chains(program, sources, context.facts, partitioning)


@dataclass(frozen=True, slots=True)
class ChainRun:
    program: ImpreciseProgram
    sources: Mapping[str, DataFrame]
    facts: Mapping[str, pa.Table]
    partitioning: Partitioning
    length: int | None = None  # of slices, in ticks, if it is not left to the data

    def frames(self) -> Frames:
        events, cached = {}, []
        for stage in self.program.physical.stages:
            parts = [self._results(stage, some) for some in self._divided(stage)]
            results = reduce(DataFrame.unionByName, parts)
            if len(stage.steps) > 1:
                results = results.persist(StorageLevel.MEMORY_AND_DISK)
                cached.append(results)
            for number, step in enumerate(stage.steps):
                mine = results.where(named(EVENT) == number)
                events[step.event.name] = most_probable(step.event, mine)
        return Frames(events, tuple(cached))

    def _divided(self, stage: Stage) -> list[Stage]:
        """What can run in slices of time, if that is what divides rows, and what has to run as a whole."""
        if stage.key_types:
            return [stage]
        windows = {name: one.window for name, one in self.program.evaluators(stage).items()}
        limited = tuple(step for step in stage.steps if windows[step.event.name] > 0)
        endless = tuple(step for step in stage.steps if windows[step.event.name] <= 0)
        return [replace(stage, steps=steps) for steps in (limited, endless) if steps]

    def _results(self, stage: Stage, some: Stage) -> DataFrame:
        """Results of some steps of a stage."""
        carried = tuple(Carried.of(one, some) for one in self.program.part.streams if inputs_of(one, some))
        layout = Layout(tuple(one.stream.schema.name for one in carried), tuple(one.schema for one in carried))
        frames = {
            one.stream.schema.name: prepared(
                one, some, self.sources[one.stream.schema.name], self.program.around, self.partitioning
            )
            for one in carried
        }
        rows, slices = self._partitioned(some, carried, layout, frames)
        schema = results_schema((step.event for step in stage.steps), ARROW_TYPES[stage.id_type])
        numbers = {step.event.name: number for number, step in enumerate(stage.steps)}
        columns = tuple(rows.columns)
        task = ChainTask(self.program, some, numbers, carried, layout, columns, self.facts, slices, schema)
        return plainly_named(rows).mapInArrow(task, from_arrow_schema(schema))

    def _partitioned(
        self, stage: Stage, carried: tuple[Carried, ...], layout: Layout, frames: Mapping[str, DataFrame]
    ) -> tuple[DataFrame, Slices | None]:
        rows = layout.united(frames)
        n_partitions = self.partitioning.for_frames([self.sources[name] for name in frames])
        if stage.key_types:
            return rows.repartition(n_partitions, *_keys(stage, carried, layout)), None
        evaluators = list(self.program.evaluators(stage).values())
        start, end = (layout.column(layout.streams[0], name) for name in (START, END))
        extent = Extent.of(rows, start, end, self.program.grid) if all(one.window > 0 for one in evaluators) else None
        if extent is None:
            return rows.coalesce(1), None
        wanted = self.partitioning.fixed or max(n_partitions, SLICES_PER_CORE * self.partitioning.cores)
        slices = Slices.of(evaluators, extent, wanted, self.length)
        return slices.cut(rows, start, end, min(wanted, slices.count)), slices


def _keys(stage: Stage, carried: tuple[Carried, ...], layout: Layout) -> list[Column]:
    """What rows of one key have in common, in whichever columns streams keep it."""
    keys = []
    for place, kind in enumerate(stage.key_types):
        key = F.lit(None)
        for number, one in enumerate(carried):
            name = one.holder(inputs_of(one.stream, stage)[0].key[place])
            value = layout.column(one.stream.schema.name, name).cast(from_arrow_type(ARROW_TYPES[kind]))
            # -0.0 and 0.0 are one key
            value = value + F.lit(0.0) if pa.types.is_floating(ARROW_TYPES[kind]) else value
            key = F.when(named(SOURCE) == number, value).otherwise(key)
        keys.append(key)
    return keys
