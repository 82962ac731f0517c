"""Runs the doubtful part of a program on Spark: by keys where nothing crosses them, otherwise by worlds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from inkling.evaluators.protocol import Context
from inkling.evaluators.sampling import Sampling
from inkling.logical.plan import Demand
from inkling.physical.plan import PhysicalPlan
from inkling.results import UNDECIDED
from inkling.spark.duplicates import first_rows
from inkling.spark.frames import Frames
from inkling.spark.partitioning import Partitioning
from inkling.spark.results import EVENT, LINEAGE, METHOD, most_probable
from inkling.spark.stage_frame import named, plainly_named
from inkling.spark.worlds.checks import role_fields, tells_roles, with_roles
from inkling.spark.worlds.results import (
    ABOUT,
    IDENTITY,
    NOTE,
    TOKENS,
    estimates_schema,
    lineage_name,
    note_of,
    sums_schema,
)
from inkling.spark.worlds.rows import Layout, row_schema
from inkling.spark.worlds.worker import BLOCK, AddTask, BlockTask, KeysTask, Undecided, WorldsJob, may_be_undecided
from inkling.worlds.account import Account
from inkling.worlds.demands import Refusal
from inkling.worlds.program import WorldProgram
from inkling.worlds.run import tokens_behind

TASKS_PER_CORE = 2
"""Worlds cost more than tasks, and some keys have more of them than others."""


@dataclass(frozen=True, slots=True)
class WorldNotes:
    """What workers noted about a run; reading it runs what has not run yet."""

    frame: DataFrame
    n_further: int = 0

    def account(self) -> Account:
        """The worlds behind all results."""
        every = Account.together(note for note in self._notes() if isinstance(note, Account))
        return replace(every, n_further=max(every.n_further, self.n_further))

    def require_exact(self) -> None:
        """Raises the error that a run in this process raises where EXACT cannot be had."""
        refused = [note for note in self._notes() if isinstance(note, Refusal)]
        if refused:
            self.frame.unpersist()
            raise min(refused, key=lambda one: (one.event, one.part)).error

    def _notes(self) -> list[Account | Refusal]:
        rows = self.frame.where(named(EVENT) == ABOUT).select(named(NOTE)).collect()
        return [note_of(bytes(row[0])) for row in rows]


def run_worlds(
    program: WorldProgram,
    sources: Mapping[str, DataFrame],
    facts: Mapping[str, pa.Table],
    sampling: Sampling | None,
    partitioning: Partitioning,
) -> Frames:
    """Plan the estimates of all doubtful events.

    Nothing runs before somebody asks for rows, unless EXACT is demanded, which may be impossible, or there is no key
    and results may be undecided about their CONFIDENCE: these need a second look.
    """
    run = _ByKeys if program.key else _ByWorlds
    return run(program, sources, facts, sampling or Sampling(), partitioning).frames()


def world_frames(
    plan: PhysicalPlan, context: Context, sources: Mapping[str, DataFrame], partitioning: Partitioning
) -> Frames:
    """The events of a plan that need worlds."""
    program = WorldProgram.of(plan, context.around, context.measure)
    return run_worlds(program, sources, context.facts, context.sampling, partitioning)


@dataclass(frozen=True, slots=True)
class _ByKeys:
    program: WorldProgram
    sources: Mapping[str, DataFrame]
    facts: Mapping[str, pa.Table]
    sampling: Sampling
    partitioning: Partitioning

    def frames(self) -> Frames:
        n_partitions = self.partitioning.fixed or TASKS_PER_CORE * self.partitioning.for_frames(
            [*self.sources.values()]
        )
        frames, schemas = {}, []
        for stream in self.program.streams:
            rows, columns = self.sources[stream.schema.name], row_schema(stream)
            if stream.schema.doubt is None and not set(self.program.key) <= set(stream.schema.key):
                rows = first_rows(stream.schema, rows)
            if tells_roles(stream.schema):
                rows = with_roles(stream.schema, columns, rows, n_partitions)
                columns = pa.schema([*columns, *role_fields(stream.schema, columns)])
            frames[stream.schema.name] = rows
            schemas.append(columns)
        layout = Layout(tuple(frames), tuple(schemas))
        rows = layout.united(frames)
        rows = rows.repartition(n_partitions, *layout.keys(self.program.key))
        job = WorldsJob(self.program, layout, tuple(rows.columns), self.facts, self.sampling)
        schema = from_arrow_schema(estimates_schema(self.program))
        found = plainly_named(rows).mapInArrow(KeysTask(job), schema).persist(StorageLevel.MEMORY_AND_DISK)
        notes = WorldNotes(found)
        if _demands_exact(self.program):
            notes.require_exact()
        return Frames(_events(self.program, found), (found,), notes)


@dataclass(frozen=True, slots=True)
class _ByWorlds:
    program: WorldProgram
    sources: Mapping[str, DataFrame]
    facts: Mapping[str, pa.Table]
    sampling: Sampling
    partitioning: Partitioning

    def frames(self) -> Frames:
        rows, job = self._rows()
        sums = self._sums(rows, BlockTask(job, self.n_blocks)).persist(StorageLevel.MEMORY_AND_DISK)
        notes = WorldNotes(sums)
        if _demands_exact(self.program):
            notes.require_exact()
        if may_be_undecided(job) and (undecided := self._undecided(sums, job)) is not None:
            n_worlds, _ = self.sampling.plan(self.program.events)
            further = self._sums(rows, BlockTask(job, self.n_blocks, undecided))
            found = self._added(sums.unionByName(further), AddTask(job, tuple(sums.columns), with_further=True))
            notes = WorldNotes(sums, (self.sampling.budget - 1) * n_worlds)
        else:
            found = self._added(sums, AddTask(job, tuple(sums.columns)))
        found = found.persist(StorageLevel.MEMORY_AND_DISK)
        return Frames(_events(self.program, found), (sums, found), notes)

    @property
    def n_blocks(self) -> int:
        n_worlds, _ = self.sampling.plan(self.program.events)
        return min(n_worlds, self.partitioning.fixed or TASKS_PER_CORE * self.partitioning.cores)

    def _rows(self) -> tuple[DataFrame, WorldsJob]:
        """All rows, once for each block."""
        streams = self.program.streams
        layout = Layout(tuple(one.schema.name for one in streams), tuple(row_schema(one) for one in streams))
        rows = layout.united(self.sources)
        blocks = F.explode(F.sequence(F.lit(0), F.lit(self.n_blocks - 1)))
        rows = rows.withColumn(BLOCK, blocks).repartitionById(self.n_blocks, named(BLOCK))
        return rows, WorldsJob(self.program, layout, tuple(rows.columns), self.facts, self.sampling)

    def _sums(self, rows: DataFrame, task: BlockTask) -> DataFrame:
        return plainly_named(rows).mapInArrow(task, from_arrow_schema(sums_schema(self.program)))

    def _added(self, sums: DataFrame, task: AddTask) -> DataFrame:
        some = sums.where(named(EVENT) != ABOUT).repartition(self.partitioning.cores, named(EVENT), named(IDENTITY))
        return plainly_named(some).mapInArrow(task, from_arrow_schema(estimates_schema(self.program)))

    def _undecided(self, sums: DataFrame, job: WorldsJob) -> Undecided | None:
        first = self._added(sums, AddTask(job, tuple(sums.columns)))
        rows = first.where(named(METHOD) == UNDECIDED).select(*map(named, (EVENT, IDENTITY, TOKENS))).toArrow()
        if not len(rows):
            return None
        event, identity = rows[EVENT].to_numpy(), rows[IDENTITY].to_numpy().view(np.uint64)
        tokens = tokens_behind(rows[TOKENS].combine_chunks())
        return Undecided({int(number): identity[event == number] for number in np.unique(event)}, tokens)


def _demands_exact(program: WorldProgram) -> bool:
    return any(event.demand is Demand.EXACT for event in program.events)


def _events(program: WorldProgram, found: DataFrame) -> dict[str, DataFrame]:
    frames = {}
    for number, event in enumerate(program.events):
        lineage = named(lineage_name(program.id_types[event.name])).alias(LINEAGE)
        mine = found.where(named(EVENT) == number).select("*", lineage)
        frames[event.name] = most_probable(event, mine)
    return frames
