"""The events an evaluation can look at, as arrays that kernels understand."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from inkling.model.batch import EventBatch, Ints
from inkling.model.types import Type

Doubles = NDArray[np.float64]
Mask = NDArray[np.bool_]

START, END, ID = "@start", "@end", "@id"
"""Pseudo columns: the row's own interval and id."""


@dataclass(slots=True)
class Store:
    """A batch plus the encodings of the columns that conditions across events compare.

    Strings share one sorted dictionary, so their codes compare like the strings. `exact` holds whole numbers for
    equality, `numbers` doubles (NaN for null) for the bytecode.
    """

    batch: EventBatch
    n_keys: int
    columns: tuple[str, ...]
    numbers: Doubles
    exact: dict[str, tuple[Ints, Mask]]
    words: pa.Array  # the sorted dictionary
    _candidates: dict[object, object] = field(default_factory=dict)

    def number_of(self, column: str) -> int:
        return self.columns.index(column)

    def code_of(self, word: str) -> float:
        """Code of a string constant: a half step beside its neighbors when no event has it."""
        position = int(np.searchsorted(self.words.to_numpy(zero_copy_only=False), word)) if len(self.words) else 0
        known = position < len(self.words) and self.words[position].as_py() == word
        return float(position) if known else position - 0.5


def build_store(batch: EventBatch, needed: Iterable[tuple[str, Type]], n_keys: int) -> Store:
    """Encode the needed columns of a batch."""
    wanted = sorted(set(needed), key=lambda pair: pair[0])
    arrays = {name: _array(batch, name) for name, _ in wanted}
    strings = [arrays[name] for name, kind in wanted if kind is Type.STRING]
    words = _sorted_words(strings)
    numbers = np.full((len(wanted), len(batch)), np.nan)
    exact: dict[str, tuple[Ints, Mask]] = {}
    for position, (name, kind) in enumerate(wanted):
        array = arrays[name]
        valid = np.asarray(pc.is_valid(array).to_numpy(zero_copy_only=False), dtype=bool)
        if kind is Type.STRING:
            codes = _codes(array, words)
            exact[name] = (codes, valid)
            numbers[position] = np.where(valid, codes, np.nan)
        elif kind is Type.DOUBLE:
            doubles = pc.fill_null(array.cast(pa.float64()), float("nan")).to_numpy(zero_copy_only=False)
            numbers[position] = doubles
            exact[name] = ((doubles + 0.0).view(np.int64), valid)
        else:
            whole = pc.fill_null(array.cast(pa.int64()), 0).to_numpy(zero_copy_only=False)
            exact[name] = (np.ascontiguousarray(whole, dtype=np.int64), valid)
            numbers[position] = np.where(valid, whole.astype(np.float64), np.nan)
    return Store(batch, n_keys, tuple(name for name, _ in wanted), numbers, exact, words)


def _array(batch: EventBatch, name: str) -> pa.Array:
    match name:
        case "@start":
            return pa.array(batch.start)
        case "@end":
            return pa.array(batch.end)
        case "@id":
            return batch.ids.take(pa.array(batch.id_offsets[:-1]))
        case _:
            return batch.columns[name]


def _sorted_words(strings: list[pa.Array]) -> pa.Array:
    if not strings:
        return pa.array([], pa.string())
    together = pa.chunked_array([array.cast(pa.string()) for array in strings])
    unique = pc.drop_null(pc.unique(together))
    return unique.take(pc.array_sort_indices(unique))


def _codes(array: pa.Array, words: pa.Array) -> Ints:
    found = pc.fill_null(pc.index_in(array.cast(pa.string()), value_set=words), -1)
    return np.asarray(found.to_numpy(zero_copy_only=False), dtype=np.int64)
