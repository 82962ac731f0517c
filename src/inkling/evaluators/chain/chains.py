"""Chains in the making, many at once: which events fill some of the places, and when each can have happened."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inkling.evaluators.chain.moments import Moments
from inkling.kernels.chain.bounds import tighten
from inkling.model.batch import Ints


@dataclass(frozen=True, slots=True)
class PartialChains:
    """Column i of `rows`, `lo` and `hi` belongs to the place with number `places[i]`; these rise."""

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
    """Chains of one event each."""
    alone = rows.reshape(-1, 1)
    return PartialChains(key, (place,), alone, moments.lower[alone], moments.upper[alone])


def filled(
    chains: PartialChains, place: int, origin: Ints, rows: Ints, moments: Moments, length: int, window: int
) -> PartialChains:
    """Some chains with one more place filled, as far as they stay possible in a window with room for all places.

    An event stands at one place only.
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
    """The earliest last tick and the latest first tick of what can fill a place."""
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
