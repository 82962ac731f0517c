"""A stream without doubt: its events are the same in every world."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from inkling.evaluators.hashes import Hashes
from inkling.evaluators.worlds.streams.placed import Placed, everywhere, tokens_of
from inkling.io.normalize import END, ID, START
from inkling.model.batch import Ints
from inkling.model.schema import StreamSchema


@dataclass(frozen=True, slots=True)
class CertainStream:
    schema: StreamSchema
    rows: pa.Table
    tokens: Hashes

    @classmethod
    def of(cls, schema: StreamSchema, rows: pa.Table) -> CertainStream:
        return cls(schema, rows, tokens_of(schema, rows, ID))

    @property
    def time_columns(self) -> tuple[str, ...]:
        return ()

    @property
    def extents(self) -> tuple[Ints, Ints]:
        return self.rows[START].to_numpy(), self.rows[END].to_numpy()

    @property
    def factors(self) -> Ints:
        """Number of the choice that each row belongs to; -1 where there is nothing to choose."""
        return np.full(len(self.rows), -1)

    def draw(self, seed: np.uint64, first: int, n_worlds: int, scale: int) -> Placed:
        return everywhere(len(self.rows), first, n_worlds)
