"""One event over imprecise times that is a partial order of single events: its matches, each with its probability.

Matches grow place by place, as long as the limits on the differences of times leave ticks for all events. Then the
probability is the sum over their ticks. For example, AND within two ticks:

    a in [1, 3], b in [2, 4], uniform    →  P[|a - b| ≤ 1] = 6 / 9
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.analysis.partial_order import Moving, PartialOrder, PartialOrders, TimeLimit, orders_of
from inkling.evaluators.chain.conditions import gathered, slots_in
from inkling.evaluators.chain.confidence import COMPILED, MOST_STEPS
from inkling.evaluators.chain.estimates import Estimates
from inkling.evaluators.chain.matches import BELOW_ONE, Interval, ProbableMatches, too_costly, window_in_ticks
from inkling.evaluators.chain.moments import Chances, Moments
from inkling.evaluators.chain.search_space import Candidates, LeastProbability, PartialChains
from inkling.evaluators.gather import lineage_ids
from inkling.evaluators.memory import working_on
from inkling.evaluators.sampling import Sampling
from inkling.evaluators.stage.rows.batches import rows_passing
from inkling.evaluators.stage.rows.conditions import truth_of
from inkling.kernels.chain.bounds import FAR
from inkling.kernels.chain.chances import TickChances
from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.vectorized import ARROW_TYPES, evaluate
from inkling.model.batch import UNORDERED, EventBatch, Ints, Mask, MatchBatch
from inkling.model.hashes import Hashes, combined, hashes_of
from inkling.model.runs import changes
from inkling.physical.plan import EventStep

MOST_TRIED = 1e6
"""The most combinations of ticks that are tried for one match; if there are more, its probability is estimated."""

AT_ONCE = 1 << 15
"""The most partial matches that grow together."""


@dataclass(frozen=True, slots=True)
class OrderedMatches:
    """Matches of one length; the systems of match m, any of which may hold, are `offsets[m]:offsets[m + 1]`."""

    slots: tuple[int, ...]
    key: Ints
    rows: Ints  # [match, place]
    offsets: Ints
    lo: Ints  # [system, place]
    hi: Ints
    apart: Ints  # [system, place, place]: by how many ticks at least the second is after the first

    def __len__(self) -> int:
        return len(self.key)

    def only(self, chosen: Ints) -> OrderedMatches:
        """Some matches with all their systems."""
        sizes = np.diff(self.offsets)[chosen]
        offsets = np.append(0, np.cumsum(sizes))
        systems = np.repeat(self.offsets[chosen] - offsets[:-1], sizes) + np.arange(offsets[-1])
        return replace(
            self,
            key=self.key[chosen],
            rows=self.rows[chosen],
            offsets=offsets,
            lo=self.lo[systems],
            hi=self.hi[systems],
            apart=self.apart[systems],
        )


@dataclass(frozen=True, slots=True)
class OrderedConfidence:
    """Per match: its probability, first and last tick, whether it is certain, and whether it was computed at all."""

    chance: Chances
    first: Ints
    last: Ints
    certain: NDArray[np.bool_]
    found: NDArray[np.bool_]


@dataclass(frozen=True)
class PartialOrderEvent:
    """Answers one event that is a partial order; a tick has `grid` units of the clock."""

    step: EventStep
    chain: PartialOrders
    context: ExpressionContext
    grid: int
    moving: Moving
    sampling: Sampling | None = None  # for probabilities that would take too long to compute; None: these are errors

    @property
    def window(self) -> int:
        """The length of the window in ticks, first and last tick included; 0 for none."""
        return window_in_ticks(self.chain.within, self.context, self.grid)

    @cached_property
    def alternatives(self) -> tuple[PartialOrder, ...]:
        """The alternatives over the columns of the plan, in the order of their slots."""
        orders = orders_of(self.step.event, self.moving).alternatives
        return tuple(sorted(orders, key=lambda one: one.slots))

    def evaluate(
        self,
        batch: EventBatch,
        moments: Moments,
        n_keys: int,
        *,
        first: Mask | None = None,
        newest: Mask | None = None,
        kernels: SimpleNamespace = COMPILED,
        most_steps: float = MOST_TRIED,
    ) -> list[ProbableMatches]:
        """All possible matches; `first` selects the events of first places, and one event must be in `newest`.

        Matches that cannot reach CONFIDENCE or TOP may be left out.
        """
        working_on(self.step.event.name)
        least, found = LeastProbability(self.step.event), []
        for some in self.grown(batch, moments, n_keys, least, first, newest):
            if len(some):
                confidence = self._summed(some, moments, kernels, most_steps)
                found.append(self._matches(batch, moments, some, confidence, least))
        return found

    def grown(
        self,
        batch: EventBatch,
        moments: Moments,
        n_keys: int,
        least: LeastProbability,
        first: Mask | None = None,
        newest: Mask | None = None,
        between: tuple[int, int] | None = None,
    ) -> Iterator[OrderedMatches]:
        """Possible matches, each once, with all alternatives that its events may satisfy.

        All their events happen from the first to the last tick of `between`.
        """
        parts = (
            (one, some)
            for one in self.alternatives
            for some in _Growth(self, one, batch, moments, n_keys, least, between).found(first, newest)
        )
        if not self.chain.overlap:
            yield from (some for _, some in parts)
            return
        together: dict[int, list[tuple[PartialOrder, OrderedMatches]]] = {}
        for one, some in parts:
            together.setdefault(len(one.slots), []).append((one, some))
        for group in together.values():
            yield from self._united(batch, group)

    def weighed(self, some: OrderedMatches, moments: Moments) -> OrderedConfidence:
        """The exact probabilities of matches."""
        confidence = self._summed(some, moments, COMPILED, MOST_STEPS)
        if not confidence.found.all():
            raise too_costly(self.step.event.name, int(np.count_nonzero(~confidence.found)), some.rows.shape[1])
        return confidence

    def _summed(
        self, some: OrderedMatches, moments: Moments, kernels: SimpleNamespace, most_steps: float
    ) -> OrderedConfidence:
        m = moments
        ticks = TickChances(m.lower, m.upper, m.at, m.mass, m.cum_at, m.cum)
        steps = MOST_STEPS if self.step.event.demand is p.Demand.EXACT else most_steps
        return OrderedConfidence(
            *kernels.in_partial_orders(some.rows, some.offsets, some.lo, some.hi, some.apart, m.gapless, ticks, steps)
        )

    def _united(
        self, batch: EventBatch, group: Sequence[tuple[PartialOrder, OrderedMatches]]
    ) -> Iterator[OrderedMatches]:
        """Matches of several alternatives, each once, with the values of the first alternative that has them."""
        identity = np.concatenate([self._identities(batch, some) for _, some in group])
        number = np.repeat(np.arange(len(group)), [len(some) for _, some in group])
        key, rows, lo, hi, apart = (
            np.concatenate([getattr(some, name) for _, some in group]) for name in ("key", "rows", "lo", "hi", "apart")
        )
        order = np.lexsort((number, identity))
        begins = np.append(np.flatnonzero(changes(identity[order])), len(order))
        firsts = number[order[begins[:-1]]]
        for one in range(len(group)):
            mine = np.flatnonzero(firsts == one)
            if not len(mine):
                continue
            sizes = (begins[1:] - begins[:-1])[mine]
            offsets = np.append(0, np.cumsum(sizes))
            systems = order[np.repeat(begins[:-1][mine] - offsets[:-1], sizes) + np.arange(offsets[-1])]
            leading = order[begins[:-1][mine]]
            yield OrderedMatches(
                group[one][0].slots, key[leading], rows[leading], offsets, lo[systems], hi[systems], apart[systems]
            )

    def _identities(self, batch: EventBatch, some: OrderedMatches) -> Hashes:
        """What distinguishes results: the events in order, and the head."""
        values = self._values(batch, some, self.step.event.head)
        n = len(some)
        parts = [some.rows[:, place].view(np.uint64) for place in range(some.rows.shape[1])]
        return combined(np.full(n, len(parts), np.uint64), *parts, *(hashes_of(one) for one in values.values()))

    def _values(self, batch: EventBatch, some: OrderedMatches, outputs: Sequence[p.Output]) -> dict[str, pa.Array]:
        resolve = gathered(batch, some.rows, some.slots)
        return {
            output.name: evaluate(output.expr, resolve, len(some), self.context).cast(
                ARROW_TYPES[output.type], safe=False
            )
            for output in outputs
        }

    def _matches(
        self,
        batch: EventBatch,
        moments: Moments,
        some: OrderedMatches,
        confidence: OrderedConfidence,
        least: LeastProbability,
    ) -> ProbableMatches:
        chance, first, last, estimated = confidence.chance, confidence.first, confidence.last, None
        if chance.dtype != object:
            chance = np.where(confidence.certain, 1.0, np.clip(chance, 0.0, BELOW_ONE))
        if not confidence.found.all():
            missing = np.flatnonzero(~confidence.found)
            part = some.only(missing)
            estimates = Estimates(self.step.event, batch, moments, self.sampling)
            estimated = Interval.exact(chance).replaced(
                missing, estimates.of_orders(part.rows, part.offsets, part.lo, part.hi, part.apart)
            )
            chance = estimated.chance
            first[missing] = np.minimum.reduceat(part.lo.min(axis=1), part.offsets[:-1])
            last[missing] = np.maximum.reduceat(part.hi.max(axis=1), part.offsets[:-1])
        least.found(chance)
        kept = np.flatnonzero(chance > 0)
        event, (n, k) = self.step.event, (len(kept), some.rows.shape[1])
        left = replace(some, key=some.key[kept], rows=some.rows[kept])
        end = last[kept] * self.grid
        matches = MatchBatch(
            event.name,
            left.key,
            first[kept] * self.grid,
            np.full(n, -UNORDERED),
            end,
            np.full(n, UNORDERED),
            end,
            self._values(batch, left, (*event.head, *event.returns)),
            lineage_ids(batch, np.arange(n + 1) * k, left.rows.ravel()),
        )
        return ProbableMatches(matches, chance[kept], None if estimated is None else estimated.take(kept))


@dataclass(frozen=True)
class _Growth:
    """The search for the matches of one alternative."""

    event: PartialOrderEvent
    order: PartialOrder
    batch: EventBatch
    moments: Moments
    n_keys: int
    least: LeastProbability
    between: tuple[int, int] | None

    def found(self, first: Mask | None, newest: Mask | None) -> Iterator[OrderedMatches]:
        places = [
            Candidates.of(rows_passing(self.event.step.leaf(slot), self.batch), self.batch, self.moments, self.n_keys)
            for slot in self.order.slots
        ]
        if first is not None:
            places[0] = places[0].only(first)
        if not self._is_consistent or any(not len(place.rows) for place in places):
            return
        if newest is None:
            yield from self._filled(places, range(len(places)))
            return
        for number, place in enumerate(places):
            seeds = [one.only(~newest) for one in places[:number]] + [place.only(newest)] + places[number + 1 :]
            yield from self._filled(seeds, [number, *(other for other in range(len(places)) if other != number)])

    @cached_property
    def _apart(self) -> Ints:
        """By how many ticks each place is after each other place at least, as far as the pattern alone says."""
        k = len(self.order.slots)
        apart = np.full((1, k, k), -FAR)
        apart[0, np.arange(k), np.arange(k)] = 0
        for one, other in self.order.before:
            apart[0, one, other] = 1
        for places, within in self.order.windows:
            span = window_in_ticks(within, self.event.context, self.event.grid) - 1
            for one in places:
                for other in places:
                    apart[0, one, other] = max(apart[0, one, other], -span)
        _close(apart)
        return apart

    @property
    def _is_consistent(self) -> bool:
        return bool((np.diagonal(self._apart[0]) <= 0).all())

    def _filled(self, places: Sequence[Candidates], order: Sequence[int]) -> Iterator[OrderedMatches]:
        seeds = places[order[0]].rows
        for at in range(0, len(seeds), AT_ONCE):
            rows = seeds[at : at + AT_ONCE].reshape(-1, 1)
            chains = PartialChains(
                self.batch.key[rows[:, 0]], (order[0],), rows, self.moments.lower[rows], self.moments.upper[rows]
            )
            yield from self._with_places(self._passing(chains, order[0]), places, order[1:])

    def _with_places(
        self, chains: PartialChains, places: Sequence[Candidates], order: Sequence[int]
    ) -> Iterator[OrderedMatches]:
        if not len(chains):
            return
        if len(chains) > AT_ONCE:
            for at in range(0, len(chains), AT_ONCE):
                yield from self._with_places(chains.take(np.arange(at, min(at + AT_ONCE, len(chains)))), places, order)
            return
        if not order:
            yield from self._complete(chains)
            return
        place = order[0]
        placed, apart = list(chains.places), self._apart[0]
        least = (chains.lo + apart[placed, place]).max(axis=1)
        most = (chains.hi - apart[place, placed]).min(axis=1)
        origin, rows = places[place].around(chains.key, least, most)
        longer = self.least.possible(self._longer(chains, place, origin, rows), self.moments)
        yield from self._with_places(self._passing(longer, place), places, order[1:])

    def _longer(self, chains: PartialChains, place: int, origin: Ints, rows: Ints) -> PartialChains:
        column, before, apart = int(np.searchsorted(chains.places, place)), chains.rows[origin], self._apart[0]
        possible = np.ones(len(rows), bool)
        for number, other in enumerate(chains.places):
            if apart[other, place] > 0 or apart[place, other] > 0:
                possible &= before[:, number] != rows
        origin, rows, before = origin[possible], rows[possible], before[possible]
        places = (*chains.places[:column], place, *chains.places[column:])
        joined = np.insert(before, column, rows, axis=1)
        among = np.broadcast_to(apart[np.ix_(places, places)], (len(joined), len(places), len(places)))
        lo, hi, possible = _bounded(self.moments.lower[joined], self.moments.upper[joined], among)
        return PartialChains(chains.key[origin], places, joined, lo, hi).where(possible)

    def _passing(self, chains: PartialChains, place: int) -> PartialChains:
        """The partial matches that satisfy the conditions that can be evaluated since this place is filled."""
        slots = tuple(self.order.slots[number] for number in chains.places)
        new, is_complete = self.order.slots[place], len(slots) == len(self.order.slots)
        for slot in slots:
            for condition in self.event.step.leaf(slot).across:
                asked = slots_in(condition)
                if (new in asked and asked <= set(slots)) or (is_complete and not asked <= set(slots)):
                    chains = self._where(chains, slots, condition)
        for condition in self.order.conditions if is_complete else ():
            chains = self._where(chains, slots, condition)
        return chains

    def _where(self, chains: PartialChains, slots: tuple[int, ...], condition: e.Expr) -> PartialChains:
        if not len(chains):
            return chains
        resolve = gathered(self.batch, chains.rows, slots)
        return chains.where(truth_of(condition, resolve, len(chains), self.event.context))

    def _complete(self, chains: PartialChains) -> Iterator[OrderedMatches]:
        """The matches that the limits on differences of times allow."""
        n = len(chains)
        apart = np.repeat(self._apart, n, axis=0)
        lower, upper = self.moments.lower[chains.rows], self.moments.upper[chains.rows]
        if self.between is not None:
            lower, upper = np.maximum(lower, self.between[0]), np.minimum(upper, self.between[1])
        for limit in self.order.limits:
            ticks = self._ticks(limit, chains)
            match limit.later, limit.earlier:
                case int() as later, int() as earlier:
                    apart[:, later, earlier] = np.maximum(apart[:, later, earlier], -ticks)
                case int() as later, None:
                    upper[:, later] = np.minimum(upper[:, later], ticks)
                case None, int() as earlier:
                    lower[:, earlier] = np.maximum(lower[:, earlier], -ticks)
                case _:
                    lower[ticks < 0] = FAR
        same = chains.rows[:, :, None] == chains.rows[:, None, :]
        apart[same] = np.maximum(apart[same], 0)
        _close(apart)
        lo, hi, possible = _bounded(lower, upper, apart)
        possible &= (np.diagonal(apart, axis1=1, axis2=2) <= 0).all(axis=1)
        some = OrderedMatches(self.order.slots, chains.key, chains.rows, np.arange(n + 1), lo, hi, apart)
        yield some if possible.all() else some.only(np.flatnonzero(possible))

    def _ticks(self, limit: TimeLimit, chains: PartialChains) -> Ints:
        """By how many ticks the times may differ at most; far below zero where the limit is unknown."""
        resolve, n = gathered(self.batch, chains.rows, self.order.slots), len(chains)
        total, known = np.zeros(n, np.int64), np.ones(n, bool)
        for sign, term in limit.value:
            value = evaluate(term, resolve, n, self.event.context)
            if pa.types.is_timestamp(value.type) or pa.types.is_duration(value.type):
                value = value.cast(pa.int64())
            known &= value.is_valid().to_numpy(zero_copy_only=False)
            total = total + sign * value.fill_null(0).to_numpy(zero_copy_only=False)
        grid = self.event.grid
        if total.dtype.kind == "f":
            known &= np.isfinite(total)
            share = np.clip(np.where(known, total, 0.0) / grid, -float(FAR), float(FAR))
            ticks = (np.ceil(share) - 1 if limit.strict else np.floor(share)).astype(np.int64)
        else:
            ticks = -(-total // grid) - 1 if limit.strict else total // grid
        return np.where(known, np.clip(ticks, -FAR, FAR), -FAR)


def _close(apart: Ints) -> None:
    """Adds all limits on differences that follow from others (Floyd and Warshall)."""
    for through in range(apart.shape[1]):
        np.maximum(apart, apart[:, :, through, None] + apart[:, through, None, :], out=apart)
        np.clip(apart, -FAR, FAR, out=apart)


def _bounded(lower: Ints, upper: Ints, apart: Ints) -> tuple[Ints, Ints, NDArray[np.bool_]]:
    """The ticks that closed limits leave to every place, and whether some are left."""
    lo = (lower[:, :, None] + apart).max(axis=1)
    hi = (upper[:, None, :] - apart).min(axis=2)
    return lo, hi, (lo <= hi).all(axis=1)
