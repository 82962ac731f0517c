"""The search space of chains: candidates of every link, and partial chains with the ticks that their events can have.

The valid interval [lo, hi] of each event of a partial chain follows from the order of events and the window (Zhang et
al., section 5.1: vlb and vub of the three-pass algorithm, with one more pass that makes the bounds exact).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from inkling.analysis.chain import ChainPattern
from inkling.evaluators.chain.moments import Chances, Moments
from inkling.kernels.chain.bounds import candidates, least_after, least_to_come, tighten
from inkling.kernels.chain.chances import mass_left
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.plan import EventPlan
from inkling.model.batch import EventBatch, Ints
from inkling.physical.plan import EventStep
from inkling.results import ROUNDING


@dataclass(frozen=True, slots=True)
class PartialChains:
    """Partial chains, many at once: the events of some places, and the first and last tick that each can have.

    Column i of `rows`, `lo` and `hi` belongs to the place `places[i]`; places ascend.
    """

    key: Ints
    places: tuple[int, ...]
    rows: Ints
    lo: Ints
    hi: Ints

    def __len__(self) -> int:
        return len(self.key)

    def take(self, chosen: Ints) -> PartialChains:
        return PartialChains(self.key[chosen], self.places, self.rows[chosen], self.lo[chosen], self.hi[chosen])

    def where(self, mask: NDArray[np.bool_]) -> PartialChains:
        return self if mask.all() else self.take(np.flatnonzero(mask))

    def column(self, place: int) -> int:
        return self.places.index(place)


def begun(place: int, rows: Ints, key: Ints, moments: Moments) -> PartialChains:
    """Partial chains of one event each."""
    alone = rows.reshape(-1, 1)
    return PartialChains(key, (place,), alone, moments.lower[alone], moments.upper[alone])


def filled(
    chains: PartialChains, place: int, origin: Ints, rows: Ints, moments: Moments, length: int, window: int
) -> PartialChains:
    """Partial chains with one more place filled, of those that stay possible in the window.

    The window must also leave a tick for each place that is still empty. An event fills one place only.
    """
    before = chains.rows[origin]
    column = int(np.searchsorted(chains.places, place))
    fresh = (before != rows[:, None]).all(axis=1)
    if not fresh.all():
        origin, rows, before = origin[fresh], rows[fresh], before[fresh]
    places = (*chains.places[:column], place, *chains.places[column:])
    joined = np.insert(before, column, rows, axis=1)
    lo, hi = moments.lower[joined], moments.upper[joined]
    possible = tighten(np.array(places), np.int64(length), np.int64(window), lo, hi)
    return PartialChains(chains.key[origin], places, joined, lo, hi).where(possible)


def room_for(chains: PartialChains, place: int, length: int, window: int, far: int) -> tuple[Ints, Ints]:
    """Bounds on events that can fill a place: the least last tick, and the greatest first tick."""
    n, places = len(chains), chains.places
    least, most = np.full(n, -far), np.full(n, far)
    column = int(np.searchsorted(places, place))
    if column > 0:
        least = chains.lo[:, column - 1] + (place - places[column - 1])
    if column < len(places):
        most = chains.hi[:, column] - (places[column] - place)
    if window > 0:
        if column == len(places):
            most = chains.hi[:, 0] + window - 1 - places[0] - (length - 1 - place)
        if column == 0:
            least = chains.lo[:, -1] - (window - 1 - place - (length - 1 - places[-1]))
    return least, most


@dataclass(frozen=True)
class Candidates:
    """Candidates of one link: rows of a batch by key and first tick; those of key k are offsets[k]:offsets[k + 1]."""

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
        """Pairs of a chain and a candidate of its key with last tick ≥ `least_upper` and first tick ≤ `most_lower`."""
        origin, place = candidates(
            key, least_upper, most_lower, self.offsets, self.lower, self.upper, np.int64(self.widest)
        )
        return origin, self.rows[place]

    def first_to_end_after(self, key: Ints, tick: Ints) -> Ints:
        """Per chain, the least last tick of the candidates that certainly happen after a tick."""
        found: Ints = least_after(key, tick, self.offsets, self.lower, self._least_to_come)
        return found

    @cached_property
    def _least_to_come(self) -> Ints:
        found: Ints = least_to_come(self.offsets, self.upper)
        return found

    def only(self, chosen: NDArray[np.bool_]) -> Candidates:
        """The candidates that a mask over the batch selects."""
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
        """The chains that may reach it: the product of the probabilities of their valid intervals is a bound."""
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
    scope: Candidates | None  # the events that STRICT counts
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
