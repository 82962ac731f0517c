"""The worlds of a stream with lost events: sequence numbers show how many are missing, and between which times.

Busany, van der Aa, Senderovich, Gal, Weidlich: Interval-based Queries over Lossy IoT Event Streams, 2020 (SimpMatch),
section 3.1: possible worlds of lost events. In each world, the times of the events that a gap has lost are drawn
between its borders: uniform, by a table of rates, or with Erlang distances; a gap with one border is limited by a rate
alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from inkling.evaluators.gaps.rows import NO_TABLES, NumberedRows
from inkling.evaluators.hashes import key_hashes
from inkling.evaluators.relation.intensity import CumulativeIntensity
from inkling.evaluators.relation.operands import places_of, rate_of_keys
from inkling.evaluators.worlds.streams.assignment import OWN_TIME, WorldAssignment, everywhere, tokens_of
from inkling.io.normalize import END, START
from inkling.kernels.worlds.draws import draw_between
from inkling.kernels.worlds.gap_draws import draw_ends, draw_gaps
from inkling.model.batch import FOREVER, Floats, Ints
from inkling.model.hashes import Hashes
from inkling.model.schema import StreamSchema
from inkling.model.time import FARTHEST, Clock, TimeUnit
from inkling.model.uncertainty import LostEvents


@dataclass(frozen=True, slots=True)
class LossyStream:
    """Rows and gaps as in `NumberedRows`: recorded rows first, then one row per lost event; with tokens and rates."""

    schema: StreamSchema
    rows: pa.Table
    tokens: Hashes
    n_recorded: int
    gaps: Ints  # rows gaps[g]:gaps[g + 1] are those that gap g has lost
    low: Ints  # per gap: the time of the event before it, -FOREVER without one
    high: Ints  # per gap: the time of the event after it, FOREVER without one
    rate: Floats  # per gap: events per unit of the clock; used only where a border is missing
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
        """`decided`: rows up to this time only mark where the next gap of their key begins.

        `with_empty`: keys without events get a row, for patterns that compare keys.
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
        """Which gaps have both borders."""
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
        """Times of the lost rows, [row, world]."""
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
        """The tokens of the events that some gaps have lost, and the offsets of each gap in them."""
        n_lost = np.diff(self.gaps)[some]
        gaps = np.concatenate([[0], np.cumsum(n_lost)])
        rows = np.repeat(self.gaps[some] - gaps[:-1], n_lost) + np.arange(gaps[-1])
        return self.tokens[rows], gaps


def _rates(schema: StreamSchema, uncertainty: LostEvents, rows: pa.Table, found: NumberedRows, clock: Clock) -> Floats:
    """Per gap, events per unit of the clock."""
    if uncertainty.rate is None:
        return np.zeros(len(found.low))
    names, key = np.unique(key_hashes(schema, rows), return_inverse=True)
    of_keys = rate_of_keys(rows, key, len(names), uncertainty, TimeUnit(clock, schema.tick))
    of_gaps = key_hashes(schema, found.rows)[found.gaps[:-1]]
    return np.asarray(of_keys[places_of(names, of_gaps)], np.float64)


def _steps(axis: CumulativeIntensity | None, scale: int) -> tuple[Ints, Floats, Floats]:
    """A table of rates on a sub-tick clock: the times at which rates change, events up to there, and the rates."""
    if axis is None:
        return np.empty(0, np.int64), np.empty(0), np.empty(0)
    return axis.since * scale, np.asarray(axis(axis.since) * scale), axis.rate
