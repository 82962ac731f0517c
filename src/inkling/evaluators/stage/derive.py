"""Derived columns of a stream: each row may look at the previous row of its key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from inkling.evaluators.stage import rows as r
from inkling.evaluators.truth import truth_of
from inkling.kernels.canonical import canonical_order
from inkling.logical import expr as e
from inkling.logical.evaluate import Surroundings
from inkling.logical.plan import StreamPlan
from inkling.logical.vectorized import evaluate
from inkling.model.batch import Ints
from inkling.model.keys import codes_of, encoded

SINCE = "@since "
"""Before a column's name: when its value last changed, in rows that are remembered."""


def with_derived_columns(stream: StreamPlan, source: pa.Table, around: Surroundings) -> pa.Table:
    """The rows in canonical order per key, with the columns of `DERIVE` appended."""
    return source if not stream.derived else _derived(stream, source, around).source.drop_columns(["@key"])


def all_derived(
    streams: Iterable[StreamPlan], rows: Mapping[str, pa.Table], around: Surroundings
) -> dict[str, pa.Table]:
    """The same of several streams, by their names."""
    return {one.schema.name: with_derived_columns(one, rows[one.schema.name], around) for one in streams}


def derived_after(
    stream: StreamPlan, remembered: pa.Table | None, source: pa.Table, around: Surroundings
) -> tuple[pa.Table, pa.Table]:
    """The rows with the columns of `DERIVE`, given the last row of each key before them, and the new last rows."""
    if remembered is None or not len(remembered):
        look = _derived(stream, source, around)
        return look.rows(), look.last_rows(stream)
    plain = remembered.select([name for name in remembered.column_names if name in source.column_names])
    both = pa.concat_tables([plain.cast(source.schema), source])
    number = np.concatenate([np.arange(len(plain)), np.full(len(source), -1)])
    look = _derived(stream, both.append_column(_REMEMBERED, pa.array(number)), around, remembered)
    return look.rows(), look.last_rows(stream)


_REMEMBERED = "@remembered"


def _derived(
    stream: StreamPlan, source: pa.Table, around: Surroundings, remembered: pa.Table | None = None
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
    look = _LookBack(source, source["@key"].to_numpy(), remembered)
    if stream.reset_when is not None:
        look.forget_before(truth_of(stream.reset_when, look, len(source), around))
    for column in stream.derived:
        look.append(column.name, evaluate(column.expr, look, len(source), around))
    return look


def _plain_order(source: pa.Table, key: Ints) -> pa.Array | None:
    """The canonical order where times and places are numbers that tell all rows of a key apart."""
    if r.PLACE not in source.column_names or source.schema.field(r.PLACE).type != pa.int64() or not len(source):
        return None
    names = [r.END, r.PLACE, r.START if r.START in source.column_names else r.END]
    if any(source[name].null_count or source.schema.field(name).type != pa.int64() for name in names):
        return None
    end, place, start = (source[name].combine_chunks().to_numpy() for name in names)
    order, tied = canonical_order(key, int(key.max()) + 1, end, place, start, np.zeros(len(key), np.int64))
    return None if tied.any() else pa.array(order)


def _repeats(source: pa.Table, identity: list[str]) -> np.ndarray:
    """Rows that have the key, time and id of the row before them: the same event once more."""
    again = np.ones(len(source), bool)
    again[:1] = False
    for name in identity:
        column = source[name].combine_chunks()
        equal = pc.equal(column[1:], column[:-1]) if len(source) else pa.array([], pa.bool_())
        both_null = pc.and_(pc.is_null(column[1:]), pc.is_null(column[:-1])) if len(source) else equal
        again[1:] &= pc.or_(pc.fill_null(equal, False), both_null).to_numpy(zero_copy_only=False)
    return again


class _LookBack:
    """Resolves references of a derived column, with rows sorted by key and time.

    Rows that are remembered from before have their derived values already.
    """

    def __init__(self, source: pa.Table, key: Ints, remembered: pa.Table | None) -> None:
        self._remembered = remembered
        self._number = np.full(len(key), -1)
        if _REMEMBERED in source.column_names:
            self._number = source[_REMEMBERED].to_numpy()
            source = source.drop_columns([_REMEMBERED])
        self.source = source
        self._new_key = np.ones(len(key), bool)
        self._new_key[1:] = key[1:] != key[:-1]
        self._first = self._new_key

    def forget_before(self, resets: NDArray[np.bool_]) -> None:
        """Have the row after each of some rows look back no further than its own."""
        self._first = self._new_key.copy()
        self._first[1:] |= resets[:-1]

    def append(self, name: str, values: pa.Array) -> None:
        if self._remembered is not None:
            old = self._number >= 0
            known = self._remembered[name].combine_chunks().cast(values.type)
            values = pc.replace_with_mask(values, pa.array(old), known.take(pa.array(self._number[old])))
        self.source = self.source.append_column(name, values)

    def rows(self) -> pa.Table:
        """The rows that are not remembered."""
        rows = self.source.drop_columns(["@key"])
        return rows if self._remembered is None else rows.filter(pa.array(self._number < 0))

    def last_rows(self, stream: StreamPlan) -> pa.Table:
        """The last row of each key, with what later rows may ask of it."""
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
        if self._remembered is not None:
            since = time.copy()
            old = self._number >= 0
            since[old] = self._remembered[SINCE + name].to_numpy()[self._number[old]]
        return pa.array(time - since[began])


def _changing(stream: StreamPlan) -> list[str]:
    """Columns of which a derived column asks how long they have not changed."""
    parts = (part for column in stream.derived for part in e.walk(column.expr))
    return sorted({part.column for part in parts if isinstance(part, e.SinceChange)})
