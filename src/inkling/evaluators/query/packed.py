"""Alternatives as numbers, many in one row: a shuffle costs as much for a number as for all rows of a KEY and time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from inkling.analysis.query.bits import accepted, candidate, of_row
from inkling.analysis.query.query import Subgoal
from inkling.evaluators.division import Packing
from inkling.evaluators.hashes import combined, hashes_of
from inkling.evaluators.query.automaton.regular import Regular
from inkling.evaluators.query.program import QueryEventEvaluator, QueryProgram
from inkling.io.normalize import ID, START, row_schema
from inkling.logical.expr import Expr, looks_up
from inkling.logical.plan import StreamPlan
from inkling.model.schema import value_columns
from inkling.model.uncertainty import ProbableValue

ALTERNATIVES, IDS = "@alternatives", "@ids"

MOST_BITS = 62

_INDEPENDENT = np.dtype([("value", "<u8"), ("chance", "<f8"), ("predicates", "<i8")])
_CHAINED = np.dtype([("value", "<u8"), ("chance", "<f8"), ("predicates", "<i8"), ("given", "<u8")])


@dataclass(frozen=True, slots=True)
class Packed:
    """How rows of one stream become numbers: values as hashes, conditions as bits of a predicate mask."""

    stream: StreamPlan
    stages: tuple[tuple[int, int, Subgoal], ...]  # that read it: where the bits of their query begin, number, stage
    ends: int  # the bits of rows that a match can end with

    @property
    def uncertainty(self) -> ProbableValue:
        assert isinstance(self.stream.schema.uncertainty, ProbableValue)
        return self.stream.schema.uncertainty

    @property
    def layout(self) -> np.dtype:
        """Of one alternative."""
        return _CHAINED if self.uncertainty.given else _INDEPENDENT

    @property
    def schema(self) -> pa.Schema:
        """Of what travels; a row has alternatives of one KEY and time, not always all of them."""
        every = row_schema(self.stream.schema)
        keys = [every.field(name) for name in self.stream.schema.key]
        ids = pa.list_(every.field(ID).type)
        return pa.schema([*keys, (START, pa.int64()), (ALTERNATIVES, pa.binary()), (IDS, ids)])

    @property
    def packing(self) -> Packing:
        return Packing(
            self.schema,
            value_columns(self.uncertainty, self.stream.schema),
            self.uncertainty.probability,
            [list(self._cases(shift, number, stage)) for shift, number, stage in self.stages],
            self.uncertainty.given,
            self.packed,
        )

    def _cases(self, shift: int, number: int, stage: Subgoal) -> Iterator[tuple[list[Expr], int]]:
        filters, accepts = ([of_row(one, stage) for one in some] for some in (stage.filters, stage.accepts))
        yield [*filters, *accepts], (candidate(number) | accepted(number)) << shift
        if accepts:
            yield filters, candidate(number) << shift

    def packed(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Neighboring rows of one KEY and time put together."""
        n, n_keys, layout = batch.num_rows, len(self.stream.schema.key), self.layout
        keys, (time, *columns) = batch.columns[:n_keys], batch.columns[n_keys:]
        ids = columns.pop()
        name = combined(np.zeros(n, np.uint64), *map(hashes_of, keys), time.to_numpy().view(np.uint64))
        first = np.flatnonzero(np.append(True, name[1:] != name[:-1]))
        rows = np.empty(n, layout)
        for field, column in zip(layout.names or (), columns, strict=True):
            rows[field] = column.to_numpy(zero_copy_only=False).view(layout[field])
        if 2 * len(first) > n:
            order = np.argsort(name, kind="stable")
            rows, ids, time = rows[order], ids.take(pa.array(order)), time.take(pa.array(order))
            keys = [key.take(pa.array(order)) for key in keys]
            name = name[order]
            first = np.flatnonzero(np.append(True, name[1:] != name[:-1]))
        borders = np.append(first, n)
        data = pa.py_buffer(rows.view(np.uint8))
        offsets = pa.py_buffer((borders * layout.itemsize).astype(np.int32))
        blobs = pa.Array.from_buffers(pa.binary(), len(first), [None, offsets, data])
        is_end = (rows["predicates"] & self.ends) != 0
        n_ends = np.append(0, np.cumsum(is_end))[borders].astype(np.int32)
        lists = pa.ListArray.from_arrays(pa.array(n_ends), ids.filter(pa.array(is_end)))
        chosen = pa.array(first)
        taken = [key.take(chosen) for key in keys]
        return pa.RecordBatch.from_arrays([*taken, time.take(chosen), blobs, lists], schema=self.schema)


def packing_of(program: QueryProgram, evaluators: Mapping[str, QueryEventEvaluator]) -> Mapping[str, Packed] | None:
    """By stream; None where rows have to travel as they are."""
    shifts = predicate_shifts(program)
    if not all(isinstance(one.engine, Regular) for one in evaluators.values()):
        return None
    if sum(2 * len(one.query.stages) for one in program.strategies.values()) > MOST_BITS:
        return None
    found = {}
    for stream in program.part.streams:
        stages, ends = [], 0
        for name, strategy in program.strategies.items():
            every = strategy.query.stages
            for number, stage in enumerate(every):
                if stage.source == stream.schema.name:
                    stages.append((shifts[name], number, stage))
                    ends |= accepted(number) << shifts[name] if number == len(every) - 1 else 0
        if not _fits(stream, [stage for _, _, stage in stages]):
            return None
        found[stream.schema.name] = Packed(stream, tuple(stages), ends)
    return found


def predicate_shifts(program: QueryProgram) -> dict[str, int]:
    """Where the bits of each query begin."""
    shifts, n_bits = {}, 0
    for name, strategy in program.strategies.items():
        shifts[name] = n_bits
        n_bits += 2 * len(strategy.query.stages)
    return shifts


def _fits(stream: StreamPlan, stages: Sequence[Subgoal]) -> bool:
    uncertainty = stream.schema.uncertainty
    if not isinstance(uncertainty, ProbableValue) or stream.derived:
        return False
    if uncertainty.given and len(value_columns(uncertainty, stream.schema)) != len(uncertainty.given):
        return False
    kinds = [row_schema(stream.schema).field(name).type for name in value_columns(uncertainty, stream.schema)]
    if any(pa.types.is_floating(kind) or pa.types.is_nested(kind) for kind in kinds):
        return False
    return not any(looks_up(one) for stage in stages for one in (*stage.filters, *stage.accepts))
