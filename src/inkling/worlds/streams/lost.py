"""A stream with lost events in worlds: numbers show how many are missing, and between which times they are drawn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from inkling.evaluators.hashes import Hashes
from inkling.evaluators.lost.numbered import NumberedRows
from inkling.io.normalize import END, START
from inkling.kernels.draws import draw_between
from inkling.model.batch import Ints
from inkling.model.schema import StreamSchema
from inkling.model.uncertainty import LostEvents
from inkling.worlds.streams.placed import OWN_TIME, Placed, everywhere, tokens_of


@dataclass(frozen=True, slots=True)
class LossyStream:
    """Rows and gaps as in `NumberedRows`, and what events are called in worlds."""

    schema: StreamSchema
    rows: pa.Table
    tokens: Hashes
    n_recorded: int
    gaps: Ints
    low: Ints
    high: Ints

    @classmethod
    def of(cls, schema: StreamSchema, rows: pa.Table, decided: int | None = None) -> LossyStream:
        """Without what came before: rows up to time `decided` stand for it, and only gaps after them count."""
        doubt = schema.doubt
        assert isinstance(doubt, LostEvents)
        found = NumberedRows.of(schema, rows, decided)
        tokens = tokens_of(schema, found.rows, doubt.number)
        return cls(schema, found.rows, tokens, found.n_recorded, found.gaps, found.low, found.high)

    @property
    def time_columns(self) -> tuple[str, ...]:
        return (self.schema.start,)

    @property
    def n_lost(self) -> int:
        return len(self.rows) - self.n_recorded

    @property
    def extents(self) -> tuple[Ints, Ints]:
        n_lost = np.diff(self.gaps)
        low = np.concatenate([self.rows[START].to_numpy()[: self.n_recorded], np.repeat(self.low, n_lost)])
        high = np.concatenate([self.rows[END].to_numpy()[: self.n_recorded], np.repeat(self.high, n_lost)])
        return low, high

    @property
    def factors(self) -> Ints:
        recorded = np.full(self.n_recorded, -1)
        return np.concatenate([recorded, np.repeat(np.arange(len(self.low)), np.diff(self.gaps))])

    def draw(self, seed: np.uint64, first: int, n_worlds: int, scale: int) -> Placed:
        gaps = self.gaps - self.n_recorded
        lost = draw_between(
            seed, self.tokens[self.n_recorded :], gaps, self.low * scale, self.high * scale, first, n_worlds
        )
        recorded = np.full((self.n_recorded, n_worlds), OWN_TIME)
        return everywhere(len(self.rows), first, n_worlds, np.concatenate([recorded, lost]))
