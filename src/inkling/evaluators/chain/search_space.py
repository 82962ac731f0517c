"""The search space of chains: candidates for every link of the pattern, the window, and the least probability."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from inkling.analysis.chain import ChainPattern
from inkling.evaluators.chain.chains import PartialChains
from inkling.evaluators.chain.moments import Chances, Moments
from inkling.kernels.chain.bounds import candidates, least_after, least_to_come
from inkling.kernels.chain.chances import mass_left
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.plan import EventPlan
from inkling.model.batch import EventBatch, Ints
from inkling.physical.plan import EventStep
from inkling.results import ROUNDING


@dataclass(frozen=True)
class Candidates:
    """Candidates for one link: rows of a batch; those of key k are at [offsets[k], offsets[k + 1])."""

    rows: Ints
    offsets: Ints
    lower: Ints
    upper: Ints
    widest: int

    @classmethod
    def of(cls, rows: Ints, batch: EventBatch, moments: Moments, n_keys: int) -> Candidates:
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

    def only(self, chosen: NDArray[np.bool_]) -> Candidates:
        """The rows that a mask over the batch keeps."""
        kept = chosen[self.rows]
        before = np.append(0, np.cumsum(kept))
        return Candidates(self.rows[kept], before[self.offsets], self.lower[kept], self.upper[kept], self.widest)


class LeastProbability:
    """The least probability that a chain must reach; with `TOP`, it rises with the chains found so far."""

    def __init__(self, event: EventPlan) -> None:
        self._threshold = 0.0 if event.confidence is None else event.confidence.threshold
        self._top = event.top
        self._best = np.empty(0)

    @property
    def chance(self) -> float:
        """The least probability, less an allowance for rounding."""
        least = self._threshold
        if self._top is not None and len(self._best) == self._top:
            least = max(least, float(self._best.min()))
        return least - 2 * ROUNDING

    def found(self, chances: Chances) -> None:
        if self._top is not None:
            every = np.concatenate([self._best, chances.astype(np.float64)])
            self._best = np.sort(every)[-self._top :]

    def possible(self, chains: PartialChains, moments: Moments) -> PartialChains:
        """The chains that may reach it, judged by how probable the ticks are at which each event can happen."""
        if self.chance <= 0 or not len(chains):
            return chains
        most = mass_left(
            chains.lo, chains.hi, chains.rows, moments.lower, moments.cum_at, moments.cum.astype(np.float64)
        )
        return chains.where(most >= self.chance)


@dataclass(frozen=True, slots=True)
class SearchSpace:
    """The candidates of chains, and the window, in ticks, that a chain must fit; 0 for none."""

    step: EventStep
    chain: ChainPattern
    batch: EventBatch
    moments: Moments
    places: Mapping[int, Candidates]  # by slot
    scope: Candidates | None  # what STRICT counts
    window: int
    context: ExpressionContext
    least: LeastProbability


@dataclass(frozen=True, slots=True)
class FoundChains:
    """Complete chains; `links` has the link of the pattern for each of their events."""

    links: tuple[int, ...]
    chains: PartialChains

    def slots(self, chain: ChainPattern) -> tuple[int, ...]:
        return tuple(chain.links[link].slot for link in self.links)
