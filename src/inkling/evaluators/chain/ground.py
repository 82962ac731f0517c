"""Where chains are looked for: the events of every place, what limits them, and what a chain must reach."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from inkling.analysis.chain import Chain
from inkling.evaluators.chain.chains import Chains
from inkling.evaluators.chain.moments import Chances, Moments
from inkling.kernels.chain_bounds import candidates, least_after, least_to_come
from inkling.kernels.chances import mass_left
from inkling.logical.evaluate import Surroundings
from inkling.logical.plan import EventPlan
from inkling.model.batch import EventBatch, Ints
from inkling.physical.plan import EventStep
from inkling.results import ROUNDING


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


class Least:
    """Rises with what was found, if only so many results are wanted."""

    def __init__(self, event: EventPlan) -> None:
        self._threshold = 0.0 if event.confidence is None else event.confidence.threshold
        self._top = event.top
        self._best = np.empty(0)

    @property
    def chance(self) -> float:
        """Chains that are less probable matter to nobody; rounding is allowed for."""
        least = self._threshold
        if self._top is not None and len(self._best) == self._top:
            least = max(least, float(self._best.min()))
        return least - 2 * ROUNDING

    def found(self, chances: Chances) -> None:
        if self._top is not None:
            every = np.concatenate([self._best, chances.astype(np.float64)])
            self._best = np.sort(every)[-self._top :]

    def possible(self, chains: Chains, moments: Moments) -> Chains:
        """The chains that may reach it, judged by how probable the ticks are at which each event can happen."""
        if self.chance <= 0 or not len(chains):
            return chains
        most = mass_left(
            chains.lo, chains.hi, chains.rows, moments.lower, moments.cum_at, moments.cum.astype(np.float64)
        )
        return chains.where(most >= self.chance)


@dataclass(frozen=True, slots=True)
class Ground:
    """The events among which chains are looked for, and the window, in ticks, that they have to fit; 0 for none."""

    step: EventStep
    chain: Chain
    batch: EventBatch
    moments: Moments
    places: Mapping[int, Place]  # by slot
    scope: Place | None  # what STRICT counts
    window: int
    around: Surroundings
    least: Least


@dataclass(frozen=True, slots=True)
class Found:
    """Whole chains; `links` says for each of their events which link of the pattern it belongs to."""

    links: tuple[int, ...]
    chains: Chains

    def slots(self, chain: Chain) -> tuple[int, ...]:
        return tuple(chain.links[link].slot for link in self.links)
