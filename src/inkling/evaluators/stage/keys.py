"""Codes of partition keys that stay the same from step to step."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from inkling.evaluators.stage import rows as r
from inkling.evaluators.stage.batches import key_codes
from inkling.model.batch import Ints
from inkling.physical.plan import Stage

Key = tuple[object, ...]


@dataclass(slots=True)
class KeyBook:
    """Keys and their codes, in order of first appearance; grows with the keys it is asked about."""

    schema: pa.Schema
    numbers: dict[Key, int] = field(default_factory=dict)

    @classmethod
    def of(cls, stage: Stage) -> KeyBook:
        return cls(pa.schema([r.stage_schema(stage).field(r.key_name(i)) for i in range(len(stage.key_types))]))

    def __len__(self) -> int:
        return len(self.numbers)

    def codes(self, rows: pa.Table) -> Ints:
        """Codes of the rows, whose keys are in the book from now on."""
        local, keys = key_codes(rows, len(self.schema))
        if not len(self.schema):
            return local
        numbers = self.numbers
        columns = [column.to_pylist() for column in keys.columns]
        shared = [numbers.setdefault(key, len(numbers)) for key in zip(*columns, strict=True)]
        return np.array(shared, np.int64)[local]

    def only(self, codes: Ints) -> KeyBook:
        """The keys with these ascending codes, numbered anew in the same order."""
        keys = list(self.numbers)
        return KeyBook(self.schema, {keys[code]: number for number, code in enumerate(codes.tolist())})

    def to_table(self) -> pa.Table:
        """One row per key, in the order of the codes."""
        columns = list(zip(*self.numbers, strict=True)) or [()] * len(self.schema)
        return pa.table([pa.array(c, f.type) for c, f in zip(columns, self.schema, strict=True)], schema=self.schema)

    @classmethod
    def from_table(cls, table: pa.Table) -> KeyBook:
        columns = [column.to_pylist() for column in table.columns]
        return cls(table.schema, {key: number for number, key in enumerate(zip(*columns, strict=True))})
