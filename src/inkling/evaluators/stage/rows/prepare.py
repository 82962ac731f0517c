"""From rows of a source to stage rows: joins with tables, conditions as bits, filters, physical column names."""

from collections.abc import Callable, Hashable, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from inkling.evaluators.stage.rows import format as r
from inkling.evaluators.stage.rows.conditions import RowColumns, prepared
from inkling.evaluators.stage.rows.facts import FactJoin
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.vectorized import ARROW_TYPES, evaluate
from inkling.model.batch import in_one_array
from inkling.physical.naming import type_of
from inkling.physical.plan import Stage


def stage_rows(
    stage: Stage,
    number: int,
    source: pa.Table,
    tables: Mapping[str, pa.Table],
    context: ExpressionContext,
    *,
    keep_column: str | None = None,
) -> pa.Table:
    """Stage rows of one input; see `InputReader`."""
    return InputReader(stage, number, tables, context)(source, keep_column=keep_column)


class KeptRows:
    """Selected rows of a table; a column is copied when it is read, and once under all its names."""

    def __init__(self, source: pa.Table, kept: NDArray[np.bool_]) -> None:
        self._source, self._kept = source, pa.array(kept)
        self._n_rows = int(np.count_nonzero(kept))
        self._found: dict[Hashable, pa.ChunkedArray] = {}

    def __getitem__(self, name: str) -> pa.ChunkedArray:
        column = self._source[name]
        whole = in_one_array(column) if column.num_chunks == 1 else None
        place = (
            name
            if whole is None
            else (whole.type, whole.offset, *(b.address if b is not None else 0 for b in whole.buffers()))
        )
        if place not in self._found:
            self._found[place] = column.filter(self._kept)
        return self._found[place]

    def __len__(self) -> int:
        return self._n_rows

    @property
    def column_names(self) -> list[str]:
        names: list[str] = self._source.column_names
        return names


Getter = Callable[[pa.Table | KeptRows, RowColumns, list[np.ndarray]], pa.Array | pa.ChunkedArray]


class InputReader:
    """Makes stage rows from the rows of a source; compiled once, used for any number of batches."""

    def __init__(self, stage: Stage, number: int, tables: Mapping[str, pa.Table], context: ExpressionContext) -> None:
        given = stage.inputs[number]
        self._given, self._number, self._context = given, number, context
        self._schema = r.stage_schema(stage)
        self._never_null = given.key if stage.drops_null_keys else ()
        self._keep = None if given.keep is None else prepared(given.keep, context)
        self._n_masks = r.n_masks(stage)
        self._mixed_places = stage.mixed_places and not given.is_derived
        self._bits = [
            (bit.number >> 6, np.uint64(bit.number & 63), prepared(bit.expr, context))
            for bit in (*given.early, *given.late)
        ]
        self._facts = [FactJoin(atom, tables[atom.table], given.near) for atom in given.atoms]
        self._computed = {one.name: one.expr for one in given.computed}
        self._getters = [self._getter(field) for field in self._schema]

    def __call__(self, source: pa.Table, *, keep_column: str | None = None) -> pa.Table:
        """Stage rows of source rows, which have logical column names and the `@` columns of `format`.

        Rows with null in PARTITION BY are dropped. `keep_column` is appended unchanged.
        """
        for column in self._never_null:
            if source[column].null_count:
                source = source.filter(pc.is_valid(source[column]))
        for facts in self._facts:
            source = facts.joined(source, self._context)
        columns, rows = RowColumns(source), source
        if self._keep is not None:
            kept = self._keep(columns)
            if not kept.all():
                rows = KeptRows(source, kept)
                columns = RowColumns(rows)
        words = self._packed(columns)
        values = [getter(rows, columns, words) for getter in self._getters]
        table = pa.Table.from_arrays(values, schema=self._schema)
        return table if keep_column is None else table.append_column(keep_column, rows[keep_column])

    def named(self, source: pa.Table) -> pa.Table:
        """Stage rows that identify events for withdrawal: without conditions and table facts."""
        for column in self._never_null:
            if source[column].null_count:
                source = source.filter(pc.is_valid(source[column]))
        columns = RowColumns(source)
        nothing = [np.zeros(columns.n_rows, np.uint64)] * self._n_masks
        values = [
            getter(source, columns, nothing)
            if self._is_own(field.name, source)
            else pa.nulls(columns.n_rows, field.type)
            for field, getter in zip(self._schema, self._getters, strict=True)
        ]
        return pa.Table.from_arrays(values, schema=self._schema)

    def _is_own(self, name: str, source: pa.Table) -> bool:
        """Whether a column of the stage comes from the source row itself."""
        return name.startswith("@") or (name not in self._computed and name.rsplit("|", 1)[0] in source.column_names)

    def _packed(self, columns: RowColumns) -> list[np.ndarray]:
        words = [np.zeros(columns.n_rows, np.uint64) for _ in range(self._n_masks)]
        for word, place, condition in self._bits:
            words[word] |= condition(columns).astype(np.uint64) << place
        return words

    def _getter(self, field: pa.Field) -> Getter:
        """The function that computes one column of stage rows."""
        name, kind, given = field.name, field.type, self._given
        if name in self._computed:
            computed = self._computed[name]
            return lambda rows, columns, words: evaluate(computed, columns.resolve, columns.n_rows, self._context).cast(
                kind
            )
        if name == r.SOURCE:
            return lambda rows, columns, words: pa.array(np.full(columns.n_rows, self._number, np.int16))
        if name.startswith("@key"):
            key = given.key[int(name[4:])]
            return lambda rows, columns, words: _as(kind, rows[key])
        if name.startswith("@bits"):
            word = int(name[5:])
            return lambda rows, columns, words: pa.array(words[word].view(np.int64))
        stored = ARROW_TYPES[type_of(name)] if name in given.columns and not name.startswith("@") else None
        plain = name.rsplit("|", 1)[0]

        if name == r.PLACE and self._mixed_places:
            return lambda rows, columns, words: (
                mixed_places(rows[name]) if columns.has(name) else pa.nulls(columns.n_rows, kind)
            )

        def found(
            rows: pa.Table | KeptRows, columns: RowColumns, words: list[np.ndarray]
        ) -> pa.Array | pa.ChunkedArray:
            if columns.has(name):
                return _as(kind, rows[name])
            if name == r.START:
                return rows[r.END]
            return pa.nulls(columns.n_rows, kind) if stored is None else _as(stored, rows[plain])

        return found


def mixed_places(places: pa.ChunkedArray) -> pa.ChunkedArray:
    """Places of both kinds as texts that compare like them, all numbers before all texts."""
    if pa.types.is_string(places.type):
        return pc.binary_join_element_wise("1", places, "")
    numbers = pc.fill_null(places, 0).combine_chunks().to_numpy().view(np.uint64) ^ np.uint64(1 << 63)
    padded = pc.utf8_lpad(pa.array(numbers).cast(pa.string()), 20, "0")
    written = pc.binary_join_element_wise("0", padded, "")
    return pa.chunked_array([pc.if_else(places.is_valid().combine_chunks(), written, pa.scalar(None, pa.string()))])


def _as(kind: pa.DataType, column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column if column.type == kind else column.cast(kind)
