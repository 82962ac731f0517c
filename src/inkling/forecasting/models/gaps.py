"""Counts of gaps: the time from one event of a key to the next, by the symbol of the later event."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from inkling.forecasting.models.counts import added_up, groups_in, in_one_numbering

BITS = 6
SCHEMA = pa.schema(
    [
        ("group", pa.string()),
        ("symbol", pa.int32()),
        ("gap_low", pa.int64()),
        ("gap_high", pa.int64()),
        ("count", pa.float64()),
    ]
)


@dataclass(frozen=True, slots=True, eq=False)
class GapCounts:
    """One row per group, symbol and range of gaps; a range has the gaps with the same 6 significant bits."""

    group: tuple[str, ...]
    group_of: npt.NDArray[np.int32]
    symbol: npt.NDArray[np.int32]  # of the later event
    gap_low: npt.NDArray[np.int64]  # both ends belong to the range; microseconds, or steps of an order
    gap_high: npt.NDArray[np.int64]
    count: npt.NDArray[np.float64]

    @classmethod
    def empty(cls) -> GapCounts:
        none = np.empty(0, np.int64)
        return _tidy(("",), none, none, none, none.astype(np.float64))

    @classmethod
    def of(
        cls,
        symbols: npt.NDArray[np.int32],
        gaps: npt.NDArray[np.int64],
        *,
        group: Sequence[str] = ("",),
        group_of: npt.NDArray[np.int32] | None = None,
    ) -> GapCounts:
        """Counts of the gaps before rows, without negative gaps (no earlier event) and negative symbols (resets)."""
        rows = (gaps >= 0) & (symbols >= 0)
        low, _ = quantized(gaps[rows])
        where = np.zeros(int(rows.sum()), np.int64) if group_of is None else group_of[rows]
        return _tidy(tuple(group), where, symbols[rows], low, np.ones(len(low)))

    @staticmethod
    def merged(*parts: GapCounts) -> GapCounts:
        columns = (np.concatenate([getattr(part, name) for part in parts]) for name in ("symbol", "gap_low", "count"))
        return _tidy(*in_one_numbering([(part.group, part.group_of) for part in parts]), *columns)

    def scaled(self, factor: float) -> GapCounts:
        return replace(self, count=self.count * factor)

    def of_group(self, name: str) -> GapCounts:
        rows = self.group_of == (self.group.index(name) if name in self.group else -1)
        return _tidy(
            (name,), np.zeros(int(rows.sum()), np.int64), self.symbol[rows], self.gap_low[rows], self.count[rows]
        )

    def total(self) -> GapCounts:
        return _tidy(("",), np.zeros(len(self.symbol), np.int64), self.symbol, self.gap_low, self.count)

    def shrunk(self, everyone: GapCounts, strength: float) -> GapCounts:
        """These counts, plus ``strength`` imaginary events per symbol that are distributed like those of all groups."""
        every = everyone.total()
        totals = np.bincount(every.symbol, every.count)
        return GapCounts.merged(self, replace(every, count=every.count * strength / totals[every.symbol])).total()

    def to_arrow(self) -> pa.Table:
        names = pa.array(self.group, pa.string())
        columns = [names.take(pa.array(self.group_of)), self.symbol, self.gap_low, self.gap_high, self.count]
        return pa.Table.from_arrays([pa.array(column) for column in columns], schema=SCHEMA)

    @classmethod
    def from_arrow(cls, table: pa.Table) -> GapCounts:
        if not table.num_rows:
            return cls.empty()
        columns = (table[name].to_numpy() for name in ("symbol", "gap_low", "count"))
        return _tidy(*groups_in(table), *columns)


def quantized(gaps: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The lower and upper ends of the ranges of gaps; small gaps are exact.

    >>> low, high = quantized(np.array([5, 63, 64, 1000]))
    >>> low.tolist(), high.tolist()
    ([5, 63, 64, 992], [5, 63, 65, 1007])
    """
    width = np.zeros(len(gaps), np.int64)
    rest = gaps >> BITS
    while (rest > 0).any():
        width += rest > 0
        rest >>= 1
    low = (gaps >> width) << width
    return low, low + (np.int64(1) << width) - 1


def _tidy(
    group: tuple[str, ...],
    group_of: npt.NDArray[np.integer],
    symbol: npt.NDArray[np.integer],
    low: npt.NDArray[np.integer],
    count: npt.NDArray[np.floating],
) -> GapCounts:
    kept, sums = added_up((group_of, symbol, low), count)
    low, high = quantized(kept[2])
    return GapCounts(group, kept[0].astype(np.int32), kept[1].astype(np.int32), low, high, sums)
