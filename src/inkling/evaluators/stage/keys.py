"""Codes of partition keys that stay the same from batch to batch."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from inkling.evaluators.stage.batches import key_codes
from inkling.model.batch import Ints

Key = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class KeyBook:
    """Every key seen so far and its code, in order of first appearance."""

    n_columns: int
    numbers: dict[Key, int] = field(default_factory=dict)

    def codes(self, rows: pa.Table) -> tuple[KeyBook, Ints]:
        """Codes of the rows, and the book with their keys in it."""
        local, keys = key_codes(rows, self.n_columns)
        if not self.n_columns:
            return self, local
        numbers = dict(self.numbers)
        columns = [column.to_pylist() for column in keys.columns]
        shared = [numbers.setdefault(key, len(numbers)) for key in zip(*columns, strict=True)]
        return KeyBook(self.n_columns, numbers), np.array(shared, np.int64)[local]
