"""The worlds of a stream with imprecise times: each event happens at one tick of its interval.

Zhang, Diao, Immerman: Recognizing Patterns in Streams with Imprecise Timestamps, PVLDB 2010, section 3.2: the temporal
uncertainty model. Events are independent of each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.evaluators.worlds.streams.assignment import (
    Alternatives,
    Weights,
    WeightType,
    WorldAssignment,
    everywhere,
    tokens_of,
    weights_of,
)
from inkling.io.normalize import END, ID, START
from inkling.kernels.worlds.draws import cumulated, draw_ticks
from inkling.model.batch import Ints
from inkling.model.hashes import Hashes
from inkling.model.runs import ranges
from inkling.model.schema import StreamSchema
from inkling.model.uncertainty import ImpreciseTime, normalized


@dataclass(frozen=True, slots=True)
class ImpreciseStream:
    """The rows of the stream with the distribution of each row over its ticks."""

    schema: StreamSchema
    rows: pa.Table
    tokens: Hashes
    step: int  # from one tick to the next, in units of the clock
    low: Ints  # per row: its first tick
    width: Ints  # per row: the number of its ticks
    steps: Ints  # row i has weights[steps[i]:steps[i + 1]]; no weights: all ticks are equally probable
    weights: NDArray[np.float64]
    shares: NDArray[np.float64]  # weights as cumulative probabilities

    @classmethod
    def of(cls, schema: StreamSchema, rows: pa.Table) -> ImpreciseStream:
        uncertainty = schema.uncertainty
        assert isinstance(uncertainty, ImpreciseTime)
        rows, tokens = _in_order(rows, tokens_of(schema, rows, ID))
        low, high = (rows[name].to_numpy().astype(np.int64) for name in (START, END))
        steps, weights = np.zeros(len(rows) + 1, np.int64), np.empty(0)
        if uncertainty.weights is not None and len(rows):
            lists = rows[uncertainty.weights].combine_chunks()
            lengths = lists.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
            steps = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
            weights = lists.flatten().to_numpy(zero_copy_only=False).astype(np.float64)
        shares = cumulated(steps, weights, np.ones(len(rows), bool))
        width = (high - low) // uncertainty.step + 1
        return cls(schema, rows, tokens, uncertainty.step, low, width, steps, weights, shares)

    @property
    def time_columns(self) -> tuple[str, ...]:
        uncertainty = self.schema.uncertainty
        assert isinstance(uncertainty, ImpreciseTime)
        return tuple(dict.fromkeys((uncertainty.lo, uncertainty.hi)))

    @property
    def extents(self) -> tuple[Ints, Ints]:
        return self.low, self.low + (self.width - 1) * self.step

    @property
    def factors(self) -> Ints:
        return np.arange(len(self.rows))

    def draw(self, seed: np.uint64, first: int, n_worlds: int, scale: int) -> WorldAssignment:
        begin = np.zeros_like(self.low)
        ticks = draw_ticks(seed, self.tokens, begin, self.width, self.steps, self.shares, first, n_worlds)
        return everywhere(len(self.rows), first, n_worlds, (self.low[:, None] + ticks * self.step) * scale)

    def n_alternatives(self, limit: int) -> NDArray[np.float64]:
        """The number of possible ticks of each event."""
        weighted = np.diff(self.steps) > 0
        positive = np.concatenate([[0], np.cumsum(self.weights > 0)])
        return np.where(weighted, positive[self.steps[1:]] - positive[self.steps[:-1]], self.width).astype(np.float64)

    def alternatives(self, factors: Ints, scale: int, numbers: WeightType) -> Alternatives:
        """The possible ticks of some events, with their probabilities; `factors` are row numbers."""
        width = self.width[factors]
        row = np.repeat(factors, width)
        tick = ranges(np.zeros_like(width), width)
        weights, possible = self._probabilities(factors, row, tick, numbers)
        sizes = np.add.reduceat(possible, np.cumsum(width) - width) if len(factors) else np.empty(0, np.int64)
        row, tick = row[possible], tick[possible]
        times = (self.low[row] + tick * self.step) * scale
        return Alternatives(sizes.astype(np.int64), weights[possible], np.ones(len(row), np.int64), row, times)

    def _probabilities(
        self, factors: Ints, row: Ints, tick: Ints, numbers: WeightType
    ) -> tuple[Weights, NDArray[np.bool_]]:
        begin = self.steps[:-1]
        weighted = np.diff(self.steps)[row] > 0
        written = np.ones(len(row))
        written[weighted] = self.weights[(begin[row] + tick)[weighted]]
        if numbers is WeightType.FLOAT:
            totals = np.bincount(row, written, minlength=len(self.rows))[row]
            return written / totals, written > 0
        exact: list[Fraction] = []
        for one in factors:
            exact += normalized(written[row == one].tolist())
        return weights_of(exact, numbers), written > 0


def _in_order(rows: pa.Table, tokens: Hashes) -> tuple[pa.Table, Hashes]:
    """Rows sorted by token, so that worlds do not depend on the order of the input."""
    order = np.lexsort((rows[END].to_numpy(), rows[START].to_numpy(), tokens))
    return rows.take(pa.array(order)).combine_chunks(), tokens[order]
