"""The first links of chains that have happened by a moment and wait for the next one, with their probabilities.

What must not follow the first links is an absence after the last of them. The sum over ticks is taken for each tick of
the first event apart: the window then limits the last link only, and others are kept out up to the moment itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from inkling.analysis.chain import ChainAbsence, ChainPattern, links_of
from inkling.evaluators.chain.chains import PartialChains
from inkling.evaluators.chain.event import ChainEvent
from inkling.evaluators.chain.growth import grown
from inkling.evaluators.chain.moments import Chances, Moments
from inkling.evaluators.chain.search_space import FoundChains, SearchSpace
from inkling.evaluators.gather import lineage_ids
from inkling.evaluators.open_matches import OpenMatch, not_kept
from inkling.kernels.chain.bounds import FAR, tighten
from inkling.logical import plan as p
from inkling.logical.patterns.disjuncts import Disjunct, disjuncts_of
from inkling.logical.printing.text import PartTexts
from inkling.model.batch import EventBatch, Ints

AT_ONCE = 1 << 16
"""About how many ticks of first events are summed over together."""


@dataclass(frozen=True, slots=True)
class _OpenProbabilities:
    """Chains with what is known of the worlds in which they wait."""

    rows: Ints
    chance: Chances
    first: Ints  # the earliest and the latest tick of the first event, and the latest of the last
    latest_first: Ints
    last: Ints


@dataclass(frozen=True, slots=True)
class OpenChains:
    """The open matches of one chain; rows at or before `watermark` are complete, and `now` is the last moment."""

    evaluator: ChainEvent
    declared: p.EventPlan
    watermark: int
    now: int

    def found(self, batch: EventBatch, moments: Moments, n_keys: int) -> Iterator[OpenMatch]:
        """All open matches among some events."""
        way, own = self._way(self.evaluator.step.event), self._way(self.declared)
        if isinstance(way.whole, p.Leaf) or not len(moments):
            return  # a single event is complete at once
        texts = PartTexts.of(self.declared)
        window = self._tick - int(moments.lower.min()) + 1
        if window < 1:
            return
        happened = moments.until(self._tick, self._tick + window)
        last = len(way.parts) if way.absences_after(len(way.parts)) else len(way.parts) - 1
        for reached in range(1, last + 1):
            following = own.parts[reached : reached + 1] or own.absences_after(reached)
            awaits = " and ".join(map(texts.part, following))
            evaluator = self._prefix(way, reached)
            space = evaluator.space(batch, happened, n_keys)
            for whole in grown(space):
                some = self._summed(evaluator, replace(space, window=window), whole)
                yield from self._matches(batch, some, reached, len(way.parts), awaits)

    @property
    def _tick(self) -> int:
        return self.now // self.evaluator.grid

    def _way(self, event: p.EventPlan) -> Disjunct:
        (way,) = disjuncts_of(event)
        if not isinstance(way.whole, p.Sequence | p.Leaf):
            raise not_kept(event.name, "a pattern that is no sequence does not keep them part by part")
        if any(isinstance(part, p.Repetition) and part.eager for part in way.parts):
            raise not_kept(event.name, "what an EAGER repetition leaves behind depends on the order of imprecise times")
        return way

    def _prefix(self, way: Disjunct, reached: int) -> ChainEvent:
        """Looks for the first links, which nothing has followed that must not."""
        step = self.evaluator.step
        first = links_of(way.upto_with_absences(reached), self.evaluator.chain.within)
        assert first is not None, "parts of a chain are a chain"
        closing = [one.pattern for one in way.absences_after(reached)]
        following = way.parts[reached : reached + 1]
        if first.policy is p.Policy.NEXT and following and isinstance(following[0], p.Leaf):
            closing.append(following[0])
        absences = [ChainAbsence(one.slot, len(first.links)) for one in closing if isinstance(one, p.Leaf)]
        ends_scope = first.policy is p.Policy.STRICT and bool(following)
        chain: ChainPattern = replace(first, absences=(*first.absences, *absences), ends_scope=ends_scope)
        return replace(self.evaluator, step=replace(step, event=_plain(step.event)), chain=chain)

    def _summed(self, evaluator: ChainEvent, space: SearchSpace, whole: FoundChains) -> _OpenProbabilities:
        parts = [
            evaluator.weighed(space, FoundChains(whole.links, some))
            for some in self._by_first_tick(whole.chains)
            if len(some)
        ]
        k = len(whole.links)
        rows = np.concatenate([np.empty((0, k), np.int64), *(found.chains.rows for found, _ in parts)])
        tick = np.concatenate([np.empty(0, np.int64), *(found.chains.lo[:, 0] for found, _ in parts)])
        last = np.concatenate([np.empty(0, np.int64), *(one.last for _, one in parts)])
        chance = np.concatenate([np.empty(0), *(one.chance for _, one in parts)])
        kept = chance > 0
        rows, which = np.unique(rows[kept], axis=0, return_inverse=True)
        n, which = len(rows), which.reshape(-1)
        total, first, latest_first, latest_last = np.zeros(n), np.full(n, FAR), np.full(n, -FAR), np.full(n, -FAR)
        np.add.at(total, which, chance[kept].astype(np.float64))
        np.minimum.at(first, which, tick[kept])
        np.maximum.at(latest_first, which, tick[kept])
        np.maximum.at(latest_last, which, last[kept])
        return _OpenProbabilities(rows, np.minimum(total, 1.0), first, latest_first, latest_last)

    def _by_first_tick(self, chains: PartialChains) -> Iterator[PartialChains]:
        """Each chain once for every tick of its first event that leaves time for the rest."""
        window, now = self.evaluator.window, self._tick
        begin, end = chains.lo[:, 0], np.minimum(chains.hi[:, 0], now)
        if (limit := self._limit) is not None:
            begin = np.maximum(begin, (self.watermark - limit) // self.evaluator.grid + 1)
        many = np.maximum(end - begin + 1, 0)
        until = np.cumsum(many)
        for at in range(0, len(chains), step := max(1, AT_ONCE * len(chains) // max(1, int(many.sum())))):
            some = np.arange(at, min(at + step, len(chains)))
            origin = np.repeat(some, many[some])
            tick = begin[origin] + np.arange(len(origin)) - (until - many)[origin] + (until - many)[at]
            lo, hi = chains.lo[origin].copy(), np.minimum(chains.hi[origin], now)
            if window > 0:
                hi = np.minimum(hi, (tick + window - 1)[:, None])
            lo[:, 0] = hi[:, 0] = tick
            k = lo.shape[1]
            possible = tighten(np.arange(k), np.int64(k), np.int64(0), lo, hi)
            yield PartialChains(chains.key[origin], tuple(range(k)), chains.rows[origin], lo, hi).where(possible)

    @property
    def _limit(self) -> int | None:
        """How long after its start a match must be complete, in units of the clock."""
        match self.evaluator.chain.within:
            case None:
                return None
            case p.Points(count=count):
                return (count - 1) * self.evaluator.grid
            case span:
                return self.evaluator.context.unit(span)

    def _matches(
        self, batch: EventBatch, some: _OpenProbabilities, reached: int, parts: int, awaits: str
    ) -> Iterator[OpenMatch]:
        n, k = some.rows.shape
        lineage: pa.ListArray = lineage_ids(batch, np.arange(n + 1) * k, some.rows.ravel())
        grid, limit = self.evaluator.grid, self._limit
        for place, ids in enumerate(lineage.to_pylist()):
            latest = None if limit is None else int(some.latest_first[place]) * grid + limit
            start, end = int(some.first[place]) * grid, int(some.last[place]) * grid
            yield OpenMatch(reached, parts, awaits, start, end, latest, tuple(ids), float(some.chance[place]))


def _plain(event: p.EventPlan) -> p.EventPlan:
    """The event without what leaves matches out: first parts are looked for however probable they are."""
    return replace(event, confidence=None, top=None)
