"""A stream with lost events in worlds: numbers show how many are missing, and between which times they are drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from inkling.evaluators.gaps.rows import NO_TABLES, NumberedRows
from inkling.evaluators.hashes import Hashes, key_hashes
from inkling.evaluators.relation.axis import CumulativeIntensity, Floats, rate_of_keys
from inkling.evaluators.relation.ends import places_of
from inkling.evaluators.worlds.streams.assignment import OWN_TIME, WorldAssignment, everywhere, tokens_of
from inkling.io.normalize import END, START
from inkling.kernels.worlds.draws import draw_between
from inkling.kernels.worlds.gap_draws import draw_ends, draw_gaps
from inkling.model.batch import FOREVER, Ints
from inkling.model.schema import StreamSchema
from inkling.model.time import FARTHEST, Clock, TimeUnit
from inkling.model.uncertainty import LostEvents


@dataclass(frozen=True, slots=True)
class LossyStream:
    """Rows and gaps as in `NumberedRows`, what events are called in worlds, and how fast they come."""

    schema: StreamSchema
    rows: pa.Table
    tokens: Hashes
    n_recorded: int
    gaps: Ints
    low: Ints
    high: Ints
    rate: Floats  # of each gap, which only matters where no border limits it
    axis: CumulativeIntensity | None

    @classmethod
    def of(
        cls,
        schema: StreamSchema,
        rows: pa.Table,
        decided: int | None = None,
        *,
        tables: Mapping[str, pa.Table] = NO_TABLES,
        clock: Clock = Clock.TICKS,
        with_empty: bool = False,
    ) -> LossyStream:
        """Without what came before: rows up to time `decided` stand for it, and only gaps after them count.

        Keys without events have a row where only they are asked for, and not what happened.
        """
        uncertainty = schema.uncertainty
        assert isinstance(uncertainty, LostEvents)
        found = NumberedRows.of(schema, rows, decided, tables)
        if with_empty:
            found = found.with_empty_keys()
        tokens = tokens_of(schema, found.rows, uncertainty.number)
        rate = _rates(schema, uncertainty, rows, found, clock)
        axis = (
            None
            if uncertainty.intensity is None
            else CumulativeIntensity.of(uncertainty.intensity, tables[uncertainty.intensity])
        )
        return cls(schema, found.rows, tokens, found.n_recorded, found.gaps, found.low, found.high, rate, axis)

    @property
    def time_columns(self) -> tuple[str, ...]:
        return (self.schema.start,)

    @property
    def n_lost(self) -> int:
        return len(self.rows) - self.n_recorded

    @property
    def shape(self) -> int:
        assert isinstance(self.schema.uncertainty, LostEvents)
        return self.schema.uncertainty.shape

    @property
    def is_limited(self) -> np.ndarray:
        """Which gaps have two borders."""
        return np.asarray((self.low > -FOREVER) & (self.high < FOREVER))

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

    def draw(self, seed: np.uint64, first: int, n_worlds: int, scale: int) -> WorldAssignment:
        recorded = np.full((self.n_recorded, n_worlds), OWN_TIME)
        times = np.concatenate([recorded, self._drawn(seed, first, n_worlds, scale)])
        return everywhere(len(self.rows), first, n_worlds, times)

    def _drawn(self, seed: np.uint64, first: int, n_worlds: int, scale: int) -> Ints:
        """Times of the lost rows, a line per row and a column per world."""
        limited = self.is_limited
        if limited.all():
            return self._between(np.arange(len(self.low)), seed, first, n_worlds, scale)
        found = np.empty((self.n_lost, n_worlds), np.int64)
        owner = np.repeat(limited, np.diff(self.gaps))
        found[owner] = self._between(np.flatnonzero(limited), seed, first, n_worlds, scale)
        found[~owner] = self._at_the_ends(np.flatnonzero(~limited), seed, first, n_worlds, scale)
        return found

    def _between(self, some: Ints, seed: np.uint64, first: int, n_worlds: int, scale: int) -> Ints:
        tokens, gaps = self._tokens(some)
        low, high = self.low[some] * scale, self.high[some] * scale
        if self.shape == 1 and self.axis is None:
            return np.asarray(draw_between(seed, tokens, gaps, low, high, first, n_worlds))
        since, total, rate = _steps(self.axis, scale)
        return np.asarray(
            draw_gaps(seed, tokens, gaps, low, high, self.shape, since, total, rate, first, n_worlds), np.int64
        )

    def _at_the_ends(self, some: Ints, seed: np.uint64, first: int, n_worlds: int, scale: int) -> Ints:
        tokens, gaps = self._tokens(some)
        before = self.low[some] <= -FOREVER
        border = np.where(before, self.high[some], self.low[some]) * scale
        rate = self.rate[some] / scale
        return np.asarray(
            draw_ends(seed, tokens, gaps, border, before, rate, self.shape, FARTHEST, first, n_worlds), np.int64
        )

    def _tokens(self, some: Ints) -> tuple[Hashes, Ints]:
        """The tokens of the events that some gaps lost, and where those of each gap begin."""
        n_lost = np.diff(self.gaps)[some]
        gaps = np.concatenate([[0], np.cumsum(n_lost)])
        rows = np.repeat(self.gaps[some] - gaps[:-1], n_lost) + np.arange(gaps[-1])
        return self.tokens[rows], gaps


def _rates(schema: StreamSchema, uncertainty: LostEvents, rows: pa.Table, found: NumberedRows, clock: Clock) -> Floats:
    """Events per unit of the clock, of each gap."""
    if uncertainty.rate is None:
        return np.zeros(len(found.low))
    names, key = np.unique(key_hashes(schema, rows), return_inverse=True)
    of_keys = rate_of_keys(rows, key, len(names), uncertainty, TimeUnit(clock, schema.tick))
    of_gaps = key_hashes(schema, found.rows)[found.gaps[:-1]]
    return np.asarray(of_keys[places_of(names, of_gaps)], np.float64)


def _steps(axis: CumulativeIntensity | None, scale: int) -> tuple[Ints, Floats, Floats]:
    """Times, what adds up to them, and rates, on a sub-tick clock."""
    if axis is None:
        return np.empty(0, np.int64), np.empty(0), np.empty(0)
    return axis.since * scale, np.asarray(axis(axis.since) * scale), axis.rate
