"""Open matches of partial orders: parts of a sequence or of AND that have happened by now, with exact probabilities.

Nothing that follows can prevent a match, so they are the matches of these parts, up to now, that leave time for the
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
from inkling.evaluators.open_matches import OpenMatch, awaits, awaits_others, choices, not_kept
from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.patterns.disjuncts import disjuncts_of
from inkling.logical.printing.text import PartTexts
from inkling.logical.rewrites.everywhere import slots_in_order
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
        if any(not isinstance(way.whole, p.Sequence | p.Leaf | p.Conjunction) for way, _ in ways):
            raise not_kept(event.name, "only sequences and AND are listed part by part")
        for way, own in ways:
            match way.whole:
                case p.Sequence():
                    for reached in range(1, len(way.parts)):
                        evaluator = self._of_parts(way.framed(way.upto(reached)))
                        text = awaits(own, texts, reached)
                        yield from self._open(evaluator, reached, len(way.parts), text, batch, moments, n_keys)
                case p.Conjunction():
                    for some in choices(event.name, way):
                        having = way.having_on(some)
                        evaluator = self._of_parts(way.framed(way.some(some)), having)
                        text = awaits_others(own, texts, some)
                        yield from self._open(evaluator, len(some), len(way.parts), text, batch, moments, n_keys)
                case _:
                    continue  # a single event is complete at once

    def _open(
        self,
        evaluator: PartialOrderEvent,
        reached: int,
        n_parts: int,
        text: str,
        batch: EventBatch,
        moments: Moments,
        n_keys: int,
    ) -> Iterator[OpenMatch]:
        grid, limit = self.evaluator.grid, self._limit
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
                    yield OpenMatch(reached, n_parts, text, start, end, latest, tuple(ids), chance)

    def _of_parts(self, pattern: p.Pattern, having: tuple[e.Expr, ...] = ()) -> PartialOrderEvent:
        """Looks for some parts alone, however probable they are."""
        step = self.evaluator.step
        event = replace(step.event, pattern=pattern, having=having, head=(), returns=(), confidence=None, top=None)
        slots, atoms = set(slots_in_order(pattern)), {one.number for leaf in p.leaves(pattern) for one in leaf.atoms}
        leaves = tuple(step.leaf(leaf.slot).reading_only(slots, atoms) for leaf in p.leaves(pattern))
        orders = orders_of(event, self.evaluator.moving)
        return replace(self.evaluator, step=replace(step, event=event, leaves=leaves), chain=orders)

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
