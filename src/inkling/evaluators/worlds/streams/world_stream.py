"""The possible worlds of one stream, by its kind of uncertainty.

Every kind has the same attributes: `rows` and their `tokens`; `extents`, between which times each row happens;
`factors`, the choice that decides each row (-1 for certain rows); `time_columns`, which show the time in a world; and
`draw`, which samples worlds. A draw depends only on the seed, the number of the world and the tokens.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from inkling.evaluators.gaps.rows import NO_TABLES
from inkling.evaluators.worlds.streams.assignment import WorldAssignment, everywhere, tokens_of
from inkling.evaluators.worlds.streams.imprecise import ImpreciseStream
from inkling.evaluators.worlds.streams.lost import LossyStream
from inkling.evaluators.worlds.streams.probable import ProbableStream
from inkling.io.normalize import END, ID, START
from inkling.model.batch import Ints
from inkling.model.hashes import Hashes
from inkling.model.schema import StreamSchema
from inkling.model.time import Clock
from inkling.model.uncertainty import ImpreciseTime, LostEvents, ProbableValue


@dataclass(frozen=True, slots=True)
class CertainStream:
    """A stream whose events are the same in every world."""

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
        return np.full(len(self.rows), -1)

    def draw(self, seed: np.uint64, first: int, n_worlds: int, scale: int) -> WorldAssignment:
        return everywhere(len(self.rows), first, n_worlds)


WorldStream = CertainStream | ImpreciseStream | ProbableStream | LossyStream


def world_stream(
    schema: StreamSchema,
    rows: pa.Table,
    tables: Mapping[str, pa.Table] = NO_TABLES,
    clock: Clock = Clock.TICKS,
    *,
    with_empty: bool = False,
) -> WorldStream:
    """The worlds of checked rows.

    For lost events, `tables` and `clock` give rates, and `with_empty` adds empty keys.
    """
    match schema.uncertainty:
        case None:
            return CertainStream.of(schema, rows)
        case ImpreciseTime():
            return ImpreciseStream.of(schema, rows)
        case ProbableValue():
            return ProbableStream.of(schema, rows)
        case LostEvents():
            return LossyStream.of(schema, rows, tables=tables, clock=clock, with_empty=with_empty)
