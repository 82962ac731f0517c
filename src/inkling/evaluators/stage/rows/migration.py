"""Migration of kept stage rows to another version of the stage, when a program replaces a running one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.evaluators.stage.rows import format as r
from inkling.evaluators.stage.rows.batches import source_numbers
from inkling.logical.expr import Expr
from inkling.logical.vectorized import ARROW_TYPES
from inkling.model.batch import EventBatch
from inkling.physical.naming import type_of
from inkling.physical.plan import Stage


@dataclass(frozen=True, slots=True)
class RowMigration:
    """Maps inputs, conditions and columns of one version of a stage to another; what only new events need is null."""

    old: Stage
    new: Stage
    inputs: Mapping[int, int]  # old to new numbers, of those whose rows are kept
    bits: Mapping[int, int]  # new to old numbers of the same condition
    columns: Mapping[str, str]  # new to old names

    @classmethod
    def between(cls, old: Stage, new: Stage, kept: Iterable[str]) -> RowMigration:
        """The migration that keeps the rows of inputs that kept events read."""
        names = frozenset(kept)
        read = sorted({number for step in old.steps if step.event.name in names for number in step.inputs})
        places = {(one.source, one.atoms): number for number, one in enumerate(new.inputs)}
        inputs = {
            number: places[one.source, one.atoms]
            for number, one in enumerate(old.inputs)
            if number in read and (one.source, one.atoms) in places
        }
        numbers = {expr: number for number, expr in _conditions(old).items()}
        bits = {number: numbers[expr] for number, expr in _conditions(new).items() if expr in numbers}
        computed = {expr: name for name, expr in _computed(old).items()}
        of_new = _computed(new)
        columns = {
            name: before
            for name in r.columns_of(new)
            if (before := computed.get(of_new[name]) if name in of_new else name) in r.columns_of(old)
        }
        return cls(old, new, inputs, bits, columns)

    def is_kept(self, rows: pa.Table) -> NDArray[np.bool_]:
        """Whether each row belongs to an input that is kept."""
        return np.isin(source_numbers(rows), list(self.inputs))

    def rows(self, rows: pa.Table) -> pa.Table:
        """Stage rows of kept inputs in the new format."""
        schema = r.stage_schema(self.new)
        rows = rows.filter(pa.array(self.is_kept(rows)))
        table = np.full(len(self.old.inputs) + 1, -1, np.int16)
        table[list(self.inputs)] = list(self.inputs.values())
        source = table[source_numbers(rows)]
        old_masks = [rows[r.mask_name(word)].to_numpy().view(np.uint64) for word in range(r.n_masks(self.old))]
        words = self._words(np.column_stack(old_masks))
        return pa.table([self._column(field, rows, source, words) for field in schema], schema=schema)

    def events(self, batch: EventBatch) -> EventBatch:
        """Events in the runs of automata in the new format."""
        table = np.zeros(len(self.old.inputs) + 1, np.int16)
        table[list(self.inputs)] = list(self.inputs.values())
        columns = {
            name: batch.columns[self.columns[name]]
            if self.columns.get(name) in batch.columns
            else pa.nulls(len(batch), ARROW_TYPES[type_of(name)])
            for name in r.columns_of(self.new)
        }
        return replace(batch, source=table[batch.source], bits=self._words(batch.bits), columns=columns)

    def _words(self, words: NDArray[np.uint64]) -> NDArray[np.uint64]:
        packed = np.zeros((len(words), r.n_masks(self.new)), np.uint64)
        for number, before in self.bits.items():
            truth = (words[:, before >> 6] >> np.uint64(before & 63)) & np.uint64(1)
            packed[:, number >> 6] |= truth << np.uint64(number & 63)
        return packed

    def _column(
        self, field: pa.Field, rows: pa.Table, source: NDArray[np.int16], words: NDArray[np.uint64]
    ) -> pa.ChunkedArray | pa.Array:
        name = field.name
        if name == r.SOURCE:
            return pa.array(source)
        if name.startswith("@bits"):
            return pa.array(np.ascontiguousarray(words[:, int(name[5:])]).view(np.int64))
        before = name if name.startswith("@") else self.columns.get(name)
        if before in rows.column_names:
            return rows[before].cast(field.type)
        return rows[r.END] if name == r.START else pa.nulls(len(rows), field.type)


def _conditions(stage: Stage) -> dict[int, Expr]:
    return {bit.number: bit.expr for one in stage.inputs for bit in (*one.early, *one.late)}


def _computed(stage: Stage) -> dict[str, Expr]:
    return {computed.name: computed.expr for one in stage.inputs for computed in one.computed}
