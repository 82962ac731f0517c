"""What Python workers do in worlds: whole keys at once, or a share of the worlds of everything, later added up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from inkling.evaluators.hashes import Hashes
from inkling.evaluators.sampling import Sampling
from inkling.io.checks.acceptable import acceptable
from inkling.logical.plan import Demand
from inkling.model.batch import Ints
from inkling.spark.worlds.results import (
    COUNTED,
    FURTHER,
    SAMPLED,
    estimate_rows,
    estimates_schema,
    note_rows,
    sums_of,
    sums_rows,
    sums_schema,
)
from inkling.spark.worlds.rows import Layout
from inkling.worlds.account import Account
from inkling.worlds.answer import estimates, first_look, names_of, settled
from inkling.worlds.combine import Summed
from inkling.worlds.demands import refusal
from inkling.worlds.estimate import Estimate, Names, exact_estimate, sampled_estimate
from inkling.worlds.program import WorldProgram
from inkling.worlds.run import WorldData, components_with

BLOCK = "@block"


@dataclass(frozen=True, slots=True)
class WorldsJob:
    """A doubtful program and all that workers must know to run it."""

    program: WorldProgram
    layout: Layout
    columns: tuple[str, ...]  # names of the columns that arrive; Spark only carries plain ones
    tables: Mapping[str, pa.Table]
    sampling: Sampling

    def gathered(self, batches: Iterator[pa.RecordBatch]) -> pa.Table | None:
        """All rows of a partition; None if there are none."""
        some = [batch for batch in batches if batch.num_rows]
        return pa.Table.from_batches(some).rename_columns(list(self.columns)) if some else None

    def data(self, rows: pa.Table) -> WorldData:
        """The rows that pass all checks, in worlds; what does not pass is told elsewhere."""
        given = self.layout.tables(rows)
        good = {
            stream.schema.name: acceptable(stream.schema, given[stream.schema.name])[0]
            for stream in self.program.streams
        }
        return WorldData.of(self.program, good, self.tables, self.sampling.exact_up_to)

    def names(self, data: WorldData) -> dict[str, Names]:
        """Per event, how the user calls what its results rest on."""
        kinds = {kind: names_of(data, kind) for kind in set(self.program.id_types.values())}
        return {event.name: kinds[self.program.id_types[event.name]] for event in self.program.events}


@dataclass(frozen=True, slots=True)
class KeysTask:
    """Estimates for partitions that hold whole keys: nothing outside has to do with them."""

    job: WorldsJob

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = self.job.gathered(batches)
        if rows is None:
            return
        program, schema = self.job.program, estimates_schema(self.job.program)
        data = self.job.data(rows)
        if (refused := refusal(data, self.job.sampling)) is not None:
            yield from note_rows(refused, schema)
            return
        found, account = estimates(data, self.job.sampling)
        names = self.job.names(data)
        for number, event in enumerate(program.events):
            for part in found[event.name]:
                ids = names[event.name].named(part.results.lineage)
                yield from estimate_rows(number, program, part, ids, schema)
        yield from note_rows(account, schema)


@dataclass(frozen=True, slots=True)
class Undecided:
    """Results that need further worlds: their identities per event, and the events that they rest on, None for any."""

    identities: Mapping[int, Hashes]
    tokens: Ints | None


@dataclass(frozen=True, slots=True)
class BlockTask:
    """Sums of one block: each has all rows, counts its share of the parts and samples its share of the worlds."""

    job: WorldsJob
    n_blocks: int
    undecided: Undecided | None = None  # the second time

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = self.job.gathered(batches)
        if rows is None:
            return
        block = rows[BLOCK][0].as_py()
        data = self.job.data(rows)
        if self.undecided is None:
            yield from self._first(data, block)
        else:
            yield from self._further(data, block, self.undecided)

    def _first(self, data: WorldData, block: int) -> Iterator[pa.RecordBatch]:
        schema, sampling = sums_schema(self.job.program), self.job.sampling
        refused = refusal(data, sampling)
        if refused is not None:
            if block == 0:
                yield from note_rows(refused, schema)
            return
        n_worlds, _ = sampling.plan(data.program.events)
        names = self.job.names(data)
        counted = _share(data, block, self.n_blocks).counted()
        sampled_only = {event.name for event in data.program.events if event.demand is Demand.SAMPLED}
        exact = {name: sums for name, sums in counted.items() if name not in sampled_only}
        yield from self._sums(exact, COUNTED, names, schema)
        first, n = self._worlds(block, n_worlds)
        drawn = first_look(data, sampling, first, n)
        yield from self._sums(drawn, SAMPLED, names, schema)
        if block == 0:
            yield from note_rows(Account.of(data, n_worlds if drawn else 0), schema)

    def _further(self, data: WorldData, block: int, undecided: Undecided) -> Iterator[pa.RecordBatch]:
        sampling = self.job.sampling
        n_worlds, _ = sampling.plan(data.program.events)
        first, n = self._worlds(block, (sampling.budget - 1) * n_worlds)
        drawn = data.sampled(sampling, n_worlds + first, n, components_with(data, undecided.tokens))
        wanted = {}
        for number, identities in undecided.identities.items():
            name = data.program.events[number].name
            if name in drawn:
                wanted[name] = drawn[name].take(np.flatnonzero(np.isin(drawn[name].identity, identities)))
        yield from self._sums(wanted, FURTHER, self.job.names(data), sums_schema(self.job.program))

    def _worlds(self, block: int, n_worlds: int) -> tuple[int, int]:
        """The first world of the block's share, and how many these are."""
        first, end = (n_worlds * number // self.n_blocks for number in (block, block + 1))
        return first, end - first

    def _sums(
        self, found: Mapping[str, Summed], look: int, names: Mapping[str, Names], schema: pa.Schema
    ) -> Iterator[pa.RecordBatch]:
        tokens = look == SAMPLED and may_be_undecided(self.job)
        for number, event in enumerate(self.job.program.events):
            if event.name in found:
                sums = found[event.name]
                ids = names[event.name].named(sums.lineage)
                yield from sums_rows(number, event, look, sums, ids, schema, tokens=tokens)


@dataclass(frozen=True, slots=True)
class AddTask:
    """Estimates from the sums of all blocks; partitions hold whole identities."""

    job: WorldsJob
    columns: tuple[str, ...]
    with_further: bool = False

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        some = [batch for batch in batches if batch.num_rows]
        if not some:
            return
        rows = pa.Table.from_batches(some).rename_columns(list(self.columns))
        schema = estimates_schema(self.job.program)
        for number in range(len(self.job.program.events)):
            for part in self._estimates(rows, number):
                yield from estimate_rows(number, self.job.program, part, part.results.lineage, schema)

    def _estimates(self, rows: pa.Table, number: int) -> list[Estimate]:
        program, sampling = self.job.program, self.job.sampling
        event = program.events[number]
        n_worlds, delta = sampling.plan(program.events)
        sums = {look: sums_of(rows, number, look, program) for look in (COUNTED, SAMPLED, FURTHER)}
        exact = exact_estimate(event, sums[COUNTED])
        sampled = sampled_estimate(event, sums[SAMPLED], n_worlds, delta)
        if not self.with_further:
            return [exact, sampled]
        return [exact, *settled(event, sampled, sums[FURTHER], sampling.budget * n_worlds, delta)]


def may_be_undecided(job: WorldsJob) -> bool:
    """Whether some results may be looked at twice."""
    return job.sampling.budget > 1 and any(event.confidence is not None for event in job.program.events)


def _share(data: WorldData, block: int, n_blocks: int) -> WorldData:
    """The same data, of which only every n-th part counts as countable."""
    mine = np.arange(data.parts.count) % n_blocks == block
    return replace(data, choices=replace(data.choices, n_worlds=np.where(mine, data.choices.n_worlds, np.inf)))
