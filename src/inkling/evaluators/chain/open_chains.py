"""Open matches of chains: first links that have happened by now and wait for the next one, with probabilities.

What must not follow the first links is an absence after the last of them. The sum over ticks is taken for each tick of
the first event apart: the window then limits the last link only, and others are kept out up to the moment itself.

An EAGER repetition leaves behind what it has added to, once that time is over. This depends on the order of its own
events up to an earlier moment, so worlds are sampled: in each of them, every event has one tick.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from inkling.analysis.chain import ChainAbsence, ChainPattern, links_of
from inkling.evaluators.chain.event import ChainEvent
from inkling.evaluators.chain.growth import grown
from inkling.evaluators.chain.moments import Chances, Moments
from inkling.evaluators.chain.search_space import FoundChains, PartialChains, SearchSpace
from inkling.evaluators.gather import lineage_ids
from inkling.evaluators.open_matches import OpenMatch, awaits, not_kept
from inkling.evaluators.sampling import Sampling, half_width
from inkling.kernels.chain.bounds import FAR, tighten
from inkling.kernels.worlds.draws import uniforms
from inkling.logical import plan as p
from inkling.logical.patterns.disjuncts import Disjunct, disjuncts_of
from inkling.logical.printing.text import PartTexts
from inkling.model.batch import EventBatch, Ints
from inkling.model.hashes import Hashes, row_hashes
from inkling.results import SAMPLED

ROWS_AT_ONCE = 1 << 18
"""About how many rows of sampled worlds are looked at together."""

AT_ONCE = 1 << 16
"""The most ticks of first events that are summed over together."""


@dataclass(frozen=True, slots=True)
class _OpenProbabilities:
    """Chains with what is known of the worlds in which they wait."""

    rows: Ints
    chance: Chances
    first: Ints  # the earliest and the latest tick of the first event, and the latest of the last
    latest_first: Ints
    last: Ints


@dataclass(frozen=True, slots=True)
class _OpenWorlds:
    """A match that is open in some worlds: the rows of its events, and the ticks of `_OpenProbabilities`."""

    lineage: tuple[int, ...]
    n_worlds: int
    ticks: tuple[int, int, int]

    def joined(self, other: _OpenWorlds) -> _OpenWorlds:
        (first, latest, last), (one, two, three) = self.ticks, other.ticks
        ticks = min(first, one), max(latest, two), max(last, three)
        return _OpenWorlds(self.lineage, self.n_worlds + other.n_worlds, ticks)


@dataclass(frozen=True, slots=True)
class OpenChains:
    """Finds the open matches of one chain at time `now`; rows up to `watermark` are complete."""

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
            text = awaits(own, texts, reached)
            evaluator = self._prefix(way, reached)
            space = evaluator.space(batch, happened, n_keys)
            for whole in grown(space):
                some = self._summed(evaluator, replace(space, window=window), whole)
                yield from self._matches(batch, some, reached, len(way.parts), text)

    @property
    def _tick(self) -> int:
        return self.now // self.evaluator.grid

    def _way(self, event: p.EventPlan) -> Disjunct:
        (way,) = disjuncts_of(event)
        if not isinstance(way.whole, p.Sequence | p.Leaf):
            raise not_kept(event.name, "only sequences and AND are listed part by part")
        return way

    @property
    def has_eager_part(self) -> bool:
        """Whether some repetition leaves shorter ones behind, as far as the order of imprecise times says."""
        (way,) = disjuncts_of(self.evaluator.step.event)
        return any(isinstance(part, p.Repetition) and part.eager for part in way.parts)

    def _leaves_behind(self, way: Disjunct, reached: int) -> bool:
        """Whether the last of the first parts is EAGER, and a single event must follow its latest event."""
        group, after = way.parts[reached - 1], next(iter(way.parts[reached : reached + 1]), None)
        following = after.pattern if isinstance(after, p.Repetition) else after
        return isinstance(group, p.Repetition) and group.eager and isinstance(following, p.Leaf)

    def sampled(self, batch: EventBatch, moments: Moments, n_keys: int, sampling: Sampling) -> Iterator[OpenMatch]:
        """All open matches among some events, from sampled worlds, each of which gives every event one tick."""
        way, own = self._way(self.evaluator.step.event), self._way(self.declared)
        if not len(moments):
            return
        texts, n = PartTexts.of(self.declared), len(moments)
        n_worlds, delta = sampling.once.plan([self.declared])
        open_in: dict[tuple[int, tuple[int, ...]], _OpenWorlds] = {}
        tokens = row_hashes((batch.ids,), n) if batch.has_single_ids else np.arange(n).astype(np.uint64)
        for first in range(0, n_worlds, step := max(1, ROWS_AT_ONCE // n)):
            ticks = _drawn(moments, tokens, sampling.seed, first, min(step, n_worlds - first))
            worlds = np.repeat(np.arange(len(ticks)), n)
            events = batch.take(np.tile(np.arange(n), len(ticks)))
            events = replace(events, key=events.key + worlds * n_keys)
            for reached, one in self._in_worlds(way, events, Moments.of(ticks.ravel(), ticks.ravel()), n_keys, n):
                key = reached, tuple(one.lineage)
                open_in[key] = one if key not in open_in else open_in[key].joined(one)
        if not open_in:
            return
        hits = np.array([one.n_worlds for one in open_in.values()], np.int64)
        errors = half_width(hits, n_worlds, delta).tolist()
        for ((reached, rows), one), error in zip(open_in.items(), errors, strict=True):
            some = _OpenProbabilities(
                np.array([rows]), np.array([one.n_worlds / n_worlds]), *(np.array([at]) for at in one.ticks)
            )
            for found in self._matches(batch, some, reached, len(way.parts), awaits(own, texts, reached)):
                yield replace(found, method=SAMPLED, error=error)

    def _in_worlds(
        self, way: Disjunct, batch: EventBatch, moments: Moments, n_keys: int, n: int
    ) -> Iterator[tuple[int, _OpenWorlds]]:
        """How many parts have happened, and the events that they are; for every open match of every world."""
        window = self._tick - int(moments.lower.min()) + 1
        if window < 1:
            return
        happened = moments.until(self._tick, self._tick + window)
        n_keys *= len(batch) // n
        last = len(way.parts) if way.absences_after(len(way.parts)) else len(way.parts) - 1
        for reached in range(1, last + 1):
            behind: set[tuple[int, ...]] = set()
            if self._leaves_behind(way, reached):
                for rows, ticks in self._found_in(self._prefix(way, reached, closed=False), batch, happened, n_keys):
                    if ticks[2] * self.evaluator.grid < self.watermark:
                        behind |= {rows[:size] for size in range(1, len(rows))}
            for rows, ticks in self._found_in(self._prefix(way, reached), batch, happened, n_keys):
                if rows not in behind:
                    yield reached, _OpenWorlds(tuple(row % n for row in rows), 1, ticks)

    def _found_in(
        self, evaluator: ChainEvent, batch: EventBatch, happened: Moments, n_keys: int
    ) -> Iterator[tuple[tuple[int, ...], tuple[int, int, int]]]:
        space = evaluator.space(batch, happened, n_keys)
        window = self._tick - int(happened.lower.min()) + 1
        for whole in grown(space):
            some = self._summed(evaluator, replace(space, window=window), whole)
            for place, rows in enumerate(some.rows.tolist()):
                yield tuple(rows), (int(some.first[place]), int(some.latest_first[place]), int(some.last[place]))

    def _prefix(self, way: Disjunct, reached: int, *, closed: bool = True) -> ChainEvent:
        """Looks for the first links, which nothing has followed that must not, unless not `closed` by such events."""
        step = self.evaluator.step
        first = links_of(way.upto_with_absences(reached), self.evaluator.chain.within)
        assert first is not None, "parts of a chain are a chain"
        closing = [one.pattern for one in way.absences_after(reached)]
        following = way.parts[reached : reached + 1]
        if first.policy is p.Policy.NEXT and following and isinstance(following[0], p.Leaf):
            closing.append(following[0])
        absences = [ChainAbsence(one.slot, len(first.links)) for one in closing if isinstance(one, p.Leaf) and closed]
        ends_scope = closed and first.policy is p.Policy.STRICT and bool(following)
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
        self, batch: EventBatch, some: _OpenProbabilities, reached: int, parts: int, text: str
    ) -> Iterator[OpenMatch]:
        n, k = some.rows.shape
        lineage: pa.ListArray = lineage_ids(batch, np.arange(n + 1) * k, some.rows.ravel())
        grid, limit = self.evaluator.grid, self._limit
        for place, ids in enumerate(lineage.to_pylist()):
            latest = None if limit is None else int(some.latest_first[place]) * grid + limit
            start, end = int(some.first[place]) * grid, int(some.last[place]) * grid
            yield OpenMatch(reached, parts, text, start, end, latest, tuple(ids), float(some.chance[place]))


def _plain(event: p.EventPlan) -> p.EventPlan:
    """The event without what leaves matches out: first parts are looked for however probable they are."""
    return replace(event, confidence=None, top=None)


def _drawn(moments: Moments, tokens: Hashes, seed: int, first: int, n_worlds: int) -> Ints:
    """The tick of every event in some worlds: [world, event]."""
    draws = uniforms(np.uint64(seed), tokens, first, n_worlds)
    ticks = np.empty((n_worlds, len(moments)), np.int64)
    for event, (lower, upper, at) in enumerate(zip(moments.lower, moments.upper, moments.cum_at, strict=True)):
        before = moments.cum[at : at + upper - lower + 1].astype(np.float64)
        ticks[:, event] = lower + np.searchsorted(before, draws[event], side="right") - 1
    return ticks
