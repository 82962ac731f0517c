"""Derived columns of a stream: each row may look at the previous row of its key."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.evaluators.stage import rows as r
from inkling.logical import expr as e
from inkling.logical.evaluate import Surroundings
from inkling.logical.plan import StreamPlan
from inkling.logical.vectorized import evaluate
from inkling.model.batch import Ints


def with_derived_columns(stream: StreamPlan, source: pa.Table, around: Surroundings) -> pa.Table:
    """The rows in canonical order per key, with the columns of `DERIVE` appended."""
    if not stream.derived:
        return source
    key = _key_codes(source, stream.schema.key)
    source = source.append_column("@key", pa.array(key))
    identity = [name for name in ("@key", r.END, r.PLACE, r.START, r.ID) if name in source.column_names]
    source = source.sort_by([(name, "ascending") for name in identity])
    if _repeats(source, identity).any():
        plain = [name for name in source.column_names if not pa.types.is_list(source.schema.field(name).type)]
        source = source.sort_by([(name, "ascending") for name in dict.fromkeys([*identity, *plain])])
        source = source.filter(pa.array(~_repeats(source, identity)))
    look = _LookBack(source, source["@key"].to_numpy())
    for column in stream.derived:
        look.source = look.source.append_column(column.name, evaluate(column.expr, look, len(source), around))
    return look.source.drop_columns(["@key"])


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
    """Resolves references of a derived column, with rows sorted by key and time."""

    def __init__(self, source: pa.Table, key: Ints) -> None:
        self.source = source
        self._first = np.ones(len(key), bool)
        self._first[1:] = key[1:] != key[:-1]

    def __call__(self, expr: e.Expr) -> pa.Array:
        match expr:
            case e.ColumnOf(column=column):
                return self._column(column)
            case e.PreviousColumn(column=column):
                previous = np.arange(len(self._first)) - 1
                return self._column(column).take(pa.array(previous, mask=self._first))
            case e.SinceChange(column=column):
                return self._since_change(self._column(column))
            case _:
                raise AssertionError(f"{type(expr).__name__} does not belong to a stream declaration")

    def _column(self, name: str) -> pa.Array:
        return self.source[name].combine_chunks()

    def _since_change(self, values: pa.Array) -> pa.Array:
        codes = pc.dictionary_encode(values, null_encoding="encode").indices.to_numpy(zero_copy_only=False)
        changed = self._first.copy()
        changed[1:] |= codes[1:] != codes[:-1]
        began = np.maximum.accumulate(np.where(changed, np.arange(len(changed)), 0))
        time = self.source[r.END].to_numpy()
        return pa.array(time - time[began])


def _key_codes(source: pa.Table, columns: tuple[str, ...]) -> Ints:
    code = np.zeros(len(source), np.int64)
    for column in columns:
        encoded = source[column].combine_chunks().dictionary_encode()
        values = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        dense = pa.array(code * (len(encoded.dictionary) + 1) + values).dictionary_encode()
        code = dense.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return code
