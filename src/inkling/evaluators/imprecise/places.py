"""Events that may stand at one place of a chain, by key and in the order of their first ticks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from inkling.evaluators.imprecise.moments import Moments
from inkling.kernels.chain_bounds import candidates, least_after, least_to_come
from inkling.model.batch import EventBatch, Ints


@dataclass(frozen=True)
class Place:
    """Rows of a batch; those of key k stand at [offsets[k], offsets[k + 1])."""

    rows: Ints
    offsets: Ints
    lower: Ints
    upper: Ints
    widest: int

    @classmethod
    def of(cls, rows: Ints, batch: EventBatch, moments: Moments, n_keys: int) -> Place:
        order = np.lexsort((moments.lower[rows], batch.key[rows]))
        rows = rows[order]
        lower, upper = moments.lower[rows], moments.upper[rows]
        offsets = np.searchsorted(batch.key[rows], np.arange(n_keys + 1))
        return cls(rows, offsets, lower, upper, int((upper - lower).max(initial=0)) + 1)

    def around(self, key: Ints, least_upper: Ints, most_lower: Ints) -> tuple[Ints, Ints]:
        """Pairs of a chain and a row of its key that can happen at or after one tick, and at or before another."""
        origin, place = candidates(
            key, least_upper, most_lower, self.offsets, self.lower, self.upper, np.int64(self.widest)
        )
        return origin, self.rows[place]

    def first_to_end_after(self, key: Ints, tick: Ints) -> Ints:
        """Per chain, when the first of the rows ends that surely happen after a tick, at the latest."""
        found: Ints = least_after(key, tick, self.offsets, self.lower, self._least_to_come)
        return found

    @cached_property
    def _least_to_come(self) -> Ints:
        found: Ints = least_to_come(self.offsets, self.upper)
        return found

    def only(self, chosen: NDArray[np.bool_]) -> Place:
        """The rows that a mask over the batch keeps."""
        kept = chosen[self.rows]
        before = np.append(0, np.cumsum(kept))
        return Place(self.rows[kept], before[self.offsets], self.lower[kept], self.upper[kept], self.widest)
