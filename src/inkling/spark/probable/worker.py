"""What a Python worker does with rows of whole KEYs: it answers queries about the values that it has."""

from __future__ import annotations

import gc
import hashlib
import pickle
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa

from inkling.evaluators.probable.evaluator import ProbableEvaluator
from inkling.evaluators.probable.face import Answering
from inkling.probable.program import ProbableProgram
from inkling.spark.probable.packed import Packed, word_shifts
from inkling.spark.probable.results import part_rows
from inkling.spark.probable.rows import Carried
from inkling.spark.probable.unpacked import unpacked
from inkling.spark.worlds.rows import Layout

_evaluators: dict[bytes, Mapping[str, Answering]] = {}


@dataclass(frozen=True, slots=True)
class QueryTask:
    """Everything a worker needs to answer queries that share a shuffle."""

    program: ProbableProgram
    events: tuple[str, ...]
    carried: tuple[Carried, ...]
    layout: Layout
    columns: tuple[str, ...]  # names of the columns that arrive; Spark only carries plain ones
    schema: pa.Schema  # of parts of results

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        gathered = [batch for batch in batches if batch.num_rows]
        if not gathered:
            return
        arrived = self.layout.tables(pa.Table.from_batches(gathered).rename_columns(list(self.columns)))
        gathered.clear()
        ready = {}
        for one in self.carried:
            name = one.stream.schema.name
            ready[name] = one.ready(arrived.pop(name), self.program.around)
        evaluators = compiled(self.program)
        for number, name in enumerate(self.events):
            evaluator = evaluators[name]
            _, found = evaluator.advance(evaluator.start(), ready)
            yield from part_rows(number, evaluator, found, self.program.id_types[name], self.schema)


@dataclass(frozen=True, slots=True)
class PackedTask:
    """The same for alternatives that come packed."""

    program: ProbableProgram
    events: tuple[str, ...]
    packed: Mapping[str, Packed]
    layout: Layout
    columns: tuple[str, ...]
    schema: pa.Schema

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        gathered = [batch for batch in batches if batch.num_rows]
        if not gathered:
            return
        records = self._records(pa.Table.from_batches(gathered))
        gathered.clear()
        all_of_them = unpacked(self.packed, records)
        del records
        evaluators, shifts = compiled(self.program), word_shifts(self.program, self.events)
        for number, name in enumerate(self.events):
            evaluator = evaluators[name]
            assert isinstance(evaluator, ProbableEvaluator)
            bits = (1 << 2 * len(evaluator.strategy.query.stages)) - 1
            words = (all_of_them.words >> shifts[name]) & bits
            _, found = evaluator.take_in(evaluator.start(), all_of_them.ground, words, all_of_them.tables)
            yield from part_rows(number, evaluator, found, self.program.id_types[name], self.schema)

    def _records(self, rows: pa.Table) -> Mapping[str, pa.Table]:
        if len(self.packed) > 1:
            return self.layout.tables(rows.rename_columns(list(self.columns)))
        # alternatives are most of what a worker holds, and are not copied where all are of one stream
        ((name, one),) = self.packed.items()
        return {name: rows.select(range(1, rows.num_columns)).rename_columns(one.schema.names)}


def compiled(program: ProbableProgram) -> Mapping[str, Answering]:
    """Compiled once per worker and program."""
    digest = hashlib.sha256(pickle.dumps(program)).digest()
    if digest not in _evaluators:
        _evaluators.clear()
        _evaluators[digest] = program.evaluators
        # Spark looks for garbage after every task, and need not look through what is loaded by now
        gc.freeze()
    return _evaluators[digest]
