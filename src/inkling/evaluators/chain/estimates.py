"""Probabilities of matches for which an exact sum would take too long: shares of sampled worlds, with error bounds.

Only the events of a match, and those that can prevent it, are drawn. Matches do not share their worlds, since each
probability is estimated on its own.
"""

from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from inkling.evaluators.chain.matches import Interval, too_costly
from inkling.evaluators.chain.moments import Moments
from inkling.evaluators.chain.others import Others
from inkling.evaluators.chain.search_space import PartialChains
from inkling.evaluators.sampling import Sampling, interval
from inkling.kernels.chain.chances import ChainTicks, TickChances, mass_left
from inkling.kernels.chain.kept_free import OthersByChain
from inkling.kernels.chain.sampled import hits_of_chains, hits_of_orders
from inkling.logical.plan import Demand, EventPlan
from inkling.model.batch import EventBatch, Ints
from inkling.model.hashes import Hashes, combined, hashes_of


@dataclass(frozen=True, slots=True)
class Estimates:
    """Estimates the matches of one event, or rejects them if the event demands EXACT or nothing may be sampled."""

    event: EventPlan
    batch: EventBatch
    moments: Moments
    sampling: Sampling | None

    def of_chains(self, chains: PartialChains, others: Others, window: int) -> Interval:
        """`others` have one region each. If there is only one world, the answer is exact."""
        sure = self.moments.lower == self.moments.upper
        is_certain = sure[chains.rows].all() and sure[others.rows].all()
        sampling, n_worlds, delta = (Sampling(), 1, 1.0) if is_certain else self._plan(*chains.rows.shape)
        ticks = ChainTicks(chains.lo, chains.hi, chains.rows)
        tokens = self._tokens(chains.rows)
        hits = hits_of_chains(
            _seed(sampling), n_worlds, np.int64(window), ticks, tokens,
            OthersByChain(others.offsets, others.rows, others.regions), self._of_others(tokens, others), self._ticks,
        )  # fmt: skip
        if is_certain:
            return Interval.exact(hits)
        return self._scaled(hits, n_worlds, delta, self._mass(chains.lo, chains.hi, chains.rows))

    def of_orders(self, rows: Ints, offsets: Ints, lo: Ints, hi: Ints, apart: Ints) -> Interval:
        sampling, n_worlds, delta = self._plan(*rows.shape)
        tokens = self._tokens(rows)
        hits = hits_of_orders(_seed(sampling), n_worlds, rows, offsets, lo, hi, apart, tokens, self._ticks)
        begin, end = np.minimum.reduceat(lo, offsets[:-1]), np.maximum.reduceat(hi, offsets[:-1])
        for place in range(1, rows.shape[1]):  # an event in two places is drawn once
            again = (rows[:, :place] == rows[:, place : place + 1]).any(axis=1)
            begin[again, place] = self.moments.lower[rows[again, place]]
            end[again, place] = self.moments.upper[rows[again, place]]
        return self._scaled(hits, n_worlds, delta, self._mass(begin, end, rows))

    def _plan(self, n_matches: int, n_events: int) -> tuple[Sampling, int, float]:
        if self.sampling is None or self.event.demand is Demand.EXACT:
            raise too_costly(self.event.name, n_matches, n_events)
        return self.sampling, *self.sampling.once.plan([self.event])

    @property
    def _ticks(self) -> TickChances:
        m = self.moments
        return TickChances(m.lower, m.upper, m.at, m.mass, m.cum_at, m.cum)

    def _mass(self, lo: Ints, hi: Ints, rows: Ints) -> NDArray[np.float64]:
        m = self.moments
        found: NDArray[np.float64] = mass_left(lo, hi, rows, m.lower, m.cum_at, m.cum)
        return found

    def _scaled(self, hits: Ints, n_worlds: int, delta: float, mass: NDArray[np.float64]) -> Interval:
        low, high = interval(hits, n_worlds, delta)
        return Interval(mass * hits / n_worlds, mass * low, mass * high)

    @property
    def _ids(self) -> Hashes:
        return hashes_of(self.batch.ids)[self.batch.id_offsets[:-1]]

    def _tokens(self, rows: Ints) -> Hashes:
        """One per match and place: the same for equal matches on every runner."""
        places = [self._ids[column] for column in rows.T]
        whole = combined(*places)
        each = [combined(whole, np.full(len(rows), place, np.uint64)) for place in range(len(places))]
        return np.stack(each, axis=1)

    def _of_others(self, tokens: Hashes, others: Others) -> Hashes:
        """One per match and other event: of its id, its stream and its interval, and distinct within a match."""
        owner = np.repeat(np.arange(len(tokens)), np.diff(others.offsets))
        rows, m = others.rows, self.moments
        pairs, which = np.unique(np.stack([owner, rows]), axis=1, return_inverse=True)
        owner, rows = pairs
        source = self.batch.source[rows].astype(np.uint64)
        named = combined(
            tokens[owner, 0], self._ids[rows], source, m.lower[rows].view(np.uint64), m.upper[rows].view(np.uint64)
        )
        order = np.argsort(named, kind="stable")
        is_same = np.append(False, named[order][1:] == named[order][:-1]) if len(order) else np.empty(0, bool)
        number = np.zeros(len(order), np.uint64)
        number[order] = np.array([*accumulate(is_same.tolist(), lambda n, again: n + 1 if again else 0)], np.uint64)
        return combined(named, number)[which.reshape(-1)]


def _seed(sampling: Sampling) -> np.uint64:
    return np.uint64(sampling.seed & (2**64 - 1))
