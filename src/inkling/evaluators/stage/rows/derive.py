"""Derived columns of a stream (DERIVE): PREV and SINCE_CHANGE look at earlier rows of the same key.

On streams, the state holds the last row of each key (`derived_after`). On Spark, rows are shuffled before derived
columns are computed, so conditions on derived columns are evaluated after the shuffle (`with_late_columns`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from inkling.evaluators.stage.rows import format as r
from inkling.evaluators.stage.rows.batches import source_numbers
from inkling.evaluators.stage.rows.conditions import Row, truth_of
from inkling.kernels.columns.canonical import canonical_order
from inkling.logical import expr as e
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.plan import StreamPlan
from inkling.logical.vectorized import evaluate
from inkling.model.batch import Ints
from inkling.model.keys import codes_of, encoded
from inkling.physical.naming import physical_name
from inkling.physical.plan import Input, Stage

SINCE = "@since "
"""Prefix of a column in kept last rows: the time at which its value last changed."""


def with_derived_columns(stream: StreamPlan, source: pa.Table, context: ExpressionContext) -> pa.Table:
    """The rows in canonical order per key, with the derived columns."""
    return source if not stream.derived else _derived(stream, source, context).source.drop_columns(["@key"])


def all_derived(
    streams: Iterable[StreamPlan], rows: Mapping[str, pa.Table], context: ExpressionContext
) -> dict[str, pa.Table]:
    """The rows of several streams with their derived columns, by stream."""
    return {one.schema.name: with_derived_columns(one, rows[one.schema.name], context) for one in streams}


def derived_after(
    stream: StreamPlan, last: pa.Table | None, source: pa.Table, context: ExpressionContext
) -> tuple[pa.Table, pa.Table]:
    """The rows with derived columns, given the last row of each key before them; and the new last rows."""
    if last is None or not len(last):
        look = _derived(stream, source, context)
        return look.rows(), look.last_rows(stream)
    plain = last.select([name for name in last.column_names if name in source.column_names])
    both = pa.concat_tables([plain.cast(source.schema), source])
    number = np.concatenate([np.arange(len(plain)), np.full(len(source), -1)])
    look = _derived(stream, both.append_column(_LAST_ROW, pa.array(number)), context, last)
    return look.rows(), look.last_rows(stream)


_LAST_ROW = "@last_row"


def _derived(
    stream: StreamPlan, source: pa.Table, context: ExpressionContext, last: pa.Table | None = None
) -> _LookBack:
    key, _ = codes_of((source[name] for name in stream.schema.key), len(source))
    source = source.append_column("@key", pa.array(key))
    identity = [name for name in ("@key", r.END, r.PLACE, r.START, r.OWN_ID, r.ID) if name in source.column_names]
    order = _plain_order(source, key)
    source = source.sort_by([(name, "ascending") for name in identity]) if order is None else source.take(order)
    if order is None and _repeats(source, identity).any():
        plain = [name for name in source.column_names if not pa.types.is_list(source.schema.field(name).type)]
        source = source.sort_by([(name, "ascending") for name in dict.fromkeys([*identity, *plain])])
        source = source.filter(pa.array(~_repeats(source, identity)))
    look = _LookBack(source, source["@key"].to_numpy(), last)
    if stream.reset_when is not None:
        look.forget_before(truth_of(stream.reset_when, look, len(source), context))
    for column in stream.derived:
        look.append(column.name, evaluate(column.expr, look, len(source), context))
    return look


def _plain_order(source: pa.Table, key: Ints) -> pa.Array | None:
    """The canonical order if integer times and places distinguish all rows of each key; None otherwise."""
    if r.PLACE not in source.column_names or source.schema.field(r.PLACE).type != pa.int64() or not len(source):
        return None
    names = [r.END, r.PLACE, r.START if r.START in source.column_names else r.END]
    if any(source[name].null_count or source.schema.field(name).type != pa.int64() for name in names):
        return None
    end, place, start = (source[name].combine_chunks().to_numpy() for name in names)
    order, tied = canonical_order(key, int(key.max()) + 1, end, place, start, np.zeros(len(key), np.int64))
    return None if tied.any() else pa.array(order)


def _repeats(source: pa.Table, identity: list[str]) -> np.ndarray:
    """Which rows repeat the key, time and id of the row before."""
    again = np.ones(len(source), bool)
    again[:1] = False
    for name in identity:
        column = source[name].combine_chunks()
        equal = pc.equal(column[1:], column[:-1]) if len(source) else pa.array([], pa.bool_())
        both_null = pc.and_(pc.is_null(column[1:]), pc.is_null(column[:-1])) if len(source) else equal
        again[1:] &= pc.or_(pc.fill_null(equal, False), both_null).to_numpy(zero_copy_only=False)
    return again


class _LookBack:
    """Resolves references of derived columns, with rows sorted by key and time.

    The last rows of earlier batches have their derived values already.
    """

    def __init__(self, source: pa.Table, key: Ints, last: pa.Table | None) -> None:
        self._last = last
        self._number = np.full(len(key), -1)
        if _LAST_ROW in source.column_names:
            self._number = source[_LAST_ROW].to_numpy()
            source = source.drop_columns([_LAST_ROW])
        self.source = source
        self._new_key = np.ones(len(key), bool)
        self._new_key[1:] = key[1:] != key[:-1]
        self._first = self._new_key

    def forget_before(self, resets: NDArray[np.bool_]) -> None:
        """The rows after these rows do not look back beyond them (RESET WHEN)."""
        self._first = self._new_key.copy()
        self._first[1:] |= resets[:-1]

    def append(self, name: str, values: pa.Array) -> None:
        if self._last is not None:
            old = self._number >= 0
            known = self._last[name].combine_chunks().cast(values.type)
            values = pc.replace_with_mask(values, pa.array(old), known.take(pa.array(self._number[old])))
        self.source = self.source.append_column(name, values)

    def rows(self) -> pa.Table:
        rows = self.source.drop_columns(["@key"])
        return rows if self._last is None else rows.filter(pa.array(self._number < 0))

    def last_rows(self, stream: StreamPlan) -> pa.Table:
        """The last row of each key, with the columns that later rows read."""
        rows = self.source
        for column in _changing(stream):
            began = pa.array(self.source[r.END].to_numpy() - self._since_change(column).to_numpy())
            rows = rows.append_column(SINCE + column, began)
        last = np.append(self._new_key[1:], True) if len(self._new_key) else self._new_key
        return rows.drop_columns(["@key"]).filter(pa.array(last))

    def __call__(self, expr: e.Expr) -> pa.Array:
        match expr:
            case e.ColumnOf(column=column):
                return self._column(column)
            case e.PreviousColumn(column=column):
                previous = np.arange(len(self._first)) - 1
                return self._column(column).take(pa.array(previous, mask=self._first))
            case e.SinceChange(column=column):
                return self._since_change(column)
            case _:
                raise AssertionError(f"{type(expr).__name__} does not belong to a stream declaration")

    def _column(self, name: str) -> pa.Array:
        return self.source[name].combine_chunks()

    def _since_change(self, name: str) -> pa.Array:
        values = self._column(name)
        codes, _ = encoded(values)
        changed = self._first.copy()
        changed[1:] |= codes[1:] != codes[:-1]
        began = np.maximum.accumulate(np.where(changed, np.arange(len(changed)), 0))
        time = self.source[r.END].to_numpy()
        since = time
        if self._last is not None:
            since = time.copy()
            old = self._number >= 0
            since[old] = self._last[SINCE + name].to_numpy()[self._number[old]]
        return pa.array(time - since[began])


def _changing(stream: StreamPlan) -> list[str]:
    """Columns of SINCE_CHANGE."""
    parts = (part for column in stream.derived for part in e.walk(column.expr))
    return sorted({part.column for part in parts if isinstance(part, e.SinceChange)})


def stored_columns(given: Input, stream: StreamPlan) -> dict[str, str]:
    """By physical name, the logical name of each stored column that derived columns and late conditions read."""
    wanted = {column.rsplit("|", 1)[0] for column in given.columns}
    for expr in given.left_to_worker:
        wanted |= {x.column.rsplit("|", 1)[0] for x in e.walk(expr) if isinstance(x, e.ColumnOf)}
    derived = {column.name: column.expr for column in stream.derived}
    for expr in derived.values():
        wanted |= {x.column for x in e.walk(expr) if isinstance(x, e.ColumnOf | e.PreviousColumn | e.SinceChange)}
    if stream.reset_when is not None:
        wanted |= {x.column for x in e.walk(stream.reset_when) if isinstance(x, e.ColumnOf)}
    wanted |= set(stream.schema.key)
    return {
        physical_name(column.name, column.type): column.name
        for column in stream.schema.columns
        if column.name in wanted and column.name not in derived
    }


def with_late_columns(
    stage: Stage, rows: pa.Table, streams: Mapping[int, StreamPlan], context: ExpressionContext
) -> pa.Table:
    """Rows of the schema of a stage; `streams` are the inputs whose derived columns are still missing."""
    schema = r.stage_schema(stage)
    if not streams and not any(one.left_to_worker for one in stage.inputs):
        return rows.select(schema.names).cast(schema)
    source = source_numbers(rows)
    parts = []
    for number, given in enumerate(stage.inputs):
        mine = rows if len(stage.inputs) == 1 else rows.filter(pa.array(source == number))
        if not len(mine):  # columns of an input that no step of this task reads were not shuffled
            continue
        if number in streams:
            names = stored_columns(given, streams[number])
            for physical, logical in names.items():
                mine = mine.append_column(logical, mine[physical])
            mine = _in_place(with_derived_columns(streams[number], mine, context), streams[number])
        if number in streams or given.left_to_worker:
            mine = _finished(mine, given, schema, context)
        parts.append(mine.select(schema.names).cast(schema))
    return pa.concat_tables(parts) if parts else schema.empty_table()


def _in_place(rows: pa.Table, stream: StreamPlan) -> pa.Table:
    """The rows with derived columns also under their physical names, in place of nulls."""
    kinds = {column.name: column.type for column in stream.schema.columns}
    for derived in stream.derived:
        physical = physical_name(derived.name, kinds[derived.name])
        if physical in rows.column_names:
            place = rows.column_names.index(physical)
            rows = rows.set_column(place, physical, rows[derived.name].cast(rows.schema.field(physical).type))
    return rows


def _finished(rows: pa.Table, given: Input, schema: pa.Schema, context: ExpressionContext) -> pa.Table:
    resolve = Row(rows)
    words: dict[str, np.ndarray] = {}
    for bit in given.late:
        name = r.mask_name(bit.number >> 6)
        if name not in words:
            words[name] = rows[name].to_numpy().view(np.uint64).copy()
        truth = truth_of(bit.expr, resolve, len(rows), context)
        words[name] |= truth.astype(np.uint64) << np.uint64(bit.number & 63)
    computed = {one.name: evaluate(one.expr, resolve, len(rows), context) for one in given.computed}
    columns = []
    for field in schema:
        if field.name in computed:
            columns.append(computed[field.name].cast(field.type))
        elif field.name in words:
            columns.append(pa.array(words[field.name].view(np.int64)))
        elif field.name in given.columns and "|" in field.name and field.name.rsplit("|", 1)[0] in rows.column_names:
            columns.append(rows[field.name.rsplit("|", 1)[0]].cast(field.type).combine_chunks())
        else:
            columns.append(rows[field.name].combine_chunks())
    return pa.table(columns, schema=schema)
