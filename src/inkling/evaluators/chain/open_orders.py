"""Open matches of partial orders: first parts of a sequence that have happened by now, with exact probabilities.

Nothing that follows can prevent a match, so they are the matches of the first parts, up to now, that leave time for the
rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from inkling.analysis.partial_order import orders_of
from inkling.evaluators.chain.moments import Moments
from inkling.evaluators.chain.partial_orders import PartialOrderEvent
from inkling.evaluators.chain.search_space import LeastProbability
from inkling.evaluators.gather import lineage_ids
from inkling.evaluators.open_matches import OpenMatch, awaits, not_kept
from inkling.logical import plan as p
from inkling.logical.patterns.disjuncts import Disjunct, disjuncts_of
from inkling.logical.printing.text import PartTexts
from inkling.model.batch import EventBatch


@dataclass(frozen=True, slots=True)
class OpenOrders:
    """Finds the open matches of one event at time `now`; rows up to `watermark` are complete."""

    evaluator: PartialOrderEvent
    declared: p.EventPlan
    watermark: int
    now: int

    def found(self, batch: EventBatch, moments: Moments, n_keys: int) -> Iterator[OpenMatch]:
        """All open matches among some events."""
        texts, event = PartTexts.of(self.declared), self.evaluator.step.event
        ways = list(zip(disjuncts_of(event), disjuncts_of(self.declared), strict=True))
        if any(not isinstance(way.whole, p.Sequence | p.Leaf) for way, _ in ways):
            raise not_kept(event.name, "only sequences store open matches part by part")
        for way, own in ways:
            if isinstance(own.whole, p.Leaf):
                continue  # a single event is complete at once
            for reached in range(1, len(way.parts)):
                yield from self._of_first_parts(way, reached, awaits(own, texts, reached), batch, moments, n_keys)

    def _of_first_parts(
        self, way: Disjunct, reached: int, text: str, batch: EventBatch, moments: Moments, n_keys: int
    ) -> Iterator[OpenMatch]:
        evaluator, grid, limit = self._prefix(way, reached), self.evaluator.grid, self._limit
        since = moments.lower.min(initial=0) if limit is None else (self.watermark - limit) // grid + 1
        between = int(since), self.now // grid
        least = LeastProbability(evaluator.step.event)
        for some in evaluator.grown(batch, moments, n_keys, least, between=between):
            if not len(some):
                continue
            confidence, k = evaluator.weighed(some, moments), some.rows.shape[1]
            first = np.maximum.reduceat(some.hi.min(axis=1), some.offsets[:-1])
            lineage: pa.ListArray = lineage_ids(batch, np.arange(len(some) + 1) * k, some.rows.ravel())
            for place, ids in enumerate(lineage.to_pylist()):
                latest = None if limit is None else int(first[place]) * grid + limit
                start, end = int(confidence.first[place]) * grid, int(confidence.last[place]) * grid
                chance = 1.0 if confidence.certain[place] else float(confidence.chance[place])
                if chance > 0:
                    yield OpenMatch(reached, len(way.parts), text, start, end, latest, tuple(ids), chance)

    def _prefix(self, way: Disjunct, reached: int) -> PartialOrderEvent:
        """Looks for the first parts alone, however probable they are."""
        step = self.evaluator.step
        event = replace(
            step.event, pattern=way.framed(way.upto(reached)), having=(), head=(), returns=(), confidence=None, top=None
        )
        orders = orders_of(event, self.evaluator.moving)
        return replace(self.evaluator, step=replace(step, event=event), chain=orders)

    @property
    def _limit(self) -> int | None:
        """How long after its start a match must be complete, in units of the clock."""
        match self.declared.within:
            case None | p.EventCount():
                return None
            case p.Points(count=count):
                return (count - 1) * self.evaluator.grid
            case span:
                return self.evaluator.context.unit(span)
