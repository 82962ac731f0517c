"""Alternatives as numbers, many in one row: a shuffle costs as much for a number as for all rows of a KEY and time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from inkling.analysis.probable.bits import accepted, candidate, of_row
from inkling.analysis.probable.query import Stage
from inkling.evaluators.hashes import combined, hashes_of
from inkling.evaluators.probable.regular import Regular
from inkling.io.normalize import ID, START
from inkling.logical.evaluate import Surroundings
from inkling.logical.plan import StreamPlan
from inkling.model.uncertainty import ProbableValue
from inkling.model.value_worlds import value_columns
from inkling.probable.program import ProbableProgram
from inkling.spark.expressions import fits_column, to_column
from inkling.spark.probable.together import Together
from inkling.spark.stage_frame import RowReferences, named, plainly_named
from inkling.spark.worlds.rows import row_schema

ALTERNATIVES, IDS = "@alternatives", "@ids"

MOST_BITS = 62

_INDEPENDENT = np.dtype([("value", "<u8"), ("chance", "<f8"), ("word", "<i8")])
_CHAINED = np.dtype([("value", "<u8"), ("chance", "<f8"), ("word", "<i8"), ("given", "<u8")])


@dataclass(frozen=True, slots=True)
class Packed:
    """How rows of one stream become numbers: values as hashes, and what rows can do for queries as bits of a word."""

    stream: StreamPlan
    stages: tuple[tuple[int, int, Stage], ...]  # that read it: where the bits of their query begin, number, stage
    ends: int  # the bits of rows that a match can end with
    around: Surroundings

    @property
    def doubt(self) -> ProbableValue:
        assert isinstance(self.stream.schema.doubt, ProbableValue)
        return self.stream.schema.doubt

    @property
    def layout(self) -> np.dtype:
        """Of one alternative."""
        return _CHAINED if self.doubt.given else _INDEPENDENT

    @property
    def schema(self) -> pa.Schema:
        """Of what travels; a row has alternatives of one KEY and time, not always all of them."""
        every = row_schema(self.stream)
        keys = [every.field(name) for name in self.stream.schema.key]
        ids = pa.list_(every.field(ID).type)
        return pa.schema([*keys, (START, pa.int64()), (ALTERNATIVES, pa.binary()), (IDS, ids)])

    def holder(self, name: str) -> str:
        return name

    def frame(self, rows: DataFrame) -> DataFrame:
        """Rows of a stream as they travel."""
        keys = self.stream.schema.key
        numbers = [
            named(START),
            _state(self._values()).alias("value"),
            named(self.doubt.probability).cast("double").alias("chance"),
            self._word(rows).alias("word"),
            *([self._given().alias("given")] if self.doubt.given else []),
            named(ID),
        ]
        chosen = rows.select(*map(named, keys), *numbers)
        task = PackTask(len(keys), self.layout, self.ends, self.schema)
        return plainly_named(chosen).mapInArrow(task, from_arrow_schema(self.schema))

    def _values(self) -> list[str]:
        return value_columns(self.doubt, self.stream.schema)

    def _given(self) -> Column:
        nothing = [named(name).isNull() for name in self.doubt.given]
        return F.when(F.forall(F.array(*nothing), lambda one: one), F.lit(0).cast("bigint")).otherwise(
            _state(self.doubt.given)
        )

    def _word(self, rows: DataFrame) -> Column:
        references = RowReferences(frozenset(rows.columns))
        nothing = F.lit(0).cast("bigint")
        word = nothing
        for shift, number, stage in self.stages:

            def holds(conditions: Sequence[object], stage: Stage = stage) -> Column:
                truth = F.lit(True)
                for one in conditions:
                    asked = to_column(of_row(one, stage), references, self.around.measure)  # type: ignore[arg-type]
                    truth = truth & F.coalesce(asked.cast("boolean"), F.lit(False))
                return truth

            both, one = candidate(number) | accepted(number), candidate(number)
            bits = F.when(holds((*stage.filters, *stage.accepts)), F.lit(both << shift).cast("bigint"))
            if stage.accepts:
                bits = bits.when(holds(stage.filters), F.lit(one << shift).cast("bigint"))
            word = word.bitwiseOR(bits.otherwise(nothing))
        return word


def _state(names: Sequence[str]) -> Column:
    """A hash of what a row says, never 0; nulls are values."""
    if not names:
        return F.lit(1).cast("bigint")
    missing = [named(name).isNull() for name in names] if len(names) > 1 else []
    code = F.xxhash64(*map(named, names), *missing)
    return F.when(code == 0, F.lit(1).cast("bigint")).otherwise(code)


def packing_of(program: ProbableProgram, some: Together) -> Mapping[str, Packed] | None:
    """By stream; None where rows have to travel as they are."""
    shifts = word_shifts(program, some.events)
    if not all(isinstance(program.evaluators[name].engine, Regular) for name in some.events):
        return None
    if sum(2 * len(program.strategies[name].query.stages) for name in some.events) > MOST_BITS:
        return None
    found = {}
    for stream in program.part.streams:
        if stream.schema.name not in some.divided_by:
            continue
        stages, ends = [], 0
        for name in some.events:
            every = program.strategies[name].query.stages
            for number, stage in enumerate(every):
                if stage.source == stream.schema.name:
                    stages.append((shifts[name], number, stage))
                    ends |= accepted(number) << shifts[name] if number == len(every) - 1 else 0
        if not _fits(stream, [stage for _, _, stage in stages]):
            return None
        found[stream.schema.name] = Packed(stream, tuple(stages), ends, program.around)
    return found


def word_shifts(program: ProbableProgram, events: Sequence[str]) -> dict[str, int]:
    """Where the bits of each query begin."""
    shifts, n_bits = {}, 0
    for name in events:
        shifts[name] = n_bits
        n_bits += 2 * len(program.strategies[name].query.stages)
    return shifts


def _fits(stream: StreamPlan, stages: Sequence[Stage]) -> bool:
    doubt = stream.schema.doubt
    if not isinstance(doubt, ProbableValue) or stream.derived:
        return False
    if doubt.given and len(value_columns(doubt, stream.schema)) != len(doubt.given):
        return False
    kinds = [row_schema(stream).field(name).type for name in value_columns(doubt, stream.schema)]
    if any(pa.types.is_floating(kind) or pa.types.is_nested(kind) for kind in kinds):
        return False
    return all(fits_column(one) for stage in stages for one in (*stage.filters, *stage.accepts))


@dataclass(frozen=True, slots=True)
class PackTask:
    """Puts neighboring rows of one KEY and time together."""

    n_keys: int
    layout: np.dtype
    ends: int
    schema: pa.Schema

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            if batch.num_rows:
                yield self._packed(batch)

    def _packed(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        n, n_keys = batch.num_rows, self.n_keys
        keys, (time, *columns) = batch.columns[:n_keys], batch.columns[n_keys:]
        ids = columns.pop()
        name = combined(np.zeros(n, np.uint64), *map(hashes_of, keys), time.to_numpy().view(np.uint64))
        first = np.flatnonzero(np.append(True, name[1:] != name[:-1]))
        rows = np.empty(n, self.layout)
        for field, column in zip(self.layout.names or (), columns, strict=True):
            rows[field] = column.to_numpy(zero_copy_only=False).view(self.layout[field])
        if 2 * len(first) > n:
            order = np.argsort(name, kind="stable")
            rows, ids, time = rows[order], ids.take(pa.array(order)), time.take(pa.array(order))
            keys = [key.take(pa.array(order)) for key in keys]
            name = name[order]
            first = np.flatnonzero(np.append(True, name[1:] != name[:-1]))
        borders = np.append(first, n)
        data = pa.py_buffer(rows.view(np.uint8))
        offsets = pa.py_buffer((borders * self.layout.itemsize).astype(np.int32))
        blobs = pa.Array.from_buffers(pa.binary(), len(first), [None, offsets, data])
        is_end = (rows["word"] & self.ends) != 0
        n_ends = np.append(0, np.cumsum(is_end))[borders].astype(np.int32)
        lists = pa.ListArray.from_arrays(pa.array(n_ends), ids.filter(pa.array(is_end)))
        chosen = pa.array(first)
        taken = [key.take(chosen) for key in keys]
        return pa.RecordBatch.from_arrays([*taken, time.take(chosen), blobs, lists], schema=self.schema)
