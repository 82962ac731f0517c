"""A consumption policy as an evaluator: events of many keys in, matches that share no event of a slot out."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from inkling.evaluators.consumption.fold import Consuming, Stores
from inkling.evaluators.consumption.pairs import as_occurrences, row_layout
from inkling.evaluators.matches.gather import Gather
from inkling.evaluators.network.lateral import JoinEvaluation
from inkling.evaluators.network.partials import Occurrences, Partials
from inkling.evaluators.network.results import results_of
from inkling.evaluators.network.session import Session, SharingGroup
from inkling.evaluators.truth import truth_of
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.expr import Expr
from inkling.model.batch import FOREVER, EventBatch, MatchBatch
from inkling.physical.plan import EventStep


@dataclass(frozen=True, slots=True)
class ConsumptionEvent:
    """Evaluates one event with a consumption policy."""

    step: EventStep
    context: ExpressionContext
    _group: list[SharingGroup] = field(default_factory=list, compare=False, repr=False)

    def evaluate(self, batch: EventBatch, n_keys: int, until: int) -> MatchBatch:
        """All results over the batch that are known by `until`."""
        matches = self.after(batch, n_keys, -FOREVER, {})[0]
        return matches.where(matches.detected_at <= until) if until < FOREVER else matches

    def after(self, batch: EventBatch, n_keys: int, done: int, waiting: Stores) -> tuple[MatchBatch, Stores]:
        """Results that end after `done`, when so much was stored; and what is stored in the end."""
        if not self._group:
            self._group.append(SharingGroup((self.step,)))
        session = Session.of(self._group[0], batch, n_keys)
        session.store.facts = self.context.tables
        layout = session.group.prepared(self.step).layout

        def gather(found: Occurrences | Partials) -> Gather:
            moments = {name: found.moments[:, place] for place, name in enumerate(layout.moments)}
            return Gather(batch, *lateral.arena.unroll(found.tail), moments)

        def passes(found: Occurrences | Partials, conditions: tuple[Expr, ...]) -> np.ndarray:
            kept = np.ones(len(found), bool)
            for condition in conditions:
                kept &= truth_of(condition, gather(found), len(found), self.context)
            return kept

        types = session.group.types(batch)
        lateral = JoinEvaluation(session.store, self.step, layout, types, self.context.unit, passes, session)
        policy = self.step.event.consumption
        assert policy is not None
        consuming = Consuming(
            session.store, self.step, policy, row_layout(self.step), self.context, lateral, done, waiting
        )
        found = as_occurrences(consuming.matches(), consuming.layout, lateral.arena)
        results = results_of(self.step.event, session.store, found, lateral.arena, gather, self.context)
        return results, dict(enumerate(consuming.still_waiting))
